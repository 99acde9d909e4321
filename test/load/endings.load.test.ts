/** 200 programs that end at once, by exit codes and signals, in panes that are kept. */
import { expect, test } from "vitest";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import type { ExitStatus } from "../../daemon/tmux/outputSource.ts";
import type { ServerEvent } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../protocol/ids.ts";

/** Programs that end as soon as they have said one word. */
interface EndingsResult {
  readonly endings: number;
  readonly wrongStatus: number;
  readonly outputLost: number;
  readonly screenLost: number;
  /** From the call that makes the session to the event that its program has ended. */
  readonly reportedMs: readonly number[];
}

const ENDS: readonly (readonly [command: string, status: ExitStatus])[] = [
  ["exit 0", { exitCode: 0, signal: undefined }],
  ["exit 3", { exitCode: 3, signal: undefined }],
  ["kill -9 $$", { exitCode: undefined, signal: 9 }],
  ["kill -TERM $$", { exitCode: undefined, signal: 15 }],
];

async function endings(server: TmuxServer, count: number): Promise<EndingsResult> {
  const told = new Map<PaneId, { readonly status: ExitStatus; readonly atMs: number }>();
  let onTold = (): void => undefined;
  const unsubscribe = server.subscribe((event: ServerEvent) => {
    if (event.kind !== "pane-exited") return;
    told.set(event.pane, { status: event.status, atMs: performance.now() });
    onTold();
  });
  let [wrongStatus, outputLost, screenLost] = [0, 0, 0];
  const reportedMs: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const [end, expected] = ENDS[index % ENDS.length]!;
    const startMs = performance.now();
    const session = await server.createSession({
      name: `ending${index}`,
      command: ["sh", "-c", `echo kept; ${end}`],
      remainOnExit: true,
    });
    const pane = session.activePane!;
    await new Promise<void>((resolve) => {
      onTold = () => {
        if (told.has(pane)) resolve();
      };
      onTold();
    });
    const { status, atMs } = told.get(pane)!;
    reportedMs.push(atMs - startMs);
    if (status.exitCode !== expected.exitCode || status.signal !== expected.signal) wrongStatus += 1;
    const slice = server.output(pane).read(0);
    if (slice.kind !== "bytes" || Buffer.from(slice.bytes).toString() !== "kept\r\n") outputLost += 1;
    if (!(await server.capture(pane, { lines: 50 })).lines.includes("kept")) screenLost += 1;
    await server.killSession(session.id);
  }
  unsubscribe();
  return { endings: count, wrongStatus, outputLost, screenLost, reportedMs };
}

test("200 endings", async () => {
  await using fixture = await ownedFixture();
  const { reportedMs, ...result } = await endings(fixture.server, 200);
  report("endings", { ...result, told: spread(reportedMs) });
  expect(result).toEqual({ endings: 200, wrongStatus: 0, outputLost: 0, screenLost: 0 });
});
