/** What counts as taken, what counts as an empty box, and what is said where neither is so. */
import { uptime } from "node:os";
import { describe, expect, test } from "vitest";
import { holdsOnly } from "../../../../daemon/delivery/prompt/confirmTaken.ts";
import { type EchoPlace, echoProbe } from "../../../../daemon/delivery/screen/promptEcho.ts";
import type { ScreenCapture } from "../../../../daemon/delivery/screen/screenCapture.ts";
import { AppError } from "../../../../protocol/errors.ts";
import { PROFILES } from "../../../support/agents/agentCatalogue.ts";
import { BoxPane, deliveryTo, inFront, RULE, submit } from "../../../support/agents/boxPane.ts";
import { FakePane } from "../../../support/agents/fakePane.ts";

const DIALOG = ["Bash command", "", "Do you want to proceed?", "❯ 1. Yes", "  2. No, and tell Claude what to do (esc)"];
const PI_TITLE = "\u001b]0;π - project\u0007";

describe("an emptied box", () => {
  test("is no proof", async () => {
    const pane = new BoxPane("claude", { enter: () => undefined });
    const result = await pane.during(submit(pane));
    expect(result).toMatchObject({ outcome: "echoed_unconfirmed", enterPresses: 1 });
    expect(pane.pastes).toEqual(["fix it"]);
  });

  test("is one beside the text in what was said above it", async () => {
    const pane = new BoxPane("claude");
    expect(await pane.during(submit(pane))).toMatchObject({ outcome: "submitted", confirmedBy: "screen" });
  });

  test("is one when the program works", async () => {
    const pane = new BoxPane("claude");
    pane.enter = () => pane.become("busy");
    expect(await pane.during(submit(pane))).toMatchObject({ outcome: "submitted", confirmedBy: "readiness" });
  });

  test("is none for the same text that stood above it before", async () => {
    const pane = new BoxPane("claude", { above: ["> fix it", "done"] });
    pane.enter = () => undefined;
    expect(await pane.during(submit(pane))).toMatchObject({ outcome: "echoed_unconfirmed" });
  });

  test("and a letter that is met anywhere are none; the letter alone in a row is one", async () => {
    const pane = new BoxPane("claude");
    pane.enter = () => pane.above.push("Tip: try yes or no");
    expect(await pane.during(submit(pane, { text: "y" }))).toMatchObject({ outcome: "echoed_unconfirmed" });
    const taking = new BoxPane("claude");
    expect(await taking.during(submit(taking, { text: "y" }))).toMatchObject({ outcome: "submitted" });
  });

  test("a program at work that still shows the text in its box has not taken it", async () => {
    const pane = new BoxPane("claude");
    const { answer } = pane;
    pane.answer = (typed) => (typed.paste === undefined ? pane.become("busy") : answer(typed));
    expect((await pane.during(submit(pane))).outcome).not.toBe("submitted");
  });
});

describe("a prompt that is shown as waiting for its turn", () => {
  const waiting = (): BoxPane => {
    const pane = new BoxPane("gemini", { title: "\u001b]0;◇  Ready\u0007" });
    pane.enter = (text) => pane.above.push("Queued (press ↑ to edit):", `  ${text}`);
    return pane;
  };

  test("is queued when it still waits after a while", async () => {
    const pane = waiting();
    expect(await pane.during(submit(pane))).toMatchObject({ outcome: "queued", confirmedBy: "screen" });
  });

  /** What happens 300 ms after Enter. */
  const later = (pane: BoxPane, act: () => void): (() => void) => {
    let dueMs = Infinity;
    const { enter } = pane;
    pane.enter = (text) => {
      enter(text);
      dueMs = pane.clock.nowMs() + 300;
    };
    return () => {
      if (pane.clock.nowMs() < dueMs) return;
      dueMs = Infinity;
      act();
    };
  };

  test("is submitted once it has left the queue", async () => {
    const pane = waiting();
    const everyMs = later(pane, () => {
      pane.above = ["> fix it"];
      pane.show();
    });
    expect(await pane.during(submit(pane), everyMs)).toMatchObject({ outcome: "submitted", confirmedBy: "screen" });
  });

  test("is unconfirmed when the program ends before its turn comes", async () => {
    const pane = waiting();
    const everyMs = later(pane, () => pane.stream.declareExit({ exitCode: 0 }));
    expect(await pane.during(submit(pane), everyMs)).toMatchObject({ outcome: "echoed_unconfirmed" });
  });
});

