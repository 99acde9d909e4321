import fc from "fast-check";
import { expect, test } from "vitest";
import { analyseRegex } from "../../daemon/waits/regex/regexAnalysis.ts";
import { DEFAULT_WAIT_LIMITS } from "../../daemon/waits/waitLimits.ts";
import { PlainText } from "../../daemon/waits/text/plainText.ts";
import { stripAnsi } from "../support/tmux/stripAnsi.ts";
import { cutAt, cuts, output } from "../unit/protocol/text/cuts.ts";
import { re2Done, turns, waitBench } from "../unit/daemon/waits/waitFixture.ts";

/** Regexes on which RE2 and JavaScript agree, over the characters that the output has. */
const { pattern } = fc.letrec<{ pattern: string; term: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("a", "b", "DONE", "DO", "NE", "\u00e9", "\u65e5", "\u{1f600}", " ") },
    { weight: 2, arbitrary: fc.constantFrom(".", "[ab]", "[^a]", "\\w", "\\n", "\\u00e9") },
    // One of several literals, and a match that goes on after it.
    { weight: 1, arbitrary: fc.constantFrom("(?:DO|NE).*", "(?:NE|ab).*", "(?:ab|DONE)[^a]*") },
    { weight: 1, arbitrary: fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(?:${one}|${other})`) },
  ),
  term: fc.tuple(tie("atom"), fc.constantFrom("", "", "", "+", "*", "?", "{2}")).map(([atom, times]) => {
    const isOne = Array.from(atom).length === 1 || /^(?:\(.*\)|\[.*\]|\\.|\\u....)$/su.test(atom);
    return times === "" || isOne ? atom + times : `(?:${atom})${times}`;
  }),
  pattern: fc
    .tuple(
      fc.constantFrom("", "", "^"),
      fc.array(tie("term"), { minLength: 1, maxLength: 4 }),
      fc.constantFrom("", "", "$", "\\b"),
    )
    .map(([start, terms, end]) => start + terms.join("") + end),
}));

test.each([
  ["", DEFAULT_WAIT_LIMITS.regexWindowBytes],
  [" and a window that is smaller than the text", 48],
])(
  "a regex under any chunking%s matches when the whole text has a match, and where it has one",
  async (_with, window) => {
    const { waits, source, clock } = waitBench({ maxPerTarget: 10_000, regexWindowBytes: window });
    await fc.assert(
      fc.asyncProperty(pattern, output, cuts, async (text, bytes, places) => {
        const whole = Buffer.from(stripAnsi(bytes)).toString("utf8");
        const expected = new RegExp(text, "mu").exec(`${whole}\n`);
        // A break keeps the runs apart: the text of one must not be the beginning of the next.
        source.write("\x18\r\n");
        const start = source.outputSeq;
        const leaving = new AbortController();
        const wait = waits.wait(source, { pattern: { kind: "regex", text } }, { signal: leaving.signal }).then(
          (result) => result.matched[0],
          () => undefined,
        );
        for (const chunk of cutAt(bytes, places)) {
          source.write(chunk);
          await Promise.resolve();
          if (places.length % 3 === 0) await turns(1);
        }
        source.write("\x18\n");
        await re2Done(waits);
        await turns(2);
        await re2Done(waits);
        await turns(1);
        // Quiet: what rests on the end of the output is now as final as it gets.
        clock.advanceMs(100);
        await turns(1);
        leaving.abort();
        const matched = await wait;
        if (matched === undefined) {
          expect(Buffer.byteLength(expected?.[0] ?? "x".repeat(window + 1))).toBeGreaterThan(window);
          return;
        }
        // An empty match before what a cursor movement adds has no place of its own.
        if (matched.text === "") return;
        const placed = new PlainText(start);
        placed.append(Buffer.concat([bytes, Buffer.from("\x18\n")]), start, () => 0);
        const there = new RegExp(text, "muy");
        there.lastIndex = placed.view(0, placed.offsetOf(matched.from!.outputSeq)).toString("utf8").length;
        expect(`${whole}\n`.startsWith(matched.text!, there.lastIndex)).toBe(true);
        expect(there.test(`${whole}\n`)).toBe(true);
      }),
      { numRuns: Number(process.env["FUZZ_RUNS"] ?? 250) },
    );
  },
);

test("what a regex is said to contain is in all its matches, and single lines have no line end", () => {
  fc.assert(
    fc.property(pattern, output, (text, bytes) => {
      const whole = Buffer.from(stripAnsi(bytes)).toString("utf8");
      const flags = { ignoreCase: false, multiline: true, dotAll: false };
      const { required, isSingleLine } = analyseRegex(text, flags, DEFAULT_WAIT_LIMITS);
      const wrong = [...whole.matchAll(new RegExp(text, "gmu"))].filter(([matched]) => {
        const isMissing = required?.some((literal) => matched.includes(literal)) === false;
        return isMissing || (isSingleLine && matched.includes("\n"));
      });
      expect(wrong).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});
