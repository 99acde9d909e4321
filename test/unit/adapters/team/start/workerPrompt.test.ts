/** Prompts reach pi as they stand: a guard where pi would do something with them, and the hook takes it away. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { GUARD, guardPrompt, unguardPrompt } from "../../../../../adapters/team/start/workerPrompt.ts";

/** What pi 0.74.2 makes of a text that is submitted. */
const asPiSubmits = (text: string): string => text.trim();
const isCommand = (text: string): boolean => /^[!/]/.test(text);

test.each(["!ls", "  !ls", "/quit", "\n/quit", "!!x", "/"])("%j is no command of pi's", (text) => {
  expect(isCommand(asPiSubmits(text))).toBe(true);
  expect(isCommand(asPiSubmits(guardPrompt(text)))).toBe(false);
});

test("most prompts are typed as they are", () => {
  for (const text of ["hello", "a\nb", "-x", "say !", "a/b", "é"]) expect(guardPrompt(text)).toBe(text);
});

test("a backslash at the end would make pi take Enter for a new line", () => {
  expect(guardPrompt("a\\")).toBe(`a\\${GUARD}`);
});

test("what the model gets is what was meant, whatever it was", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
      fc.pre(text.trim() !== "" && !text.startsWith(GUARD) && !text.endsWith(GUARD));
      const got = unguardPrompt(asPiSubmits(guardPrompt(text)));
      expect(got).toBe(text.startsWith("/") ? ` ${text}` : text);
      // Templates are looked for after the hook has had its say.
      expect(got.startsWith("/")).toBe(false);
    }),
  );
});
