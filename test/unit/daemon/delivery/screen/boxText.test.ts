/** What a person has typed into a box in which the program suggests a prompt, drawn as Qwen Code 0.24.4 draws it. */
import { expect, test } from "vitest";
import type { PaneWatch } from "../../../../../daemon/delivery/pane/paneWatch.ts";
import { captureIfThere, goesOn, judge, takeCapture } from "../../../../../daemon/delivery/screen/screenCapture.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import { profileNamed } from "../../../../support/agents/agentCatalogue.ts";

const MARK = "\u001b[38;2;203;166;247m";
const RULE = `\u001b[38;2;137;180;250m${"─".repeat(60)}`;

function typed(name: string, ...rows: readonly string[]): string | undefined {
  const lines = [RULE, ...rows, `\u001b[0m${RULE}`, "\u001b[39m  ? for shortcuts"];
  const position = { epoch: "e", outputSeq: 0 };
  const screen = { cols: 60, rows: 24, cursor: { col: 2, row: 1 }, alternateScreen: false, historyLines: 0 };
  return judge({ lines, position, exact: true, ...screen }, profileNamed(name)).box?.typed;
}

test.each([
  ["a suggestion", `${MARK}> \u001b[4m\u001b[39mR\u001b[0m\u001b[38;2;108;112;134mun the tests`, ""],
  ["a text", `${MARK}> \u001b[39mrun the tests\u001b[4m\u200b`, "run the tests\u200b"],
  ["a text with the cursor on its first letter", `${MARK}> \u001b[4m\u001b[39mr\u001b[0mun the tests`, "run the tests"],
  ["a file's name, which has a colour", `${MARK}> @notes\u001b[39m\u001b[4m\u200b`, "@notes\u200b"],
  ["one letter", `${MARK}> \u001b[39mr\u001b[4m\u200b`, "r\u200b"],
  ["one letter under the cursor", `${MARK}> \u001b[39m\u001b[4mr`, "r"],
  ["a text that ends with a file's name", `${MARK}> \u001b[4m\u001b[39mr\u001b[0mun \u001b[36m@notes`, "run @notes"],
  ["a coloured word whose first letter is not the cursor", `${MARK}> \u001b[39mR\u001b[36mun`, "Run"],
  ["a coloured word under the cursor", `${MARK}> \u001b[4;36mR\u001b[24mun`, "Run"],
  ["a suggestion with blanks of no colour", `${MARK}> \u001b[4;39mR\u001b[24;36mun\u001b[39m \u001b[36mit`, ""],
])("%s in Qwen's box is read for what it is", (_, row, expected) => {
  expect(typed("qwen", row)).toBe(expected);
});

test.each([
  ["a hint", "❯ \u001b[2mTry this\u001b[0m", ""],
  ["a hint whose first letter is under the cursor", "❯ \u001b[7mT\u001b[0;2mry this", ""],
  ["a hint with a link", "❯ \u001b[2mTry \u001b]8;;x\u001b\\this", ""],
  ["a text and what would complete it", "❯ run \u001b[2mthe tests", "run"],
  ["one letter and what would complete it", "❯ r\u001b[2mun", "r"],
  ["two letters, the cursor on the first", "❯ \u001b[7mr\u001b[27mu\u001b[2mn", "ru"],
])("%s in a box without suggestions of its own is read for what it is", (_, row, expected) => {
  expect(typed("claude", row)).toBe(expected);
});

test("a row goes on with the pen of the row before it, and with none of a later one", () => {
  expect(typed("claude", "❯ run \u001b[2m", "  the tests")).toBe("run");
  expect(typed("claude", "❯ run", "  it\u001b[2m")).toBe("run\nit");
  expect(typed("qwen", `${MARK}> \u001b[4;39mR\u001b[24;36mun`, "  the tests")).toBe("");
});

test("a hint that a narrow pane wraps is no text", () => {
  expect(typed("qwen", "> Type your message or", "  @path/to/file")).toBe("");
  expect(typed("qwen", "> Type your message", "  or @path/to/file")).toBe("");
  expect(typed("qwen", "> Type your message", "  to him")).toBe("Type your message\nto him");
});

test("what looks like a suggestion is a text to a program that makes none", () => {
  const row = `${MARK}❯ \u001b[4m\u001b[39mR\u001b[0m\u001b[38;2;108;112;134mun the tests`;
  expect(typed("copilot", row)).toBe("Run the tests");
});

test("the time behind a prompt that was taken is no part of the text", () => {
  const lines = [" ❯ run the tests        09:25 ┃", " ❯ at 09:25"];
  const position = { epoch: "e", outputSeq: 0 };
  const screen = { cols: 60, rows: 24, cursor: { col: 2, row: 1 }, alternateScreen: false, historyLines: 0 };
  const seen = judge({ lines, position, exact: true, ...screen }, profileNamed("copilot"));
  expect(seen.screen.lines.map((row) => row.trimEnd())).toEqual(["❯ run the tests", "❯ at 09:25"]);
});

test("colours are asked for where a profile goes by them; a program goes on where it shows a box, or could show none", async () => {
  const capture = { lines: ["out of place"], position: { epoch: "e", outputSeq: 0 }, exact: true, cols: 60, rows: 24 };
  const asked: boolean[] = [];
  const take = async (ansi: boolean) => {
    asked.push(ansi);
    return { ...capture, cursor: { col: 0, row: 0 } };
  };
  const watch = { capture: take } as unknown as PaneWatch;
  const boxed = profileNamed("claude");
  const bare = {
    ...boxed,
    screen: { ...boxed.screen, promptBox: undefined },
    dialog: { ...boxed.dialog, buttons: [] },
  };
  const buttons = { ...bare, dialog: { ...bare.dialog, buttons: ["Yes, go on"] } };
  const seen = [await takeCapture(watch, boxed), await takeCapture(watch, bare), await takeCapture(watch, buttons)];
  expect([asked, seen.map(goesOn)]).toEqual([
    [true, false, true],
    [false, true, true],
  ]);
  expect(goesOn({ ...seen[0]!, profile: { ...boxed, kind: "shell" } })).toBe(true);
});

test("a pane that has gone is no screen; whatever else fails is thrown", async () => {
  const failing = (thrown: Error) => ({ capture: () => Promise.reject(thrown) }) as unknown as PaneWatch;
  const claude = profileNamed("claude");
  expect(await captureIfThere(failing(new AppError("NOT_FOUND", "gone")), claude)).toBeUndefined();
  for (const error of [new AppError("CONNECTION_LOST", "lost"), Object.assign(new Error("x"), { code: "NOT_FOUND" })]) {
    await expect(captureIfThere(failing(error), claude)).rejects.toBe(error);
  }
});
