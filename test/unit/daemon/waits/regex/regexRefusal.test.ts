/** Every refusal as RE2 itself makes it: the words are those of the installed RE2, not of this test. */
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../../../../daemon/time/clock.ts";
import { WaitManager } from "../../../../../daemon/waits/waitManager.ts";
import { errorOf } from "../waitFixture.ts";

const waits = new WaitManager({ clock: systemClock });
afterAll(() => waits.close());

test.each([
  ["x(?=y)", /^look-ahead \(\?=…\) is not supported; match what follows/],
  ["x(?!y)", /^negative look-ahead \(\?!…\) is not supported; write what may stand there/],
  ["(?<=x)y", /^look-behind \(\?<=…\) is not supported; match what comes before/],
  ["(?<!x)y", /^negative look-behind \(\?<!…\) is not supported/],
  ["(x)\\1", /^back-references \(\\1\) are not supported; write the text itself/],
  ["(?<n>x)\\k<n>", /^back-references \(\\k<…>\) are not supported/],
  ["(?>x)", /^atomic groups/],
  ["x++", /^\+\+ is not supported; repeat once/],
  ["\\qx", /^\\q is no escape sequence; a letter that stands for itself has no \\$/],
  ["[^]x", /^\[\^\] is not supported; write \[\\s\\S\]/],
  ["[]x", /^\[\] is not supported; it would match nothing/],
  ["[x", /^a \[ has no \]/],
  ["(x", /^a \( has no \)/],
  ["x)", /^a \) has no \(/],
  ["*x", /^nothing stands before \*/],
  ["x{2,1}", /^the repetition \{2,1\} is not supported/],
  ["[z-a]", /^the range z-a runs backwards/],
  ["\\p{Script=Greek}", /^\\p\{Script=Greek\} is not supported; write \\p\{Greek\}$/],
  ["\\p{Foo}", /^\\p\{Foo\} is no property that RE2 knows/],
])("%s is refused in plain words", async (text, words) => {
  const error = await errorOf(waits.checkPattern({ kind: "regex", text }));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", details: { engine: "re2" } });
  expect(error.details?.["reason"]).toMatch(words);
});
