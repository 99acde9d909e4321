/** What a person has typed into a box in which the program suggests a prompt, drawn as Qwen Code 0.24.4 draws it. */
import { expect, test } from "vitest";
import { judge } from "../../../../../daemon/delivery/screen/screenCapture.ts";
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
])("%s in Qwen's box is read for what it is", (_, row, expected) => {
  expect(typed("qwen", row)).toBe(expected);
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