describe("after Enter", () => {
  test("a connection that is lost leaves it open whether the prompt was taken", async () => {
    const pane = new BoxPane("claude");
    pane.enter = () => pane.stream.close(new AppError("CONNECTION_LOST", "gone"));
    expect(await pane.during(submit(pane))).toMatchObject({ outcome: "indeterminate", enterPresses: 1 });
  });

  test("a connection that is lost while the program is seen to go on leaves it open as well", async () => {
    const pane = new BoxPane("claude");
    pane.enter = (text) => {
      pane.above.push(`> ${text}`);
      pane.say("\u001b[?2004l");
    };
    let enteredMs = Infinity;
    const { answer } = pane;
    pane.answer = (typed) => {
      answer(typed);
      if (typed.keys?.[0] === "Enter") enteredMs = typed.atMs;
    };
    const everyMs = (nowMs: number): void => {
      if (nowMs === enteredMs + 20) pane.stream.close(new AppError("CONNECTION_LOST", "gone"));
    };
    expect(await pane.during(submit(pane), everyMs)).toMatchObject({ outcome: "indeterminate" });
  });

  test.each([
    ["drops the text", 5_000, 1, ""],
    ["keeps it in its box", 2_000, 3, "fix it"],
  ])("a program that %s is given up %d ms after the last Enter", async (_what, waitsMs, enterPresses, left) => {
    const pane = new BoxPane("claude");
    pane.enter = () => (pane.box = left);
    const work = pane.during(submit(pane), (nowMs) => nowMs === (pane.enters[0]?.atMs ?? NaN) + 50 && pane.say("."));
    expect(await work).toMatchObject({ outcome: "echoed_unconfirmed", enterPresses });
    const waitedMs = pane.clock.nowMs() - pane.enters.at(-1)!.atMs;
    expect([waitedMs >= waitsMs, waitedMs < waitsMs + 100, waitedMs]).toEqual([true, true, waitedMs]);
  });

  test("a delivery whose time is up waits no longer than a second Enter would", async () => {
    const pane = new BoxPane("claude", { enter: () => undefined });
    await pane.during(submit(pane, { timeoutMs: 300 }));
    const waitedMs = pane.clock.nowMs() - pane.enters[0]!.atMs;
    expect([waitedMs >= 450, waitedMs < 550, waitedMs]).toEqual([true, true, waitedMs]);
  });
});

