/** Keys in a dialog that is moved by hand: one at a time, each on a screen that shows what the one before did. */
import { describe, expect, test } from "vitest";
import { DeliveryEngine } from "../../../../../daemon/delivery/deliveryEngine.ts";
import type { DialogAnswer } from "../../../../../daemon/delivery/delivery.ts";
import { judge } from "../../../../../daemon/delivery/screen/screenCapture.ts";
import { FakePane } from "../../../../support/agents/fakePane.ts";
import { profileNamed } from "../../../../support/agents/agentCatalogue.ts";

const LABELS = ["React", "Preact", "Svelte", "Other"];

interface Menu {
  mark: number;
  checked?: Set<number>;
}

function rows({ mark, checked }: Menu, question: string): string[] {
  const tick = (index: number): string => (checked === undefined ? "" : `[${checked.has(index) ? "x" : " "}] `);
  const options = LABELS.map((label, index) => `${index === mark ? "❯" : " "} ${tick(index)}${label}`);
  return [question, "", ...options, "", "Enter to select · ↑/↓ to navigate"];
}

/** A list that obeys Up, Down, Space and Enter. */
function menuPane(menu: Menu = { mark: 0 }, question = "Which library should be used?") {
  const pane = new FakePane("claude");
  const cursor = { col: 0, row: 10 };
  const show = (): void => pane.draw(rows(menu, question), cursor);
  show();
  pane.answer = ({ keys: [key] = [] }) => {
    if (key === "Down") menu.mark += 1;
    else if (key === "Up") menu.mark -= 1;
    else if (key === "Space" && menu.checked?.delete(menu.mark) === false) menu.checked.add(menu.mark);
    if (key === "Enter") pane.draw(["● done"], { col: 0, row: 1 });
    else show();
  };
  return pane;
}

function choose(pane: FakePane, answer: DialogAnswer) {
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
  const delivery = new DeliveryEngine({ readiness: pane.readiness, clock: pane.clock, nowUnixMs: () => 0 });
  return pane.during(delivery.choose({ server: pane.server, pane: pane.pane, answer }));
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
    pane.answer = () => pane.draw(rows({ mark: 1 }, "Delete everything?"), { col: 0, row: 10 });
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
