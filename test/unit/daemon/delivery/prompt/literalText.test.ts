/** `literal` is honoured or refused, per program and character, as measured with the programs (docs/agentFacts.md). */
import { describe, expect, test } from "vitest";
import { literalText } from "../../../../../daemon/delivery/prompt/literalText.ts";
import { profileNamed } from "../../../../support/agents/agentCatalogue.ts";

const REFUSED = "refused";

function kept(profile: string, text: string): string {
  try {
    return literalText(profileNamed(profile), text);
  } catch (error) {
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", details: { profile } });
    expect((error as Error).message).toContain(profile);
    return REFUSED;
  }
}

describe.each([
  ["claude", { "!": " !ls", "/": " /help", "#": "#note", "@": REFUSED }],
  ["codex", { "!": " !ls", "/": " /help", "#": "#note", "@": "@file" }],
  ["gemini", { "!": "!ls", "/": REFUSED, "#": "#note", "@": REFUSED }],
  ["opencode", { "!": "!ls", "/": " /help", "#": "#note", "@": "@file" }],
  ["pi", { "!": "\u200b!ls", "/": "\u200b/help", "#": "#note", "@": "@file" }],
  ["generic", { "!": REFUSED, "/": REFUSED, "#": REFUSED, "@": REFUSED }],
  ["shell", { "!": REFUSED, "/": REFUSED, "#": REFUSED, "@": REFUSED }],
] as const)("%s", (profile, expected) => {
  test("each character that may be a command", () => {
    const texts = { "!": "!ls", "/": "/help", "#": "#note", "@": "@file" };
    expect(Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, kept(profile, text)]))).toEqual(
      expected,
    );
  });

  test("other texts stay as they are", () => {
    for (const text of ["hello", " hello", "a/b #1 !x me@example.org", "two\n/lines"]) {
      expect(kept(profile, text)).toBe(text);
    }
  });
});

test("a file that is named inside the text is read too", () => {
  expect(kept("claude", "see @notes.txt")).toBe(REFUSED);
  expect(kept("gemini", "see\n@notes.txt")).toBe(REFUSED);
  expect(kept("codex", "see @notes.txt")).toBe("see @notes.txt");
});

test("blanks before a command do not hide it; a text that is kept already is not kept twice", () => {
  expect(kept("gemini", "  /help")).toBe(REFUSED);
  expect(kept("claude", " /help")).toBe(" /help");
  expect(kept("claude", "\n/help")).toBe(" \n/help");
});
