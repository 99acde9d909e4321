/** Keys in a dialog that is moved by hand: one at a time, each on a screen that shows what the one before did. */
import { describe, expect, test } from "vitest";
import { DeliveryEngine, type DeliveryOptions } from "../../../../../daemon/delivery/deliveryEngine.ts";
import type { ChooseRequest, DialogAnswer } from "../../../../../daemon/delivery/delivery.ts";
import { judge } from "../../../../../daemon/delivery/screen/screenCapture.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import { inFront } from "../../../../support/agents/boxPane.ts";
import { FakePane } from "../../../../support/agents/fakePane.ts";
import { profileNamed } from "../../../../support/agents/agentCatalogue.ts";

type OnTyping = DeliveryOptions["onTyping"];

const LABELS = ["React", "Preact", "Svelte", "Other"];
const RULE = "─".repeat(40);
const QUESTION = "Which library should be used?";

interface Menu {
  mark: number;
  checked?: Set<number>;
  question?: string;
  labels?: readonly string[];
}

function rows({ mark, checked, question = QUESTION, labels = LABELS }: Menu): string[] {
  const tick = (index: number): string => (checked === undefined ? "" : `[${checked.has(index) ? "x" : " "}] `);
  const options = labels.map((label, index) => `${index === mark ? "❯" : " "} ${tick(index)}${label}`);
  return [question, "", ...options, "", "Enter to select · ↑/↓ to navigate"];
}

const box = (text: string, ...above: readonly string[]): string[] => [...above, RULE, `❯ ${text}`, RULE];

type Entered = (pane: FakePane, show: () => void) => void;

/** A list that obeys Up, Down, Space and Enter, which closes it unless a test says otherwise. */
function menuPane(
  menu: Menu = { mark: 0 },
  entered: Entered = (pane) => pane.draw(["● done"], { col: 0, row: 1 }),
  profile = "claude",
) {
  const pane = new FakePane(profile);
  const cursor = { col: 0, row: 10 };
  const show = (): void => pane.draw(rows(menu), cursor);
  show();
  pane.answer = ({ keys: [key] = [] }) => {
    if (key === "Down") menu.mark += 1;
    else if (key === "Up") menu.mark -= 1;
    else if (key === "Space" && menu.checked?.delete(menu.mark) === false) menu.checked.add(menu.mark);
    if (key === "Enter") entered(pane, show);
    else show();
  };
  return pane;
}

/** The pane asks what it shows. */
function engineAsked(pane: FakePane, onTyping?: OnTyping): DeliveryEngine {
  const { lines, cursor } = pane;
  const capture = {
    lines,
    cursor,
    position: { epoch: "e", outputSeq: 0 },
    exact: true,
    cols: 80,
    rows: 24,
    alternateScreen: false,
    historyLines: 0,
  };
  const { dialog } = judge(capture, profileNamed(pane.state.profile));
  if (dialog === undefined) throw new Error("no dialog");
  pane.state = { ...pane.state, state: "asking", dialog: { ...dialog, id: "1-x" } };
  return new DeliveryEngine({ readiness: pane.readiness, clock: pane.clock, nowUnixMs: () => 0, onTyping });
}

function choose(pane: FakePane, answer: DialogAnswer, more: Partial<ChooseRequest> = {}, onTyping?: OnTyping) {
  return pane.during(engineAsked(pane, onTyping).choose({ server: pane.server, pane: pane.pane, answer, ...more }));
}

const pressed = ({ typed }: FakePane): readonly string[] => typed.flatMap(({ keys = [] }) => keys.join("+"));

/** The pane shows something else by the time it is looked at. */
function chooseLater(
  pane: FakePane,
  lines: readonly string[],
  everyMs?: (nowMs: number) => void,
  answer: DialogAnswer = { kind: "option", index: 2 },
) {
  const delivery = engineAsked(pane);
  const work = delivery.choose({ server: pane.server, pane: pane.pane, answer });
  pane.draw(lines);
  return pane.during(work, everyMs);
}