describe("taken, or not", () => {
  const unknown = { outcome: "echoed_unconfirmed", enterPresses: 1 };
  const taken = (confirmedBy: string, outcome = "submitted") => ({ outcome, confirmedBy, enterPresses: 1 });
  const above = (pane: BoxPane, text: string): unknown => pane.above.push(`> ${text}`);
  const nothing = (): void => undefined;
  const gone = (): Promise<never> => Promise.reject(new AppError("NOT_FOUND", "gone"));

  test.each<[string, (pane: BoxPane, text: string) => unknown, object]>([
    [
      "a turn that is over, as the program says, with what it did above",
      (pane) => (pane.above.push("done"), pane.says("idle")),
      taken("readiness"),
    ],
    // A person has stopped it and emptied the box.
    ["a turn that is over and has left nothing", (pane) => pane.says("idle"), unknown],
    ["an idle that only the screen shows", (pane) => (pane.above.push("done"), pane.says("idle", "screen")), unknown],
    ["the same idle once more", (pane) => pane.become("idle"), unknown],
    ["a question, with the text above it gone", (pane) => pane.says("asking"), unknown],
    ["its program ends", (pane) => pane.stream.declareExit({ exitCode: 0 }), unknown],
    ["its pane is gone", (pane) => (pane.server.capture = gone), unknown],
  ])("after Enter an emptied box and %s", async (_what, enter, expected) => {
    const pane = new BoxPane("claude");
    pane.enter = (text) => void enter(pane, text);
    expect(await pane.during(submit(pane))).toMatchObject(expected);
  });

  const failed = { ...unknown, details: { screenNote: "API Error: overloaded" } };
  test.each<[string, (pane: BoxPane, text: string) => unknown, object]>([
    ["an error of the model", (pane, text) => (above(pane, text), pane.above.push("API Error: overloaded")), failed],
    ["the text behind another word in the box", (pane, text) => (pane.box = `so: ${text}`), unknown],
  ])("after Enter %s", async (_what, enter, expected) => {
    const pane = new BoxPane("claude");
    pane.enter = (text) => void enter(pane, text);
    expect(await pane.during(submit(pane))).toMatchObject(expected);
    expect(pane.enters).toHaveLength(1);
  });

  test.each([
    ["the text above it", ["> fix it", "", ...DIALOG], taken("screen")],
    ["nothing of the text", DIALOG, unknown],
    ["the box and the text in it", [RULE, "❯ fix it", RULE, ...DIALOG], unknown],
  ])("after Enter a dialog with %s", async (_what, lines, expected) => {
    const pane = new BoxPane("claude");
    const { answer } = pane;
    pane.answer = (typed) =>
      typed.paste === undefined ? pane.draw(lines, { col: 0, row: lines.length - 1 }) : answer(typed);
    expect(await pane.during(submit(pane))).toMatchObject(expected);
  });

  type Act = (pane: BoxPane, text: string) => unknown;
  const works: Act = (pane) => pane.become("busy");
  const inBox: Act = (pane, text) => (pane.box = text);
  const emptied: Act = (pane, text) => ((pane.box = ""), above(pane, text));
  const waiting: Act = (pane, text) => pane.above.push(" Queued (press ↑ to edit):", `  ${text}`);
  const dies = (pane: BoxPane): unknown => pane.stream.declareExit({ exitCode: 0 });
  const note = (screenNote: unknown) => ({ ...unknown, details: { screenNote } });
  const error: Act = (pane) => pane.above.push("API Error: overloaded");
  test.each<[string, "claude" | "gemini", Act, Readonly<Record<number, Act>>, object]>([
    [
      "it works before its box is empty",
      "claude",
      (...to) => (inBox(...to), works(...to)),
      { 600: emptied },
      taken("readiness"),
    ],
    [
      "it works while the text stands behind a word",
      "claude",
      (pane, text) => ((pane.box = `so: ${text}`), works(pane, text)),
      { 600: emptied },
      taken("readiness"),
    ],
    [
      "it works while the text waits",
      "gemini",
      (...to) => (waiting(...to), works(...to)),
      { 600: (pane, text) => (pane.above = [`> ${text}`]) },
      taken("readiness"),
    ],
    [
      "it works, and a frame later shows that somebody typed into the text",
      "claude",
      works,
      { 20: (pane, text) => above(pane, `${text}!`) },
      note(expect.stringContaining("fix it!")),
    ],
    // What it shows later, it takes back later.
    ["it shows the text late and puts it back", "claude", nothing, { 300: above, 550: inBox }, unknown],
    [
      "it shows the text soon and another is typed later",
      "claude",
      nothing,
      { 10: above, 250: inBox },
      taken("screen"),
    ],
    [
      "it shows the text very late, and longer is not waited",
      "claude",
      nothing,
      { 1_000: above, 1_450: inBox },
      taken("screen"),
    ],
    [
      "its title says that the turn is over, and a frame later the box shows the text",
      "claude",
      (...to) => (above(...to), works(...to)),
      { 99: (pane) => pane.says("idle"), 120: inBox },
      unknown,
    ],
    [
      "it shows the text, then that it waits",
      "gemini",
      above,
      { 50: (pane, text) => ((pane.above = []), waiting(pane, text)) },
      taken("screen", "queued"),
    ],
    [
      "it shows the text, and its pane has gone by then",
      "claude",
      above,
      { 60: (pane) => (pane.server.capture = gone) },
      unknown,
    ],
    [
      "it shows the text, and puts it back behind a word",
      "claude",
      above,
      { 60: (pane, text) => (pane.box = `so: ${text}`) },
      unknown,
    ],
    ["it shows the text, and ends", "claude", above, { 60: dies }, unknown],
    ["the text waits, and what waits is set in", "gemini", waiting, {}, taken("screen", "queued")],
    [
      "other text waits below it",
      "gemini",
      (pane, text) => (above(pane, text), pane.above.push("Queued (press ↑ to edit):", "  other")),
      {},
      taken("screen"),
    ],
    [
      "it asks, as it says, with the text in its box",
      "claude",
      (pane, text) => (inBox(pane, text), pane.become("asking")),
      {},
      unknown,
    ],
    ["an error of the model, and nothing of the text", "claude", error, {}, failed],
  ])("after Enter: %s", async (_what, profile, enter, later, expected) => {
    const pane = new BoxPane(profile, { title: "\u001b]0;◇  Ready\u0007" });
    pane.enter = (text) => void enter(pane, text);
    const result = await pane.during(submit(pane), (nowMs) => {
      const act = later[nowMs - (pane.enters[0]?.atMs ?? NaN)];
      act?.(pane, "fix it");
      if (act !== undefined) pane.show();
    });
    expect(result).toMatchObject(expected);
    if (expected === failed) expect(pane.clock.nowMs() - pane.enters[0]!.atMs).toBeLessThan(100);
  });

  test("an agent that asks, with the text in its box, is looked at when it draws", async () => {
    const pane = new BoxPane("claude");
    pane.enter = (text) => (inBox(pane, text), pane.become("asking"));
    expect(await pane.during(submit(pane))).toMatchObject(unknown);
    expect(pane.captures).toBeLessThan(10);
  });

  test("an error beside the text in its box may be another's: Enter is pressed again", async () => {
    const pane = new BoxPane("claude");
    pane.enter = (text) => (inBox(pane, text), pane.enters.length === 1 && void error(pane, text));
    expect(await pane.during(submit(pane))).toMatchObject({ ...failed, enterPresses: 3 });
  });

  test.each<[string, (pane: BoxPane) => void]>([
    ["away", (pane) => pane.draw(["Working"])],
    ["away, with more behind the text", (pane) => pane.draw(["> fix it!"])],
  ])("an agent whose box is %s, without a dialog, is given five seconds", async (_what, enter) => {
    const pane = new BoxPane("claude");
    const { answer } = pane;
    pane.answer = (typed) => (typed.paste === undefined ? enter(pane) : answer(typed));
    expect(await pane.during(submit(pane))).toMatchObject(unknown);
    expect(pane.clock.nowMs() - pane.enters[0]!.atMs).toBeGreaterThanOrEqual(5_000);
  });

  test("an error of the model that comes a moment after the text is no proof either", async () => {
    const pane = new BoxPane("claude");
    const result = await pane.during(submit(pane), (nowMs) => {
      if (nowMs !== (pane.enters[0]?.atMs ?? NaN) + 20) return;
      pane.above.push("API Error: overloaded");
      pane.show();
    });
    expect(result).toMatchObject(failed);
  });

  test.each<[string, (pane: BoxPane, text: string) => unknown, object]>([
    ["shows it above its box", above, taken("screen", "queued")],
    ["shows it with a word of its own", (pane, text) => above(pane, `${text} (queued)`), taken("screen", "queued")],
    ["empties its box", nothing, unknown],
    ["works on", (pane) => pane.says("busy"), unknown],
  ])("a program at work that %s", async (_what, enter, expected) => {
    const pane = new BoxPane("claude");
    pane.become("busy");
    pane.enter = (text) => void enter(pane, text);
    expect(await pane.during(submit(pane, { whileBusy: "queue" }))).toMatchObject(expected);
  });

  test("a turn that is stopped as it begins, with the text in the box again, is not entered again", async () => {
    const pane = new BoxPane("claude");
    pane.enter = () => pane.become("busy");
    const result = await pane.during(submit(pane), (nowMs) => {
      if (nowMs !== (pane.enters[0]?.atMs ?? NaN) + 10) return;
      pane.box = "fix it";
      pane.become("idle");
      pane.show();
    });
    expect(result).toMatchObject(unknown);
  });

  test.each([
    ["that does nothing more", (pane: BoxPane) => pane.say("."), unknown],
    ["that works", (pane: BoxPane) => pane.become("busy"), taken("readiness")],
  ])("the text above the box proves nothing of a program that loses prompts and %s", async (_what, then, expected) => {
    const pane = new BoxPane("claude");
    const claude = PROFILES.named("claude");
    const profile = { ...claude, submit: { ...claude.submit, mayLose: true } };
    Object.assign(pane.readiness, { profiles: { named: () => profile } });
    const result = await pane.during(submit(pane), (nowMs) => {
      if (nowMs === (pane.enters[0]?.atMs ?? NaN) + 100) then(pane);
    });
    expect(result).toMatchObject(expected);
    expect(pane.clock.nowMs() - pane.enters[0]!.atMs >= 5_000).toBe(expected === unknown);
  });

  test.each<[string, (pane: FakePane) => unknown, object]>([
    ["prints below it", (pane) => pane.draw(["> fix it", "done", "> "], { col: 2, row: 2 }), taken("output")],
    ["clears the screen", (pane) => pane.draw(["> "], { col: 2, row: 0 }), taken("screen")],
    ["works", (pane) => pane.become("busy"), taken("readiness")],
    ["is idle again, as only its screen shows", (pane) => pane.says("idle", "screen"), taken("readiness")],
    ["ends", (pane) => pane.stream.declareExit({ exitCode: 0 }), taken("readiness")],
    [
      "takes its pane with it",
      (pane) => (Object.assign(pane.server, { capture: gone }), pane.say(".")),
      taken("readiness"),
    ],
    ["does nothing", nothing, { ...unknown, enterPresses: 3 }],
  ])("a program that is no agent has taken a line when it %s", async (_what, enter, expected) => {
    const pane = new FakePane("generic");
    pane.say("\u001b[?2004l");
    pane.draw(["> "], { col: 2, row: 0 });
    pane.answer = ({ paste }) =>
      paste === undefined ? enter(pane) : pane.draw([`> ${paste}`], { col: 2 + paste.length, row: 0 });
    expect(await pane.during(submit(pane))).toMatchObject(expected);
    // Whether it takes pastes in brackets does not matter for one line.
    expect(pane.typed[0]!.atMs).toBeLessThan(100);
    const tookMs = pane.clock.nowMs() - pane.typed[1]!.atMs;
    expect(tookMs < 100, `${tookMs} ms`).toBe(enter !== nothing);
  });
});

