/** The encoder: one ASCII line that no line end, comment or expansion can be made of, and that means what went in. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { isQuotable, quote, quoteLiteralFormat } from "../../protocol/command/encode.ts";
import { fuzz, FUZZ_TIMEOUT_MS } from "../support/tmux/fuzz.ts";

/** What tmux's lexer makes of a double-quoted word of plain characters and three-digit escapes. */
function unquote(quoted: string): Buffer {
  expect(quoted).toMatch(/^"(?:[^"\\$~#;']|\\[0-7]{3})*"$/);
  expect(quoted).toMatch(/^[ -~]*$/);
  const text = quoted
    .slice(1, -1)
    .replaceAll(/\\([0-7]{3})/g, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
  return Buffer.from(text, "latin1");
}

const quotableBytes = fc.uint8Array({ maxLength: 120 }).map((bytes) => bytes.filter((byte) => byte % 255 !== 0));
const text = fc
  .array(fc.oneof(fc.string({ unit: "binary", maxLength: 9 }), fc.constantFrom("#", "##", "[", "(", "{", ";", "\n")))
  .map((parts) => parts.join("").replaceAll("\0", ""));

test(
  "bytes and text come back as they went in",
  () => {
    fc.assert(
      fc.property(quotableBytes, text, (bytes, words) => {
        expect(isQuotable(bytes)).toBe(true);
        expect(Buffer.compare(unquote(quote(bytes)), bytes)).toBe(0);
        expect(unquote(quote(words)).toString()).toBe(words);
        expect(
          unquote(quoteLiteralFormat(words))
            .toString()
            .replaceAll(/##(?!#*\[)/g, "#"),
        ).toBe(words);
      }),
      fuzz(600),
    );
  },
  FUZZ_TIMEOUT_MS,
);

test(
  "a NUL or 0xFF anywhere is refused",
  () => {
    fc.assert(
      fc.property(quotableBytes, quotableBytes, fc.constantFrom(0, 255), (before, after, bad) => {
        const bytes = Uint8Array.from([...before, bad, ...after]);
        expect(isQuotable(bytes)).toBe(false);
        expect(() => quote(bytes)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
      }),
      fuzz(200),
    );
  },
  FUZZ_TIMEOUT_MS,
);
