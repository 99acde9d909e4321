import fc from "fast-check";
import { expect, test } from "vitest";
import { analyseRegex } from "../../daemon/waits/regex/regexAnalysis.ts";
import { DEFAULT_WAIT_LIMITS } from "../../daemon/waits/waitLimits.ts";
import { stripAnsi } from "../support/tmux/stripAnsi.ts";
import { cutAt, cuts, output } from "../unit/protocol/text/cuts.ts";
import { re2Done, turns, waitBench } from "../unit/daemon/waits/waitFixture.ts";

/** Regexes on which RE2 and JavaScript agree, over the characters that the output has. */
const { pattern } = fc.letrec<{ pattern: string; term: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("a", "b", "DONE", "DO", "NE", "\u00e9", "\u65e5", "\u{1f600}", " ") },
    { weight: 2, arbitrary: fc.constantFrom(".", "[ab]", "[^a]", "\\w", "\\n", "\\u00e9") },
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

test("a regex under any chunking matches when the whole text has a match", async () => {
  const { waits, source, clock } = waitBench({ maxPerTarget: 10_000 });
  await fc.assert(
    fc.asyncProperty(pattern, output, cuts, async (text, bytes, places) => {
      const whole = Buffer.from(stripAnsi(bytes)).toString("utf8");
      const expected = new RegExp(text, "mu").exec(`${whole}\n`);
      // A break keeps the runs apart: the text of one must not be the beginning of the next.
      source.write("\x18\r\n");
      const leaving = new AbortController();
      const wait = waits.wait(source, { pattern: { kind: "regex", text } }, { signal: leaving.signal }).then(
        (result) => result.matched[0]?.text,
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
      if (expected === null) expect(matched).toBeUndefined();
      else expect(`${whole}\n`).toContain(matched ?? "no match");
    }),
    { numRuns: Number(process.env["FUZZ_RUNS"] ?? 250) },
  );
});

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
