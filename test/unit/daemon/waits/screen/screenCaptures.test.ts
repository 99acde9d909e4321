/** When the screen is captured for a wait, on a clock moved by hand and a tmux that replies when the test says so. */
import { expect, test } from "vitest";
import type { Capture } from "../../../../../daemon/tmux/io.ts";
import type { ScreenView } from "../../../../../daemon/waits/screen/screenView.ts";
import { errorOf, literal, outcomeOf, turns, waitBench, type WaitBench } from "../waitFixture.ts";

interface ScreenBench extends WaitBench {
  /** Each replies to one capture with the screen's first line. */
  readonly captures: ((line: string) => void)[];
  readonly screen: ScreenView;
  readonly pass: (ms: number) => Promise<void>;
}

function screenBench(): ScreenBench {
  const bench = waitBench();
  const { source, clock } = bench;
  const captures: ((line: string) => void)[] = [];
  const capture = (): Promise<Capture> =>
    new Promise((resolve) => {
      const { outputSeq } = source;
      captures.push((line) =>
        resolve({
          lines: [line, ""],
          position: { epoch: "e1", outputSeq },
          exact: true,
          cols: 40,
          rows: 2,
          cursor: { col: line.length, row: 0 },
          alternateScreen: false,
          historyLines: 0,
        }),
      );
    });
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 10) {
      clock.advanceMs(10);
      await turns(2);
    }
  };
  return { ...bench, captures, screen: { capture }, pass };
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
  const { source, waits, captures, screen, pass } = screenBench();
  const wait = waits.wait(source, { ...literal("needle"), screen, timeoutMs: 10_000 });
  waits.wait(source, literal("never")).catch(() => undefined);
  await turns();
  captures[0]!("$ ");
  await pass(200);
  source.gap(1);
  await pass(200);
  expect(captures).toHaveLength(2);
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
