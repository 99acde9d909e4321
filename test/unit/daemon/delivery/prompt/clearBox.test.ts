/** Emptying a box of any number of lines, as long as it holds what is meant, by keys of which each is seen to do something. */
import { describe, expect, test } from "vitest";
import { DeliveryEngine } from "../../../../../daemon/delivery/deliveryEngine.ts";
import { RULE } from "../../../../support/agents/boxPane.ts";
import { FakePane } from "../../../../support/agents/fakePane.ts";

/** A box of lines with a cursor in it that obeys the keys of a line editor. */
class Editor extends FakePane {
  held: string[];
  at: { row: number; col: number };

  constructor(text: string, at?: { row: number; col: number }) {
    super("claude");
    this.held = text.split("\n");
    this.at = at ?? { row: this.held.length - 1, col: this.held.at(-1)!.length };
    this.answer = ({ keys: [key] = [] }) => {
      const before = this.text;
      this.press(key);
      if (this.text !== before) this.show();
    };
    this.show();
  }

  get text(): string {
    return this.held.join("\n");
  }

  press(key: string | undefined): void {
    const { row, col } = this.at;
    const line = this.held[row]!;
    if (key === "C-u") [this.held[row], this.at] = [line.slice(col), { row, col: 0 }];
    if (key === "C-k") this.held[row] = line.slice(0, col);
    if (key === "BSpace" && col === 0 && row > 0) {
      const above = this.held[row - 1]!;
      this.held.splice(row - 1, 2, above + line);
      this.at = { row: row - 1, col: above.length };
    } else if (key === "BSpace" && col > 0) {
      this.held[row] = line.slice(0, col - 1) + line.slice(col);
      this.at = { row, col: col - 1 };
    }
    if (key === "DC" && col === line.length && row < this.held.length - 1) {
      this.held.splice(row, 2, line + this.held[row + 1]!);
    }
  }

  show(): void {
    const rows = this.held.map((line, index) => (index === 0 ? "❯ " : "  ") + line);
    this.draw([RULE, ...rows, RULE], { col: 2 + this.at.col, row: 1 + this.at.row });
  }
}

const pressed = ({ typed }: FakePane): readonly string[] => typed.map(({ keys }) => keys?.[0] ?? "");
const clear = (pane: FakePane, only: string) =>
  pane.during(
    new DeliveryEngine({ readiness: pane.readiness, clock: pane.clock, nowUnixMs: () => 0 }).clear(
      pane.server,
      pane.pane,
      { only },
    ),
  );

describe("a box is emptied", () => {
  test.each<[string, string, { row: number; col: number } | undefined, readonly string[]]>([
    ["of nothing", "", undefined, []],
    ["of one line", "one", undefined, ["C-u"]],
    [
      "of several, each before it is joined to the one above",
      "one\ntwo\nthree",
      undefined,
      ["C-u", "C-u", "BSpace", "C-u", "C-u", "BSpace", "C-u"],
    ],
    ["of what stands behind the cursor", "one", { row: 0, col: 0 }, ["C-u", "BSpace", "C-k"]],
    ["of lines below the cursor", "one\ntwo", { row: 0, col: 0 }, ["C-u", "BSpace", "C-k", "C-k", "DC", "C-k"]],
    ["of what stands around the cursor", "one two", { row: 0, col: 3 }, ["C-u", "C-u", "BSpace", "C-k"]],
  ])("%s", async (_what, text, at, keys) => {
    const pane = new Editor(text, at);
    await clear(pane, text);
    expect([pane.text, pressed(pane)]).toEqual(["", keys]);
  });

  test.each<[string, (rows: readonly string[], presses: number) => readonly string[], number]>([
    ["above a clock that goes on", (rows, presses) => [...rows, `12:00:0${presses}`], 0],
    ["below lines that come", (rows, presses) => [...Array.from({ length: presses }, () => "● more"), ...rows], 1],
  ])("of several lines, %s meanwhile", async (_what, around, down) => {
    const pane = new Editor("one\ntwo");
    const { answer } = pane;
    pane.answer = (typed) => {
      answer(typed);
      pane.show();
      const presses = pane.typed.length;
      const { col, row } = pane.cursor;
      pane.draw(around(pane.lines, presses), { col, row: row + down * presses });
    };
    await clear(pane, "one\ntwo");
    expect([pane.text, pressed(pane)]).toEqual(["", ["C-u", "C-u", "BSpace", "C-u"]]);
  });

  test("of a line that is drawn in two writes", async () => {
    const pane = new Editor("one");
    const { answer } = pane;
    pane.answer = (typed) => {
      pane.say(".");
      pane.clock.callAt(typed.atMs + 20, () => answer(typed));
    };
    await clear(pane, "one");
    expect(pressed(pane)).toEqual(["C-u"]);
  });

  test("by so many keys at most, of a program that puts back what they take", async () => {
    const pane = new Editor("one");
    pane.answer = () => {
      pane.held = [pane.text === "one" ? "on" : "one"];
      pane.show();
    };
    await clear(pane, "one");
    expect(pressed(pane)).toHaveLength(120);
  });
});

describe("a box is left", () => {
  const changed = { code: "WRONG_STATE", details: { reason: "box_changed" } };

  test("by keys that change nothing, each of them once", async () => {
    const pane = new Editor("one");
    pane.answer = () => undefined;
    await clear(pane, "one");
    expect(pressed(pane)).toEqual(["C-u", "BSpace", "C-k", "DC"]);
    expect(pane.clock.nowMs()).toBeGreaterThanOrEqual(4 * 120);
  });

  test.each<[string, string, string]>([
    ["to somebody's text", "one", "other"],
    ["to a part of the text, before a key was pressed", "one two", "one"],
  ])("%s", async (_what, only, text) => {
    const pane = new Editor(text);
    await expect(clear(pane, only)).rejects.toMatchObject(changed);
    expect(pane.typed).toEqual([]);
  });

  test("to who types in between", async () => {
    const pane = new Editor("one\ntwo");
    const { answer } = pane;
    pane.answer = (typed) => {
      answer(typed);
      pane.held[1] += "mine";
      pane.show();
    };
    await expect(clear(pane, "one\ntwo")).rejects.toMatchObject(changed);
    expect(pressed(pane)).toEqual(["C-u"]);
  });

  test("to a question, whether it is seen or said", async () => {
    const pane = new Editor("one");
    pane.draw(["Bash command", "", "Do you want to proceed?", "❯ 1. Yes", "  2. No, and tell Claude what to do (esc)"]);
    await expect(clear(pane, "one")).rejects.toMatchObject({ details: { state: "asking", options: 2 } });
    const saying = new Editor("one");
    saying.become("asking");
    await expect(clear(saying, "one")).rejects.toMatchObject({ details: { state: "asking" } });
    expect([pane.typed, saying.typed]).toEqual([[], []]);
  });

  test("and who reads no box is not emptied of one text alone", async () => {
    const pane = new FakePane("generic");
    await expect(clear(pane, "one")).rejects.toMatchObject(changed);
    expect(pane.typed).toEqual([]);
  });

  test("by a program that is too slow", async () => {
    const pane = new Editor("x\n".repeat(30).trim());
    const { answer } = pane;
    pane.answer = (typed) => {
      pane.clock.advanceMs(1_000);
      answer(typed);
    };
    await expect(clear(pane, pane.text)).rejects.toMatchObject({ code: "TIMEOUT" });
    expect(pressed(pane).length).toBeLessThanOrEqual(10);
  });
});