test.each<[string, string, string, boolean]>([
  ["the text in one row", "one two three", "one two three", true],
  ["the text in rows", "one two three", "one two\nthree", true],
  ["the word that stands for a paste", "one two", "[Pasted]", true],
  ["a part of a long one", "one two three four", "two\nthree", true],
  ["rows that begin like an earlier place", "abxyz abcd", "ab\ncd", true],
  ["rows between which two letters are lost", "abc de fgh", "abc\nfgh", true],
  ["rows between which three are", "abc def ghi", "abc\nghi", false],
  ["more rows behind the lost letters", "abc de fgh ijk", "abc\nfgh\nijk", true],
  ["a row of other text, then the beginning again", "one two three", "two\nfour\none", false],
  ["three rows, the last somewhere else", "one two three four", "one\ntwo\nfour", false],
  ["more than the text", "one two", "one two\nthree", false],
  ["another text", "one", "two", false],
  ["emoji", "👍 👍🏽", "👍 👍", true],
  ["other emoji", "👍", "👎", false],
  ["emoji and a letter", "👍", "👍 a", false],
  ["no text", "one", "\n", false],
])("a box with %s", (_what, text, typed, holds) => {
  const place = { needle: "[Pasted]" } as EchoPlace;
  expect(holdsOnly({ box: { typed } } as ScreenCapture, echoProbe(text, []), text, place)).toBe(holds);
});

