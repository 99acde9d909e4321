/** A terminal's screen while its program is replaced: panes of one connection count in the same epoch. */
import { expect, test } from "vitest";
import { Terminal } from "../../../../../adapters/freshell/terminals/terminal.ts";
import { TerminalSource } from "../../../../../adapters/freshell/terminals/terminalSource.ts";
import { PaneStream } from "../../../../../daemon/panes/paneStream.ts";
import type { Snapshot } from "../../../../../daemon/tmux/io.ts";
import type { TmuxServer } from "../../../../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import type { PaneId } from "../../../../../protocol/ids.ts";

const onListenerError = (error: unknown): never => {
  throw error;
};
const never = (): never => {
  throw new Error("lost");
};
const SIZE = { cols: 80, rows: 24 };

/** @returns a terminal whose first program has printed 1,000 bytes, and what replaces it by one that prints 5 */
function scene() {
  const asked: { readonly pane: PaneId; readonly settle: (reply: Snapshot | AppError) => void }[] = [];
  const server = {
    snapshot: (pane: PaneId) =>
      new Promise<Snapshot>((resolve, reject) => {
        const settle = (reply: Snapshot | AppError): void =>
          reply instanceof AppError ? reject(reply) : resolve(reply);
        asked.push({ pane, settle });
      }),
  } as unknown as TmuxServer;
  const source = new TerminalSource({ id: "t", epoch: "terminal", base: 0, onListenerError });
  const identity = {
    id: "t",
    createdAt: 0,
    mode: "shell",
    shell: "system",
    cwd: "/",
    title: "Shell",
    resumeSessionId: undefined,
  } as const;
  const terminal = new Terminal(server, { identity, key: "%1" as PaneId, source, size: SIZE });
  const shows = (pane: string, bytes: number): void => {
    const stream = new PaneStream({ id: pane, epoch: "connection", retainBytes: 10_000, onListenerError });
    stream.take(Buffer.alloc(bytes, "x"));
    source.attach(stream, never);
    terminal.pane = pane as PaneId;
  };
  shows("%7", 1_000);
  const respawn = (): void => {
    source.declareRespawn();
    shows("%8", 5);
  };
  return { terminal, source, asked, respawn };
}

const snapshotAt = (outputSeq: number): Snapshot => ({
  ...SIZE,
  position: { epoch: "connection", outputSeq },
  exact: true,
  alternateScreen: false,
  data: Buffer.from("screen"),
});

test("the screen of a program that is replaced meanwhile is asked for again, and begins nowhere in the next one's output", async () => {
  const { terminal, source, asked, respawn } = scene();
  const first = terminal.snapshot();
  respawn();
  asked[0]!.settle(snapshotAt(1_000));
  await expect(first).rejects.toMatchObject({ code: "INCONSISTENT_STATE" });
  const second = terminal.snapshot();
  asked[1]!.settle(snapshotAt(5));
  expect((await second).position).toEqual({ epoch: "terminal", outputSeq: source.outputSeq });
  expect(asked.map(({ pane }) => pane)).toEqual(["%7", "%8"]);
});

test("a pane that has gone with its replaced program is not taken for the terminal", async () => {
  const { terminal, asked, respawn } = scene();
  const first = terminal.snapshot();
  respawn();
  asked[0]!.settle(new AppError("NOT_FOUND", "pane %7 is gone"));
  await expect(first).rejects.toMatchObject({ code: "INCONSISTENT_STATE" });
  const second = terminal.snapshot();
  asked[1]!.settle(new AppError("CONNECTION_LOST", "gone"));
  await expect(second).rejects.toMatchObject({ code: "CONNECTION_LOST" });
});
