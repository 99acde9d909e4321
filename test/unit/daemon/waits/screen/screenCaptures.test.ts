/** When the screen is captured for a wait, on a clock moved by hand and a tmux that replies when the test says so. */
import { expect, test } from "vitest";
import type { Capture, CaptureOptions } from "../../../../../daemon/tmux/io.ts";
import type { ScreenView } from "../../../../../daemon/waits/screen/screenView.ts";
import { errorOf, literal, outcomeOf, re2Done, regex, turns, waitBench, type WaitBench } from "../waitFixture.ts";

interface ScreenBench extends WaitBench {
  /** Each replies to one capture with the screen's first line. */
  readonly captures: ((line: string, changes?: Partial<Capture>) => void)[];
  /** What each was asked for. */
  readonly asked: CaptureOptions[];
  readonly screen: ScreenView;
  readonly pass: (ms: number) => Promise<void>;
}

function screenBench(): ScreenBench {
  const bench = waitBench();
  const { source, clock } = bench;
  const captures: ScreenBench["captures"] = [];
  const asked: CaptureOptions[] = [];
  const capture = (options: CaptureOptions): Promise<Capture> =>
    new Promise((resolve) => {
      asked.push(options);
      const { outputSeq } = source;
      captures.push((line, changes = {}) =>
        resolve({
          lines: [line, ""],
          position: { epoch: "e1", outputSeq },
          exact: true,
          cols: 40,
          rows: 2,
          cursor: { col: line.length, row: 0 },
          alternateScreen: false,
          historyLines: 0,
          ...changes,
        }),
      );
    });
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 10) {
      clock.advanceMs(10);
      await turns(2);
    }
  };
  return { ...bench, captures, asked, screen: { capture }, pass };
}

/** A wait for `needle` that began when this stood on the screen. */
async function begun(first: string, options: { readonly timeoutMs?: number } = {}) {
  const bench = screenBench();
  const { source, waits, captures, screen } = bench;
  const wait = waits.wait(source, { ...literal("needle"), screen, ...options });
  await turns();
  captures[0]!(first);
  await turns();
  return { ...bench, wait };
}

test("output that comes and pauses while the screen is being captured is looked at as well", async () => {
  const { source, waits, captures, screen, pass } = screenBench();
  const typed = Buffer.from(": needle");
  const given = { excludeEcho: typed, sends: typed, screen, timeoutMs: 2_000 };
  const wait = errorOf(waits.wait(source, { ...literal("needle"), ...given }));
  await turns();
  captures[0]!("$ ");
  await turns();
  source.write(": nee");
  await pass(200);
  expect(captures).toHaveLength(2);
  source.write("dle");
  await pass(200);
  captures[1]!("$ : nee");
  await pass(200);
  expect(captures).toHaveLength(3);
  captures[2]!("$ : needle");
  // Nothing has come since: no other capture, and none at the end, for which a busy tmux may have no time.
  await pass(2_000);
  expect(captures).toHaveLength(3);
  expect((await wait).details).toMatchObject({ matchedEcho: true });
});

test("output that is missing is looked for on the screen once output has paused", async () => {
  const { source, waits, captures, asked, screen, pass } = screenBench();
  const wait = waits.wait(source, { ...literal("needle"), screen, timeoutMs: 10_000 });
  waits.wait(source, literal("never")).catch(() => undefined);
  await turns();
  captures[0]!("$ ");
  await pass(200);
  source.gap(1);
  await pass(200);
  // How many rows it has pushed off the screen is not known.
  expect(asked.map(({ lines }) => lines)).toEqual([1, 1_000]);
  captures[1]!("needle");
  expect((await wait).matched).toEqual([{ predicate: "pattern", text: "needle", on: "screen" }]);
  source.write("more");
  await pass(200);
  expect(captures).toHaveLength(2);
});