describe("a program that drops what it is given until it has started", () => {
  /** pi whose session_start ends at `startedMs`: its title says so. */
  function starting(startedMs: number): { pane: BoxPane; everyMs: (nowMs: number) => void } {
    const pane = new BoxPane("pi");
    let isStarted = false;
    pane.enter = (text) => isStarted && pane.above.push(text);
    const everyMs = (nowMs: number): void => {
      if (nowMs !== startedMs) return;
      isStarted = true;
      pane.say(PI_TITLE);
    };
    return { pane, everyMs };
  }

  test("is waited for", async () => {
    const { pane, everyMs } = starting(1_500);
    expect(await pane.during(submit(pane), everyMs)).toMatchObject({ outcome: "submitted", enterPresses: 1 });
    expect(pane.pastes).toEqual(["fix it"]);
    expect(pane.typed[0]!.atMs).toBeGreaterThanOrEqual(1_500);
  });

  /** When it says so after Enter, what it draws at Enter, its box from 100 ms on, and how often the text is given. */
  test.each<[string, number, (pane: BoxPane) => unknown, string, number, object]>([
    [
      "that says so once its box is empty is given it again, once",
      500,
      () => undefined,
      "",
      2,
      { outcome: "submitted", enterPresses: 2 },
    ],
    [
      "that says so once the text is in its box again is not: Enter is pressed again",
      300,
      () => undefined,
      "fix it",
      1,
      { outcome: "submitted", enterPresses: 2 },
    ],
    [
      "that says so before its box is empty is not",
      20,
      (pane) => (pane.box = "fix it"),
      "",
      1,
      { outcome: "echoed_unconfirmed", enterPresses: 1 },
    ],
    ["that works by then is not", 500, (pane) => pane.become("busy"), "", 1, { outcome: "submitted", enterPresses: 1 }],
  ])("and is new, %s", async (_what, afterMs, enter, box, given, expected) => {
    const pane = new BoxPane("pi");
    // Not so new that what the pane shows could be its predecessor's.
    inFront(pane, "pi", String(Math.floor((uptime() - 10) * 100)));
    let isStarted = false;
    pane.enter = (text) => void (isStarted ? pane.above.push(text) : enter(pane));
    const result = await pane.during(submit(pane, { timeoutMs: 20_000 }), (nowMs) => {
      const sinceMs = nowMs - (pane.enters[0]?.atMs ?? NaN);
      if (sinceMs === afterMs) {
        isStarted = true;
        pane.say(PI_TITLE);
      }
      if (sinceMs !== 100) return;
      pane.box = box;
      pane.show();
    });
    expect(result).toMatchObject(expected);
    expect(pane.pastes).toHaveLength(given);
  });

  test("is not given it again where nobody can say that it is new", async () => {
    const { pane, everyMs } = starting(6_500);
    expect(await pane.during(submit(pane), everyMs)).toMatchObject({ outcome: "echoed_unconfirmed", enterPresses: 1 });
    expect(pane.pastes).toEqual(["fix it"]);
  });

  test("is not given it again when it had started before", async () => {
    const pane = new BoxPane("pi", { title: PI_TITLE });
    pane.enter = () => pane.say(PI_TITLE);
    expect(await pane.during(submit(pane))).toMatchObject({ outcome: "echoed_unconfirmed", enterPresses: 1 });
    expect(pane.pastes).toEqual(["fix it"]);
  });
});