describe("a list", () => {
  test.each([
    [0, 2, ["Down", "Down", "Enter"]],
    [3, 1, ["Up", "Up", "Enter"]],
    [1, 1, ["Enter"]],
  ])("from %i to %i", async (from, to, keys) => {
    const pane = menuPane({ mark: from });
    const result = await choose(pane, { kind: "option", index: to });
    expect(result).toMatchObject({ outcome: "submitted", confirmedBy: "screen", enterPresses: 1 });
    expect(pressed(pane)).toEqual(keys);
  });

  test("takes an option that is named twice once", async () => {
    const pane = menuPane();
    await choose(pane, { kind: "multi", answers: [[1, 1]] });
    expect(pressed(pane)).toEqual(["Down", "Enter"]);
  });

  test("of which some are chosen already ends as it was asked for", async () => {
    const checked = new Set([1, 2]);
    const pane = menuPane({ mark: 0, checked });
    await choose(pane, { kind: "multi", answers: [[0, 2]] });
    expect(pressed(pane)).toEqual(["Space", "Down", "Space", "Enter"]);
    expect([...checked].sort((a, b) => a - b)).toEqual([0, 2]);
  });
});

describe("a tick", () => {
  const first = { kind: "multi", answers: [[0]] } as const;
  /** @param tick is called instead of the menu's own answer to Space */
  function tickPane(checked: Set<number>, tick: (pane: FakePane, tick: () => void) => unknown) {
    const pane = menuPane({ mark: 0, checked });
    const { answer } = pane;
    pane.answer = (typed) => (typed.keys?.[0] === "Space" ? void tick(pane, () => answer(typed)) : answer(typed));
    return pane;
  }

  test("is on the screen before Enter is pressed", async () => {
    const pane = tickPane(new Set(), ({ clock }, tick) => clock.callAt(clock.nowMs() + 300, tick));
    expect(await choose(pane, first)).toMatchObject({ outcome: "submitted" });
    expect(pane.typed.map(({ keys, atMs }) => [keys?.[0], atMs >= 300])).toEqual([
      ["Space", false],
      ["Enter", true],
    ]);
  });

  test.each<[string, (pane: FakePane, tick: () => void, checked: Set<number>) => unknown, RegExp]>([
    ["does not come", (pane) => pane.say("."), /option was not switched; look/],
    [
      "comes with one of somebody else's",
      (_pane, tick, checked) => (checked.add(2), tick()),
      /somebody else .* chosen/,
    ],
  ])("that %s is not entered", async (_what, tick, message) => {
    const checked = new Set<number>();
    const pane = tickPane(checked, (own, itself) => tick(own, itself, checked));
    await expect(choose(pane, first)).rejects.toMatchObject({
      code: "WRONG_STATE",
      message: expect.stringMatching(message) as string,
      details: { textWritten: true },
    });
    expect(pressed(pane)).toEqual(["Space"]);
  });
});