test("a screen that was captured before a wait began is not judged for it, though its wrapped rows come later", async () => {
  const { source, waits, captures, screen, pass } = screenBench();
  waits.wait(source, { ...literal("never"), screen }).catch(() => undefined);
  await turns();
  captures[0]!("$ ");
  await turns();
  source.write("x");
  await pass(200);
  source.write("y");
  const wait = waits.wait(source, { ...literal("needle"), screen });
  await turns();
  // It reaches the edge, so that a second capture asks which rows are wrapped.
  captures[1]!("needle".padStart(40));
  await turns();
  captures[2]!("$ ");
  await turns();
  captures[3]!("$ ");
  expect(await outcomeOf(wait)).toBe("pending");
  await pass(200);
  captures[4]!("$ needle");
  expect(await outcomeOf(wait)).toMatchObject({ matched: [{ on: "screen" }] });
});

const NEEDLES = [literal("needle"), regex("n[e]edle"), regex("(?P<re2>needle)")];

test.each(NEEDLES)("what the screen shows when the time is over counts: %j", async (request) => {
  const { source, waits, captures, screen, clock } = screenBench();
  const given = { ...request, screen, timeoutMs: 1_000 };
  const [wait, late, silent] = [given, { ...given, exit: true }, { ...literal("never"), screen, timeoutMs: 1_000 }].map(
    (one) => waits.wait(source, one),
  );
  await re2Done(waits);
  for (const reply of captures.splice(0)) reply("$ ");
  await turns();
  source.write("x");
  await turns();
  clock.advanceMs(1_000);
  expect(captures).toHaveLength(1);
  clock.advanceMs(100);
  captures[0]!("$ needle");
  expect(await wait).toMatchObject({ matched: [{ text: "needle", on: "screen" }], elapsedMs: 1_100 });
  expect((await errorOf(late!)).details).toMatchObject({ predicates: { pattern: true, exit: false } });
  expect((await errorOf(silent!)).details).toMatchObject({ elapsedMs: 1_100 });
});

test("a tmux that does not reply when the time is over is not waited for", async () => {
  const { wait, source, clock } = await begun("$ ", { timeoutMs: 1_000 });
  source.write("x");
  await turns();
  clock.advanceMs(1_000);
  clock.advanceMs(249);
  expect(await outcomeOf(wait)).toBe("pending");
  clock.advanceMs(1);
  expect((await errorOf(wait)).details).toMatchObject({ elapsedMs: 1_250 });
  expect([clock.pendingTimers, source.listeners]).toEqual([0, 0]);
});

test("captures have a tenth of a second between them, and the rows that were printed meanwhile", async () => {
  const { source, waits, captures, asked, screen, clock, pass } = screenBench();
  const leaving = new AbortController();
  waits.wait(source, { ...literal("never"), screen }, { signal: leaving.signal }).catch(() => undefined);
  await turns();
  captures[0]!("$ ");
  await turns();
  source.write("one\r\ntwo\r\nthree\r\n");
  await pass(40);
  expect(asked).toEqual([
    { lines: 1, whole: true },
    { lines: 3, whole: true },
  ]);
  captures[1]!("");
  await turns();
  source.write("\r\n".repeat(2_000));
  await pass(60);
  expect(asked).toHaveLength(2);
  await pass(40);
  expect(asked[2]).toEqual({ lines: 1_000, whole: true });
  captures[2]!("");
  await turns();
  source.write("x");
  await pass(50);
  leaving.abort();
  expect([clock.pendingTimers, source.listeners]).toEqual([0, 0]);
});

test("after a change of size only what comes later is new", async () => {
  const { wait, source, captures, pass } = await begun("$ ");
  source.write("x");
  await pass(200);
  captures[1]!("needle", { cols: 41 });
  expect(await outcomeOf(wait)).toBe("pending");
  source.write("y");
  await pass(200);
  captures[2]!("needle", { cols: 41 });
  expect(await outcomeOf(wait)).toBe("pending");
  source.write("z");
  await pass(200);
  captures[3]!("needles", { cols: 41 });
  expect(await outcomeOf(wait)).toMatchObject({ matched: [{ on: "screen" }] });
});