describe("a box with somebody's text in it", () => {
  const refused = (box: string) => ({ code: "WRONG_STATE", details: { reason: "box_not_empty", box } });

  test("takes nothing, and is told", async () => {
    const pane = new BoxPane("claude", { box: "rm -rf h" });
    await expect(pane.during(submit(pane))).rejects.toMatchObject(refused("rm -rf h"));
    const long = new BoxPane("claude", { box: `${"x".repeat(498)}😀😀` });
    await expect(long.during(submit(long))).rejects.toMatchObject(refused(`${"x".repeat(498)}…`));
    expect([...pane.typed, ...long.typed]).toEqual([]);
  });

  test("a mode that makes a command of the text is not empty", async () => {
    const pane = new BoxPane("claude");
    pane.draw([RULE, "! ", RULE], { col: 2, row: 1 });
    await expect(pane.during(submit(pane))).rejects.toMatchObject(refused("!"));
    expect(pane.typed).toEqual([]);
  });

  test("is emptied first where that is asked for", async () => {
    const pane = new BoxPane("claude", { box: "old" });
    const stages: unknown[] = [];
    const onStage = (stage: string): unknown => stages.push([stage, pane.typed.length]);
    expect(await pane.during(submit(pane, { clearFirst: true, onStage }))).toMatchObject({ outcome: "submitted" });
    // The key that empties it is the first that is written.
    expect([pane.above, stages]).toEqual([
      ["> fix it"],
      [
        ["typing", 0],
        ["entering", 2],
      ],
    ]);
    const lost = new BoxPane("claude", { box: "old" });
    const { answer } = lost;
    lost.answer = (typed) => {
      if (typed.paste !== undefined) throw new AppError("CONNECTION_LOST", "gone");
      answer(typed);
    };
    expect(await lost.during(submit(lost, { clearFirst: true }))).toMatchObject({ outcome: "indeterminate" });
    const plain = new FakePane("generic");
    plain.draw(["> "], { col: 2, row: 0 });
    await plain.during(submit(plain, { clearFirst: true }));
    expect(plain.typed.map(({ paste, keys }) => paste ?? keys?.[0])).toEqual(["C-u", "fix it"]);
  });

  test("is emptied first, and what is drawn again by that is no echo", async () => {
    const pane = new BoxPane("claude", { above: ["> fix it"], box: "fix it" });
    const { answer } = pane;
    pane.answer = (typed) => {
      if (typed.paste !== undefined) return void pane.clock.callAt(typed.atMs + 700, () => answer(typed));
      if (typed.keys?.[0] === "C-u") pane.say("> fix it");
      answer(typed);
    };
    expect(await pane.during(submit(pane, { clearFirst: true }))).toMatchObject({
      outcome: "submitted",
      enterPresses: 1,
    });
  });

  test("that the keys do not empty takes nothing", async () => {
    const pane = new BoxPane("claude", { box: "old" });
    const { answer } = pane;
    pane.answer = (typed) => typed.keys === undefined && answer(typed);
    await expect(pane.during(submit(pane, { clearFirst: true }))).rejects.toMatchObject(refused("old"));
    expect(pane.pastes).toEqual([]);
  });

  test("is waited for where that is asked for, as long as there is time", async () => {
    const pane = new BoxPane("claude", { box: "half" });
    const result = await pane.during(submit(pane, { whileTyping: "wait" }), (nowMs) => {
      if (nowMs !== 300 && nowMs !== 700) return;
      pane.box = nowMs === 300 ? "half and" : "";
      pane.show();
    });
    expect(result.outcome).toBe("submitted");
    expect(pane.typed[0]!.atMs).toBeGreaterThanOrEqual(700);

    const still = new BoxPane("claude", { box: "half" });
    const late = still.during(submit(still, { whileTyping: "wait", timeoutMs: 900 }));
    await expect(late).rejects.toMatchObject(refused("half"));
    expect(still.typed).toEqual([]);
  });

  test("that somebody takes out while it is looked at is not waited for", async () => {
    const pane = new BoxPane("claude", { box: "half" });
    pane.afterCapture = (count): void => {
      // The look still shows it, and nothing comes after this.
      if (count !== 1) return;
      pane.box = "";
      pane.show();
    };
    const result = await pane.during(submit(pane, { whileTyping: "wait", timeoutMs: 9_000 }));
    expect(result.outcome).toBe("submitted");
    expect(pane.typed[0]!.atMs).toBeLessThan(1_000);
  });

  test("is waited for without holding the pane, in which others go first", async () => {
    const pane = new BoxPane("claude", { box: "half" });
    const delivery = deliveryTo(pane);
    const request = {
      server: pane.server,
      pane: pane.pane,
      text: "fix it",
      whileTyping: "wait",
      timeoutMs: 900,
    } as const;
    const waiting = delivery.submit(request);
    const cleared = delivery.clear(pane.server, pane.pane);
    expect(await pane.during(waiting)).toMatchObject({ outcome: "submitted" });
    await cleared;
    expect(pane.pastes).toEqual(["fix it"]);
  });

  test("a hint of the program is nobody's text", async () => {
    const pane = new BoxPane("claude");
    const hint = [RULE, "\u001b[39m❯ \u001b[7mR\u001b[0;2mesend your message", `\u001b[0m${RULE}`];
    pane.draw(hint, { col: 2, row: 1 });
    expect(await pane.during(submit(pane))).toMatchObject({ outcome: "submitted" });

    const typed = new BoxPane("claude");
    typed.draw([RULE, "❯ Resend\u001b[7m \u001b[0;2m your message", `\u001b[0m${RULE}`], { col: 8, row: 1 });
    await expect(typed.during(submit(typed))).rejects.toMatchObject(refused("Resend"));
  });

  test("a person who types between the paste and Enter: Enter is not pressed, and it is told", async () => {
    const pane = new BoxPane("claude");
    const { answer } = pane;
    pane.answer = (typed) => {
      answer(typed);
      if (typed.paste === undefined) return;
      pane.box += " and more";
      pane.show();
    };
    await expect(pane.during(submit(pane))).rejects.toMatchObject({
      code: "WRONG_STATE",
      details: { reason: "box_changed", box: "fix it and more", textWritten: true, enterPresses: 0 },
    });
    expect(pane.enters).toEqual([]);
  });
});