describe("no key is pressed", () => {
  test("after one whose effect is not seen in a second", async () => {
    const pane = menuPane();
    pane.answer = () => undefined;
    await expect(choose(pane, { kind: "option", index: 2 })).rejects.toMatchObject({
      code: "WRONG_STATE",
      message: expect.stringContaining("did not move") as string,
      details: { textWritten: true },
    });
    expect([pressed(pane), pane.clock.nowMs()]).toEqual([["Down"], 1_004]);
  });

  test("in another dialog that takes the place of this one", async () => {
    const pane = menuPane();
    pane.answer = () => pane.draw(rows({ mark: 1, question: "Delete everything?" }), { col: 0, row: 10 });
    await expect(choose(pane, { kind: "option", index: 2 })).rejects.toMatchObject({
      code: "WRONG_STATE",
      details: { textWritten: true },
    });
    expect(pressed(pane)).toEqual(["Down"]);
  });

  test.each<[string, readonly string[]]>([
    ["is gone", []],
    ["has other words", rows({ mark: 0, question: "Delete everything?" })],
    ["has another option", rows({ mark: 0, labels: ["React", "Preact", "Svelte", "Delete everything"] })],
    ["has an option less", rows({ mark: 0, labels: LABELS.slice(0, 3) })],
    ["has an option more", rows({ mark: 0, labels: [...LABELS, "None"] })],
  ])("in a question that %s by now, after a moment in which it may be drawn again", async (_what, lines) => {
    const pane = menuPane();
    const work = chooseLater(pane, lines);
    const error = await work.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "WRONG_STATE", message: expect.stringContaining("no longer open") as string });
    expect(error).not.toMatchObject({ details: { textWritten: true } });
    expect([pane.typed, pane.clock.nowMs()]).toEqual([[], 250]);
    // As it was within that time.
    const drawn = menuPane();
    const { lines: asked } = drawn;
    const again = chooseLater(drawn, lines, (nowMs) => nowMs === 200 && drawn.draw(asked));
    expect(await again).toMatchObject({ outcome: "submitted" });
    expect(drawn.typed[0]!.atMs).toBeGreaterThanOrEqual(200);
  });

  test("in a question that goes after the first, which is said to be written", async () => {
    const pane = menuPane();
    pane.afterCapture = () => pane.typed.length === 1 && pane.lines.length > 0 && pane.draw([]);
    await expect(choose(pane, { kind: "option", index: 2 })).rejects.toMatchObject({
      message: expect.stringContaining("no longer open") as string,
      details: { textWritten: true },
    });
    expect(pressed(pane)).toEqual(["Down"]);
  });

  test("where nothing shows on which option the mark stands", async () => {
    const pane = menuPane({ mark: -1 });
    await expect(choose(pane, { kind: "option", index: 2 })).rejects.toMatchObject({
      details: { reason: "question_unreadable" },
    });
    expect(pane.typed).toEqual([]);
  });

  test.each<[string, (lines: readonly string[]) => readonly string[]]>([
    ["whole", () => ["Which library"]],
    ["at once", (before) => before],
  ])("while the mark's step is not drawn %s", async (_what, drawn) => {
    const menu = { mark: 0 };
    const pane = menuPane(menu);
    const { answer } = pane;
    pane.answer = (typed) => {
      const before = pane.lines;
      answer(typed);
      if (typed.keys?.[0] !== "Down") return;
      const whole = pane.lines;
      pane.draw(drawn(before));
      pane.clock.callAt(pane.clock.nowMs() + 300, () => pane.draw(whole));
    };
    expect(await choose(pane, { kind: "option", index: 2 })).toMatchObject({ outcome: "submitted", firstByteMs: 4 });
    expect(pressed(pane)).toEqual(["Down", "Down", "Enter"]);
    expect(pane.typed.map(({ atMs }) => atMs >= 300)).toEqual([false, true, true]);
    expect(pane.typed[2]!.atMs).toBeGreaterThanOrEqual(600);
  });

  test("when somebody else moves the mark beyond the option, and nothing of ours is said to be typed", async () => {
    const menu = { mark: 0 };
    const pane = menuPane(menu);
    const { answer } = pane;
    pane.afterCapture = (count) => {
      if (count !== 1) return;
      menu.mark = 3;
      answer({ atMs: 0, keys: [""] });
    };
    const error = await choose(pane, { kind: "option", index: 2 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.stringContaining("somebody else moved") as string });
    expect(error).not.toMatchObject({ details: { textWritten: true } });
    expect(pane.typed).toEqual([]);
  });

  test("while the pane keeps changing, as long as there is time", async () => {
    const pane = menuPane();
    pane.afterCapture = () => pane.say(".");
    const work = choose(pane, { kind: "option", index: 2 }, { timeoutMs: 500 });
    const error = await work.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "TIMEOUT", message: expect.stringContaining("kept changing") as string });
    expect(error).not.toMatchObject({ details: { textWritten: true } });
    expect(pane.typed).toEqual([]);
  });

  test("while it keeps changing after the first, which is said to be written", async () => {
    const pane = menuPane();
    pane.afterCapture = () => pressed(pane).length === 1 && pane.say(".");
    await expect(choose(pane, { kind: "option", index: 2 }, { timeoutMs: 500 })).rejects.toMatchObject({
      code: "TIMEOUT",
      details: { textWritten: true },
    });
    expect(pressed(pane)).toEqual(["Down"]);
  });

  test("where the mark is not shown any more", async () => {
    const labels = ["1. [ ] React", "2. [ ] Preact"];
    const work = chooseLater(menuPane({ mark: 0, labels }), rows({ mark: -1, labels }), undefined, {
      kind: "multi",
      answers: [[1]],
    });
    await expect(work).rejects.toMatchObject({ details: { reason: "question_unreadable" } });
  });

  test("more often than any question has options, by a mark that goes to and fro", async () => {
    const menu = { mark: 0 };
    const pane = menuPane(menu);
    const { answer } = pane;
    pane.answer = (typed) => {
      menu.mark = 1 - menu.mark;
      answer({ ...typed, keys: [""] });
    };
    await expect(choose(pane, { kind: "option", index: 2 })).rejects.toMatchObject({
      message: expect.stringContaining("could not be brought") as string,
      details: { textWritten: true },
    });
    expect(pressed(pane)).toHaveLength(64);
  });

  test("when somebody else moves the mark to and fro", async () => {
    const menu = { mark: 0 };
    const pane = menuPane(menu);
    const { answer } = pane;
    let isMoved = false;
    pane.afterCapture = () => {
      if (menu.mark !== 2 || isMoved) return;
      isMoved = true;
      menu.mark = 1;
      answer({ atMs: 0, keys: [""] });
    };
    await choose(pane, { kind: "option", index: 2 });
    // The capture that would have let Enter pass was not current any more: it walked on instead.
    expect(pressed(pane)).toEqual(["Down", "Down", "Down", "Enter"]);
    expect(menu.mark).toBe(2);
  });

  test("for an answer to another question, and where nothing is asked", async () => {
    const pane = menuPane();
    const answer = { kind: "option", index: 0 } as const;
    const other = choose(pane, answer, { dialogId: "2-y" });
    await expect(other).rejects.toMatchObject({ message: expect.stringContaining("a different question") as string });
    const delivery = engineAsked(pane);
    pane.become("idle");
    const idle = pane.during(delivery.choose({ server: pane.server, pane: pane.pane, answer }));
    await expect(idle).rejects.toMatchObject({ details: { state: "idle" } });
    for (const dialog of [undefined, { ...pane.state.dialog!, options: [] }]) {
      pane.state = { ...pane.state, dialog };
      pane.become("asking");
      const unreadable = pane.during(delivery.choose({ server: pane.server, pane: pane.pane, answer }));
      await expect(unreadable).rejects.toMatchObject({ details: { reason: "question_unreadable" } });
    }
    expect(pane.typed).toEqual([]);
  });

  test("for an answer that the dialog does not take", async () => {
    const pane = menuPane();
    for (const [answer, message] of [
      [{ kind: "option", index: 9 }, /has 4 options and none with the number 10$/],
      [{ kind: "multi", answers: [[0, 1]] }, /takes one option/],
      [{ kind: "multi", answers: [] }, /needs at least one/],
      [{ kind: "multi", answers: [[1], []] }, /needs at least one/],
      [{ kind: "other", text: " " }, /blank/],
    ] as const) {
      await expect(choose(pane, answer)).rejects.toThrow(message);
    }
    expect(pane.typed).toEqual([]);
  });
});

