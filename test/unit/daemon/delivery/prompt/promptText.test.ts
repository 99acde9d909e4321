import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bracketedPasteOf } from "../../../../../daemon/delivery/pane/bracketedPaste.ts";
import { needsBrackets, promptText } from "../../../../../daemon/delivery/prompt/promptText.ts";
import { PaneStream } from "../../../../../daemon/panes/paneStream.ts";

describe("a prompt", () => {
  test.each([
    ["a\r\nb\rc\n", "a\nb\nc\n"],
    ["\ta", "\ta"],
    ["\u200b/help", "\u200b/help"],
  ])("%j is given as %j", (text, prompt) => {
    expect(promptText(text)).toBe(prompt);
  });

  test.each(["", " \n\t", "a\0", "\u0003", "a\u001b[201~\rb", "\u007f", "\u009b201~", "\ud800", "x".repeat(1_048_577)])(
    "%j is refused",
    (text) => {
      expect(() => promptText(text)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    },
  );

  test("never holds a key: what could end a paste or press Enter", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        let prompt = "";
        try {
          prompt = promptText(text);
        } catch {
          return;
        }
        expect(prompt).not.toMatch(/[^\P{Cc}\n\t]/u);
      }),
    );
  });

  test.each([
    ["a b", false],
    ["a\nb", true],
    ["a\tb", true],
  ])("%j needs brackets: %j", (text, needed) => {
    expect(needsBrackets(text)).toBe(needed);
  });
});

test.each([
  ["", "unknown"],
  ["plain 2004 text", "unknown"],
  ["\u001b[?2004h$ ", "on"],
  ["\u001b[?2004h$ ls\r\n\u001b[?2004l\r", "off"],
  ["\u001b[?2004l\u001b[?1049;2004;25hx", "on"],
  ["\u001b[?2004h then 2004 and 12004h", "on"],
])("bracketed paste after %j is %s", (output, expected) => {
  const stream = new PaneStream({ id: "%1", epoch: "e", retainBytes: 1_000, onListenerError: () => undefined });
  stream.take(Buffer.from(output));
  expect(bracketedPasteOf(stream)).toBe(expected);
});