describe("what the screen says", () => {
  test("comes with a prompt that nothing speaks for: one line, bounded, without controls", async () => {
    const pane = new BoxPane("claude");
    pane.enter = () => pane.above.push("Something\u202eelse happened", "x".repeat(2_000));
    const { outcome, details } = await pane.during(submit(pane));
    expect(outcome).toBe("echoed_unconfirmed");
    expect(details?.screenNote).toMatch(/^Something else happened x+…$/);
    expect(details?.screenNote?.length).toBeLessThanOrEqual(300);
  });

  test("an error of the model is told instead of `submitted`", async () => {
    const pane = new BoxPane("claude");
    pane.enter = (text) => pane.above.push(`> ${text}`, "  ⎿  Not logged in · Please run /login");
    const { outcome, details } = await pane.during(submit(pane));
    expect(outcome).toBe("echoed_unconfirmed");
    expect(details?.screenNote).toContain("Not logged in");
  });

  test("an error of an earlier prompt is not this one's", async () => {
    const pane = new BoxPane("claude", { above: ["> before", "  ⎿  Not logged in · Please run /login"] });
    expect(await pane.during(submit(pane))).toMatchObject({ outcome: "submitted" });
  });
});

test("a key that met our Enter before it was drawn: both became one prompt, and the result says so", async () => {
  const pane = new BoxPane("claude");
  pane.enter = (text) => {
    pane.above.push(`> ${text}!`);
    pane.become("busy");
  };
  const { outcome, details } = await pane.during(submit(pane));
  expect(outcome).toBe("echoed_unconfirmed");
  expect(details?.screenNote).toContain("fix it!");
});