describe("questions one after the other", () => {
  const second = { mark: 0, question: "Which bundler?", labels: ["Vite", "Rollup"] };
  const review = { mark: 0, question: "Are these the answers?", labels: ["Submit answers", "Cancel"] };

  test.each<[string, readonly Menu[], number, readonly string[], object]>([
    [
      "are answered, and confirmed",
      [second, review],
      2,
      ["Down", "Enter", "Down", "Enter", "Enter"],
      { outcome: "submitted", enterPresses: 3 },
    ],
    [
      "are answered without a page to confirm them",
      [second],
      2,
      ["Down", "Enter", "Down", "Enter"],
      { outcome: "submitted", enterPresses: 2 },
    ],
    [
      "one that stands where they would be confirmed is not answered",
      [second, { ...second, question: "And?" }],
      2,
      ["Down", "Enter", "Down", "Enter"],
      { outcome: "submitted", enterPresses: 2 },
    ],
    [
      "the last of which stays leave it open",
      [second, second],
      2,
      ["Down", "Enter", "Down", "Enter"],
      { outcome: "echoed_unconfirmed", enterPresses: 2 },
    ],
  ])("%s", async (_what, next, pages, keys, expected) => {
    const menu: Menu = { mark: 0 };
    const left = [...next];
    const pane = menuPane(menu, (own, show) => {
      const page = left.shift();
      if (page === undefined) return own.draw(box("", "● done"), { col: 2, row: 2 });
      Object.assign(menu, page);
      show();
    });
    const answers = Array.from({ length: pages }, () => [1]);
    expect(await choose(pane, { kind: "multi", answers })).toMatchObject(expected);
    expect(pressed(pane)).toEqual(keys);
  });

  test("of which fewer come than were answered: it says how many", async () => {
    const pane = menuPane({ mark: 0 }, (own) => own.draw(box(""), { col: 2, row: 1 }));
    await expect(choose(pane, { kind: "multi", answers: [[0], [0]] })).rejects.toMatchObject({
      code: "WRONG_STATE",
      message: expect.stringContaining("asked 1 of 2 questions") as string,
      details: { textWritten: true },
    });
  });
});

