/** One stream over many panes and epochs: numbers that only grow, holes that are told, readers that lag (F069 F119). */
import { expect, test } from "vitest";
import { PROGRAM_BOUNDARY, TerminalSource } from "../../../../../adapters/freshell/terminals/terminalSource.ts";
import { PaneStream } from "../../../../../daemon/panes/paneStream.ts";
import type { OutputSource } from "../../../../../daemon/tmux/outputSource.ts";
import { AppError } from "../../../../../protocol/errors.ts";

const onListenerError = (error: unknown): never => {
  throw error;
};
const pane = (epoch: string, retainBytes = 1_000): PaneStream =>
  new PaneStream({ id: "%1", epoch, retainBytes, onListenerError });
const terminal = (base = 0): TerminalSource => new TerminalSource({ id: "t", epoch: "e", base, onListenerError });
const say = (stream: PaneStream, text: string): void => {
  stream.take(Buffer.from(text));
  stream.announce();
};
function readAll(source: OutputSource, from = source.tailSeq): string {
  let out = "";
  for (let at = from; ;) {
    const slice = source.read(at);
    if (slice.kind === "end") return `${out}|${slice.at}`;
    out +=
      slice.kind === "bytes"
        ? Buffer.from(slice.bytes).toString()
        : `<${slice.gap.from}-${slice.gap.to} ${slice.gap.reason}>`;
    at = slice.kind === "bytes" ? slice.to : slice.gap.to;
  }
}
function hear(source: OutputSource): string[] {
  const heard: string[] = [];
  source.subscribe({
    advanced: (from, to) => heard.push(`${from}-${to}`),
    gap: ({ from, to, reason }) => heard.push(`gap ${from}-${to} ${reason}`),
    exited: ({ exitCode }) => heard.push(`exit ${exitCode}`),
    closed: ({ code }) => heard.push(code),
  });
  return heard;
}
const lost = new AppError("CONNECTION_LOST", "gone");
const never = (): never => {
  throw new Error("lost");
};

test("what a pane has printed before it was attached counts", () => {
  const [source, first] = [terminal(), pane("a")];
  say(first, "early ");
  const heard = hear(source);
  source.attach(first, never);
  say(first, "late");
  expect(readAll(source)).toBe("early late|10");
  expect(heard).toEqual(["0-6", "6-10"]);
  expect(source.seqOf("a", 4)).toBe(4);
  expect(source.seqOf("b", 4)).toBeUndefined();
});

test("a lost connection is a hole of one, then the next epoch", () => {
  const [source, first, second] = [terminal(100), pane("a"), pane("b")];
  const heard = hear(source);
  source.attach(first, () => source.declareHole());
  say(first, "one");
  first.close(lost);
  expect(source.isAttached).toBe(false);
  source.attach(second, never);
  say(second, "two");
  expect(heard).toEqual(["100-103", "gap 103-104 epoch", "104-107"]);
  expect(readAll(source, 100)).toBe("one<103-104 epoch>two|107");
  expect(source.seqOf("b", 0)).toBe(104);
});

test("another program: its output follows the seam, and its end is told as well", () => {
  const [source, first, second] = [terminal(), pane("a"), pane("a2")];
  const heard = hear(source);
  source.attach(first, never);
  say(first, "one");
  first.declareExit({ exitCode: 1 });
  first.declareExit({ exitCode: 2 });
  source.declareRespawn();
  expect(source.exit).toBeUndefined();
  source.attach(second, never);
  say(second, "two");
  say(first, "nobody hears this");
  second.declareExit({ exitCode: 4 });
  const behind = 3 + PROGRAM_BOUNDARY.length;
  expect(heard).toEqual(["0-3", "exit 1", `3-${behind}`, `${behind}-${behind + 3}`, "exit 4"]);
  expect(readAll(source)).toBe(`one${Buffer.from(PROGRAM_BOUNDARY).toString()}two|${behind + 3}`);
});

test("what left the ring is a gap, inside a piece and before all of them", () => {
  const [source, first] = [terminal(50), pane("a", 8)];
  source.attach(first, never);
  for (let at = 0; at < 4_000; at += 1) say(first, "0123456789");
  const { tailSeq, outputSeq } = source;
  expect(outputSeq).toBe(40_050);
  expect(source.read(60)).toEqual({ kind: "gap", gap: { from: 60, to: tailSeq, reason: "evicted" } });
  expect(source.read(0)).toEqual({ kind: "gap", gap: { from: 0, to: tailSeq, reason: "evicted" } });
  for (let round = 0; round < 10; round += 1) {
    source.declareRespawn();
    source.attach(pane(`r${round}`), never);
  }
  expect(source.read(60).kind).toBe("gap");
  expect(source.read(outputSeq + 1_000_000)).toEqual({ kind: "end", at: source.outputSeq });
});

test("closing settles everybody, those who come later as well", async () => {
  const source = terminal();
  const heard = hear(source);
  source.close(new AppError("NOT_FOUND", "killed"));
  source.close(lost);
  const late = hear(source);
  await Promise.resolve();
  expect([heard, late]).toEqual([["NOT_FOUND"], ["NOT_FOUND"]]);
});