test.each(["👍", "👍👍", "🇩🇪", "👍\n👎"])("a prompt of nothing but emoji is entered: %s", async (text) => {
  const pane = new BoxPane("claude");
  expect(await pane.during(submit(pane, { text }))).toMatchObject({ outcome: "submitted", enterPresses: 1 });
  expect(pane.above).toEqual([`> ${text}`]);
});

test("what the program itself writes behind a prompt is nobody's key: emoji that it draws its own way", async () => {
  const pane = new BoxPane("claude");
  expect(await pane.during(submit(pane, { text: "well done 👍🏽 é" }))).toMatchObject({ outcome: "submitted" });
});

describe("a program that gives its terminal back", () => {
  test("before Enter is about to end: Enter is not pressed", async () => {
    const pane = new BoxPane("claude");
    const { answer } = pane;
    pane.answer = (typed) => {
      answer(typed);
      if (typed.paste !== undefined) pane.say("\u001b[?2004l");
    };
    await expect(pane.during(submit(pane))).rejects.toMatchObject({
      code: "WRONG_STATE",
      details: { reason: "program_changed", textWritten: true },
    });
    expect(pane.enters).toEqual([]);
  });

  test("for a moment only, reads on: Enter is pressed then", async () => {
    const pane = new BoxPane("claude");
    const { answer } = pane;
    let pastedMs = Infinity;
    pane.answer = (typed) => {
      answer(typed);
      if (typed.paste === undefined) return;
      pastedMs = typed.atMs;
      pane.say("\u001b[?2004l");
    };
    const result = await pane.during(submit(pane), (nowMs) => {
      if (nowMs === pastedMs + 300) pane.say("\u001b[?2004h");
    });
    expect(result).toMatchObject({ outcome: "submitted", enterPresses: 1 });
    expect(pane.enters[0]!.atMs).toBeGreaterThanOrEqual(pastedMs + 300);
  });

  test("after Enter may have taken nothing: an emptied box and its text above it are no proof", async () => {
    const pane = new BoxPane("claude");
    pane.enter = (text) => {
      pane.above.push(`> ${text}`);
      pane.say("\u001b[?2004l");
    };
    expect(await pane.during(submit(pane))).toMatchObject({ outcome: "echoed_unconfirmed" });
  });
});