describe("another text", () => {
  /** The last option, then what is typed after it. */
  const other = { kind: "other", text: "use Lit" } as const;
  const walk = ["Down", "Down", "Down", "Enter", "use Lit", "Enter"];
  const written = ({ typed }: FakePane): unknown[] => typed.map(({ paste, keys }) => paste ?? keys?.join("+"));

  /** @param opens what Enter on the option opens, with what is typed in it */
  function openingPane(opens: (text: string) => string[], entered: (pane: FakePane) => void) {
    let text: string | undefined;
    const draw = (pane: FakePane): void => {
      if (opens === box) pane.become("idle");
      const lines = opens(text ?? "");
      pane.draw(lines, { col: 2 + (text ?? "").length, row: lines.length - 2 });
    };
    const pane = menuPane({ mark: 0 }, (own) => {
      if (text !== undefined) return entered(own);
      text = "";
      draw(own);
    });
    const { answer } = pane;
    pane.answer = (typed) => {
      if (typed.paste === undefined) return answer(typed);
      text = (text ?? "") + typed.paste;
      draw(pane);
    };
    return pane;
  }
  const inField = (text: string): string[] => rows({ mark: 3, labels: [...LABELS.slice(0, 3), `Other: ${text}`] });

  test.each<[string, (text: string) => string[], (pane: FakePane) => void, object]>([
    [
      "is typed into the box behind the question",
      box,
      (pane) => pane.draw(box("", "> use Lit"), { col: 2, row: 2 }),
      { outcome: "submitted", confirmedBy: "screen", enterPresses: 2 },
    ],
    [
      "is typed into the question's own field",
      inField,
      (pane) => pane.draw(box("", "● done"), { col: 2, row: 2 }),
      { outcome: "submitted", confirmedBy: "screen", enterPresses: 2 },
    ],
    [
      "is typed into a field that does nothing",
      inField,
      () => undefined,
      { outcome: "echoed_unconfirmed", enterPresses: 2 },
    ],
    [
      "is typed into a field that does nothing but draw its cursor elsewhere for a moment",
      inField,
      (pane) => {
        const { lines, cursor } = pane;
        pane.draw(lines, { col: 0, row: 0 });
        pane.clock.callAt(pane.clock.nowMs() + 30, () => pane.draw(lines, cursor));
      },
      { outcome: "echoed_unconfirmed", enterPresses: 2 },
    ],
    [
      "is typed into a field of a program that shows nothing then",
      inField,
      (pane) => pane.draw(["●"], { col: 2, row: 1 }),
      { outcome: "echoed_unconfirmed", enterPresses: 2 },
    ],
    [
      "is typed into a field of a program that works then",
      inField,
      (pane) => (pane.draw(["●"], { col: 2, row: 1 }), pane.become("busy")),
      { outcome: "submitted", confirmedBy: "readiness", enterPresses: 2 },
    ],
  ])("%s", async (_what, opens, entered, expected) => {
    const pane = openingPane(opens, entered);
    expect(await choose(pane, other)).toMatchObject(expected);
    expect(written(pane)).toEqual(walk);
  });

  test.each<[string, string[], object]>([
    ["another question has opened", rows({ mark: 0, question: "Delete everything?" }), { state: "asking" }],
    ["the box has somebody's text", box("half"), { reason: "box_not_empty", box: "half" }],
  ])("is not typed where %s", async (_what, lines, details) => {
    const pane = openingPane(
      () => lines,
      () => undefined,
    );
    await expect(choose(pane, other)).rejects.toMatchObject({
      code: "WRONG_STATE",
      details: { ...details, textWritten: true },
    });
    expect(written(pane)).toEqual(walk.slice(0, 4));
  });

  test("is typed once the key that asks for it shows its effect", async () => {
    const pane = openingPane(inField, () => undefined);
    const { answer } = pane;
    pane.answer = (typed) => {
      if (typed.keys?.[0] !== "Enter" || pane.typed.length > 4) return answer(typed);
      pane.clock.callAt(pane.clock.nowMs() + 500, () => answer(typed));
    };
    await choose(pane, other);
    expect(written(pane)).toEqual(walk);
    expect(pane.typed[4]!.atMs - pane.typed[3]!.atMs).toBeGreaterThanOrEqual(500);
  });

  test("is not taken by a question that has no place for it", async () => {
    const pane = menuPane({ mark: 0, labels: ["Yes", "No"] });
    await expect(choose(pane, other)).rejects.toMatchObject({
      code: "WRONG_STATE",
      message: expect.stringContaining("no other text") as string,
    });
    expect(pane.typed).toEqual([]);
  });
});

