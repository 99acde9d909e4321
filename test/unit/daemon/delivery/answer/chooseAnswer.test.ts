/** Keys in a dialog that is moved by hand: one at a time, each on a screen that shows what the one before did. */
import { describe, expect, test } from "vitest";
import { DeliveryEngine, type DeliveryOptions } from "../../../../../daemon/delivery/deliveryEngine.ts";
import type { ChooseRequest, DialogAnswer } from "../../../../../daemon/delivery/delivery.ts";
import { judge } from "../../../../../daemon/delivery/screen/screenCapture.ts";
import { AppError } from "../../../../../protocol/errors.ts";
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
function menuPane(menu: Menu = { mark: 0 }, entered: Entered = (pane) => pane.draw(["● done"], { col: 0, row: 1 })) {
  const pane = new FakePane("claude");
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
  const { dialog } = judge(capture, profileNamed("claude"));
  if (dialog === undefined) throw new Error("no dialog");
  pane.state = { ...pane.state, state: "asking", dialog: { ...dialog, id: "1-x" } };
  return new DeliveryEngine({ readiness: pane.readiness, clock: pane.clock, nowUnixMs: () => 0, onTyping });
}

function choose(pane: FakePane, answer: DialogAnswer, more: Partial<ChooseRequest> = {}, onTyping?: OnTyping) {
  return pane.during(engineAsked(pane, onTyping).choose({ server: pane.server, pane: pane.pane, answer, ...more }));
}

const pressed = ({ typed }: FakePane): readonly string[] => typed.flatMap(({ keys = [] }) => keys.join("+"));

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

  test("of which some are chosen already ends as it was asked for", async () => {
    const checked = new Set([1, 2]);
    const pane = menuPane({ mark: 0, checked });
    await choose(pane, { kind: "multi", answers: [[0, 2]] });
    expect(pressed(pane)).toEqual(["Space", "Down", "Space", "Enter"]);
    expect([...checked].sort((a, b) => a - b)).toEqual([0, 2]);
  });
});

describe("no key is pressed", () => {
  test("after one whose effect is not seen", async () => {
    const pane = menuPane();
    pane.answer = () => undefined;
    await expect(choose(pane, { kind: "option", index: 2 })).rejects.toMatchObject({
      code: "WRONG_STATE",
      message: expect.stringContaining("did not move") as string,
    });
    expect(pressed(pane)).toEqual(["Down"]);
  });

  test("in another dialog that takes the place of this one", async () => {
    const pane = menuPane();
    pane.answer = () => pane.draw(rows({ mark: 1, question: "Delete everything?" }), { col: 0, row: 10 });
    await expect(choose(pane, { kind: "option", index: 2 })).rejects.toMatchObject({ code: "WRONG_STATE" });
    expect(pressed(pane)).toEqual(["Down"]);
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
    pane.state = { ...pane.state, dialog: { ...pane.state.dialog!, options: [] } };
    pane.become("asking");
    const unreadable = pane.during(delivery.choose({ server: pane.server, pane: pane.pane, answer }));
    await expect(unreadable).rejects.toMatchObject({ details: { reason: "question_unreadable" } });
    expect(pane.typed).toEqual([]);
  });

  test("for an answer that the dialog does not take", async () => {
    const pane = menuPane();
    for (const answer of [
      { kind: "option", index: 9 },
      { kind: "multi", answers: [[0, 1]] },
      { kind: "multi", answers: [] },
      { kind: "other", text: " " },
    ] as const) {
      await expect(choose(pane, answer)).rejects.toMatchObject({
        code: expect.stringMatching(/WRONG_STATE|INVALID/) as string,
      });
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

  test.each<[string, Entered, object]>([
    [
      "an agent that ends may not have taken it",
      (pane) => pane.stream.declareExit({ exitCode: 0 }),
      { outcome: "echoed_unconfirmed" },
    ],
    [
      "a lost connection leaves it open",
      (pane) => pane.stream.close(new AppError("CONNECTION_LOST", "gone")),
      { outcome: "indeterminate" },
    ],
    ["a question that stays leaves it open", () => undefined, { outcome: "echoed_unconfirmed" }],
    ["the box is one", (pane) => pane.draw(box("")), { outcome: "submitted", confirmedBy: "screen" }],
    [
      "another question is one",
      (pane) => pane.draw(rows({ mark: 0, question: "And?" })),
      { outcome: "submitted", confirmedBy: "screen" },
    ],
    [
      "an agent at work is one",
      (pane) => (pane.draw(["●"]), pane.become("busy")),
      { outcome: "submitted", confirmedBy: "screen" },
    ],
    [
      "a pane that is gone leaves it open",
      (pane) => Object.assign(pane.server, { findPane: () => undefined }),
      { outcome: "echoed_unconfirmed" },
    ],
  ])("%s", async (_what, entered, expected) => {
    expect(await choose(menuPane({ mark: 0 }, entered), answer)).toMatchObject({ ...expected, enterPresses: 1 });
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
