/** What a stream has said about a shell's prompt, and whether that is still the first row since. */
import { expect, test } from "vitest";
import { PromptSigns } from "../../../../../daemon/panes/vt/promptSigns.ts";
import { MemorySource } from "../../../../support/daemon/memorySource.ts";

const [PROMPT, COMMAND] = ["\u001b]133;A\u0007", "\u001b]133;C\u0007"];

test.each<[string, string, Partial<PromptSigns>]>([
  ["nothing yet", "$ ", { isFresh: true, isFirstRow: true, isAtMarkedPrompt: false, isEditing: undefined }],
  ["a line before the prompt", "login\n$ ", { isFresh: true, isFirstRow: false }],
  ["an editor that reads", "\u001b[?2004h$ ", { isFresh: false, isEditing: true, isFirstRow: true }],
  ["a marked prompt", `\n${PROMPT}$ `, { isFresh: false, isAtMarkedPrompt: true, isFirstRow: true, mark: "prompt" }],
  ["a second row of one", `\n${PROMPT}$ a\n> `, { isAtMarkedPrompt: true, isFirstRow: false }],
  ["a command after one", `${PROMPT}$ \n${COMMAND}`, { isAtMarkedPrompt: false, isFirstRow: false, mark: "command" }],
  ["a command of which no line has come", `\n${PROMPT}$ ${COMMAND}`, { isFirstRow: false }],
])("%s", (_what, output, expected) => {
  const source = new MemorySource();
  const signs = new PromptSigns(source);
  source.write(output);
  signs.readOn();
  expect(signs).toMatchObject(expected);
  signs.ownEndSeq = source.outputSeq;
  expect(signs.isFirstRow).toBe(true);
  source.write("\n");
  signs.readOn();
  expect(signs.isFirstRow).toBe(false);
});

test("a shell whose prompt was shown is not fresh", () => {
  const signs = new PromptSigns(new MemorySource());
  signs.emptyRow = "$ ";
  expect([signs.isFresh, signs.shownAstray]).toEqual([false, 0]);
});