describe("after the last key", () => {
  const answer = { kind: "option", index: 0 } as const;

  const unknown = { outcome: "echoed_unconfirmed" };
  const taken = { outcome: "submitted", confirmedBy: "screen" };
  /** With the time that it takes: an agent is seen to go on for 100 ms. */
  test.each<[string, Entered, object, number]>([
    ["an agent that ends may not have taken it", (pane) => pane.stream.declareExit({ exitCode: 0 }), unknown, 0],
    [
      "a lost connection leaves it open",
      (pane) => pane.stream.close(new AppError("CONNECTION_LOST", "gone")),
      { outcome: "indeterminate" },
      0,
    ],
    ["a question that stays leaves it open", () => undefined, unknown, 1_000],
    ["the box is one", (pane) => pane.draw(box("")), taken, 100],
    ["another question is one", (pane) => pane.draw(rows({ mark: 0, question: "And?" })), taken, 140],
    [
      "a part of it that is being drawn leaves it open",
      (pane, show) => (
        pane.draw(rows({ mark: 0, labels: LABELS.slice(0, 2) })),
        pane.clock.callAt(pane.clock.nowMs() + 20, show)
      ),
      unknown,
      1_000,
    ],
    [
      "a question that never holds still is one, after a while",
      (pane) => {
        pane.afterCapture = (count) => pane.draw(rows({ mark: 0, question: `And ${count}?` }));
        pane.draw(rows({ mark: 0, question: "And?" }));
      },
      taken,
      1_100,
    ],
    ["an agent at work is one", (pane) => (pane.draw(["●"]), pane.become("busy")), taken, 100],
    [
      "an agent that is at work before its frame is",
      (pane) => (pane.become("busy"), pane.clock.callAt(pane.clock.nowMs() + 300, () => pane.draw(["●"]))),
      taken,
      400,
    ],
    [
      "an agent that draws first and says later that it works is",
      (pane) => (pane.draw(["●"]), pane.clock.callAt(pane.clock.nowMs() + 300, () => pane.become("busy"))),
      taken,
      400,
    ],
    ["a screen that shows nothing known is one, after a while", (pane) => pane.draw(["●"]), taken, 1_100],
    [
      "a pane that is gone leaves it open",
      (pane) => Object.assign(pane.server, { findPane: () => undefined }),
      unknown,
      1_000,
    ],
    [
      "a pane that cannot be captured any more leaves it open",
      (pane) => (
        Object.assign(pane.server, { capture: () => Promise.reject(new AppError("NOT_FOUND", "gone")) }),
        pane.say(".")
      ),
      unknown,
      0,
    ],
  ])("%s", async (_what, entered, expected, tookMs) => {
    const pane = menuPane({ mark: 0 }, entered);
    expect(await choose(pane, answer)).toMatchObject({ ...expected, enterPresses: 1, firstByteMs: 4, enterMs: 4 });
    const reallyMs = pane.clock.nowMs();
    expect(reallyMs >= tookMs && reallyMs < tookMs + 60, `${reallyMs} ms`).toBe(true);
  });

  test.each<[string, (program: ReturnType<typeof inFront>) => unknown, readonly string[], number]>([
    ["is told to end", ({ signals }) => (signals.pending = 1n << 14n), box(""), 2_000],
    ["ends, with its box drawn", ({ stat }) => (stat.state = "Z"), box(""), 0],
    ["ends, with its box away", ({ stat }) => (stat.state = "Z"), ["●"], 0],
  ])("an agent that %s may not have taken it", async (_what, act, lines, tookMs) => {
    const pane = menuPane({ mark: 0 }, (own) => (own.draw(lines), void act(program)));
    const program = inFront(pane, "claude");
    expect(await choose(pane, answer)).toMatchObject({ ...unknown, enterPresses: 1 });
    const reallyMs = pane.clock.nowMs();
    expect(reallyMs >= tookMs && reallyMs < tookMs + 60, `${reallyMs} ms`).toBe(true);
  });

  test.each<[string, Entered, object]>([
    [
      "ends has",
      (pane) => pane.stream.declareExit({ exitCode: 0 }),
      { outcome: "submitted", confirmedBy: "readiness" },
    ],
    ["draws something else has", (pane) => pane.draw(["$ "]), taken],
    ["keeps its question has not", () => undefined, unknown],
    [
      "keeps it, and draws it in parts, has not",
      (pane, show) => (pane.draw([]), pane.clock.callAt(pane.clock.nowMs() + 20, show)),
      unknown,
    ],
    [
      "goes with its pane has",
      (pane) => Object.assign(pane.server, { findPane: () => undefined }),
      { outcome: "submitted", confirmedBy: "readiness" },
    ],
  ])("a program that is no agent and %s taken it", async (what, entered, expected) => {
    const pane = menuPane({ mark: 0 }, entered, "generic");
    expect(await choose(pane, answer)).toMatchObject(expected);
    // Where the screen says so there is nothing to wait for.
    expect(pane.clock.nowMs() < 100).toBe(!/keeps|goes/.test(what));
  });
});

test("who keeps a history is told the answer to which question, once per key", async () => {
  const told: unknown[] = [];
  const pane = menuPane();
  const delivery = engineAsked(pane, ({ by, what }) => {
    told.push(by, what);
    return (outcome) => told.push(outcome);
  });
  const answer = { kind: "option", index: 1 } as const;
  const request = { server: pane.server, pane: pane.pane, answer, dialogId: "1-x", by: "me", idempotencyKey: "k" };
  await pane.during(delivery.choose(request));
  expect(await delivery.choose(request)).toMatchObject({ outcome: "submitted", repeated: true });
  const another = { ...request, answer: { ...answer, index: 0 } };
  await expect(delivery.choose(another)).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
  expect(told).toEqual(["me", { kind: "answer", answer, dialogId: "1-x" }, "submitted"]);
});