test.each(NEEDLES)("that only the echo on the screen matched is told: %j", async (request) => {
  const { source, waits, captures, screen, pass } = screenBench();
  const matchedEcho = async (typed: string, line: string): Promise<unknown> => {
    const excludeEcho = Buffer.from(typed);
    const wait = errorOf(waits.wait(source, { ...request, excludeEcho, screen, timeoutMs: 1_000 }));
    await turns();
    captures.pop()!("$ ");
    await turns();
    source.write("x");
    await pass(200);
    captures.pop()!(line);
    await re2Done(waits);
    await pass(900);
    return (await wait).details?.["matchedEcho"];
  };
  expect(await matchedEcho(": needle\r", "$ : needle")).toBe(true);
  expect(await matchedEcho("ls\r", "needle$ ls")).toBeUndefined();
  expect(await matchedEcho("needle\r", "needle$ needle")).toBe(true);
  expect(await matchedEcho(": needle\r", "$ nothing")).toBeUndefined();
});

test("a screen that is cleared after it was captured is not the one that was captured", async () => {
  const { wait, source, captures, pass } = await begun("needle");
  source.write("x");
  await pass(200);
  source.write("\u001b[2J");
  captures[1]!("needle");
  expect(await outcomeOf(wait)).toBe("pending");
});

test.each([
  [65_532, true],
  [65_533, false],
])("a cleared screen is found in the output before the capture: %i bytes behind it", async (bytes, isFound) => {
  const { wait, source, captures, pass } = await begun("needle");
  source.write(`\u001b[2J${"x".repeat(bytes)}`);
  await pass(200);
  captures[1]!("needle");
  expect((await outcomeOf(wait)) !== "pending").toBe(isFound);
});

test("output that a capture may not show is looked at with the next one", async () => {
  const { wait, source, captures, pass } = await begun("$ ");
  source.write("x");
  await pass(200);
  source.write("y");
  captures[1]!("$ ", { exact: false, position: { epoch: "e1", outputSeq: source.outputSeq } });
  await pass(200);
  expect(captures).toHaveLength(3);
  captures[2]!("$ needle");
  expect(await outcomeOf(wait)).toMatchObject({ matched: [{ on: "screen" }] });
});

test.each([
  ["that show the same moment", "", true],
  ["between which something was printed", "y", false],
])("rows that tmux wrapped are one line by two captures %s", async (_which, printed, isFound) => {
  const { wait, source, captures, asked, pass } = await begun("");
  source.write("x");
  await pass(200);
  const row = "need".padStart(40);
  captures[1]!("", { lines: [row, "le"] });
  source.write(printed);
  await turns();
  expect(asked[2]).toEqual({ lines: 1, whole: true, joinWrapped: true });
  captures[2]!("", { lines: [`${row}le`] });
  expect((await outcomeOf(wait)) !== "pending").toBe(isFound);
});

test("a prompt is not looked for on the screen", async () => {
  const { source, waits, captures, screen, pass } = screenBench();
  waits.wait(source, { prompt: true, screen }).catch(() => undefined);
  await turns();
  expect(captures).toHaveLength(0);
  const wait = waits.wait(source, { prompt: true, ...literal("needle"), screen, timeoutMs: 1_000 });
  await turns();
  captures[0]!("");
  await turns();
  source.write("x");
  await pass(200);
  captures[1]!("needle$ ");
  await pass(800);
  expect((await errorOf(wait)).details).toMatchObject({ predicates: { pattern: true, prompt: false } });
});

test("a wait whose beginning tmux does not tell holds up no other", async () => {
  const { source, waits, captures, screen, pass } = screenBench();
  waits.wait(source, { ...literal("never"), screen }).catch(() => undefined);
  const wait = waits.wait(source, { ...literal("needle"), screen });
  await turns();
  captures[1]!("$ ");
  await turns();
  source.write("x");
  await pass(200);
  captures[2]!("$ needle");
  expect(await outcomeOf(wait)).toMatchObject({ matched: [{ on: "screen" }] });
});
