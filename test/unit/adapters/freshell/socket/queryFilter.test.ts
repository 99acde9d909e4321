/** What is taken out of a page's output, and that nothing else is, however the output is cut. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { queryFilter } from "../../../../../adapters/freshell/socket/queryFilter.ts";

const ESC = "\u001b";
/** As a reader of chunks gets it. */
function filtered(chunks: readonly Uint8Array[], tmuxVersion = "tmux 3.3a"): string {
  const filterQueries = queryFilter(tmuxVersion);
  let carry: Uint8Array = new Uint8Array(0);
  let out = "";
  for (const chunk of chunks) {
    const { bytes, unfinished } = filterQueries(Buffer.concat([carry, chunk]));
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    out += text;
    carry = unfinished;
  }
  return out + Buffer.from(carry).toString("utf8");
}
const whole = (text: string, tmuxVersion?: string): string => filtered([Buffer.from(text)], tmuxVersion);

describe("questions that tmux answers", () => {
  test.each(["[c", "[0c", "[>c", "[>0c", "[5n", "[6n", "[>q", "[>0q", "[00c", "[0;1c", "[6;1n", "[18t"])(
    "ESC%s is taken out",
    (query) => {
      expect(whole(`a${ESC}${query}b`)).toBe("ab");
    },
  );

  test.each([
    "[1c",
    "[?c",
    "[=c",
    "[?6n",
    "[7n",
    "[n",
    "[q",
    "[2 q",
    "[>1q",
    "[!p",
    "[?2026$p",
    "]11;?\u0007",
    "]10;?\u001b\\",
    "Z",
    "[6m",
    "P+q544e\u001b\\",
    "]0;[6n\u0007",
  ])("ESC%s passes", (other) => {
    const text = `a${ESC}${other}b`;
    expect(whole(text)).toBe(text);
  });

  test.each([
    ["[14t", "3.3a", "3.4"],
    ["[?2004$p", "3.5a", "3.6"],
    ["[?2026$p", "3.6b", "3.7"],
    ["[4$p", "3.6b", "3.7c"],
    ["P$qm\u001b\\", "3.5a", "3.6b"],
    ["[?2026$p", "3.3a", "next-3.8"],
  ])("ESC%s: tmux %s does not answer, %s does", (query, before, since) => {
    const text = `a${ESC}${query}b`;
    expect(whole(text, `tmux ${before}`)).toBe(text);
    expect(whole(text, `tmux ${since}`)).toBe("ab");
  });

  test("inside a string of another sequence they are that string's text", () => {
    const text = `${ESC}Ptmux;${ESC}${ESC}[6n${ESC}\\after`;
    expect(whole(text)).toBe(text);
  });

  test("a control character inside one acts at once, and stays", () => {
    expect(whole(`a${ESC}[\r6nb`)).toBe("a\rb");
  });

  test("one that is cut off by another is none", () => {
    expect(whole(`${ESC}[6${ESC}[31mred${ESC}[6n`)).toBe(`${ESC}[6${ESC}[31mred`);
  });
});

const PIECES = [
  "text",
  "é𝄞",
  "\r\n",
  `${ESC}[31m`,
  `${ESC}[c`,
  `${ESC}[6n`,
  `${ESC}[>0q`,
  `${ESC}]11;?\u0007`,
  `${ESC}]0;tïtle\u0007`,
  `${ESC}[?2026$p`,
  `${ESC}Pq#0;2;0${ESC}\\`,
  `${ESC}(0`,
  "\u000f",
  `${ESC}7`,
  `${ESC}[1;2H`,
];

test("however the output is cut, the same comes out, and no character is broken", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }),
      fc.array(fc.nat(200), { maxLength: 20 }),
      (pieces, cuts) => {
        const text = pieces.join("");
        const bytes = Buffer.from(text);
        const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].toSorted(
          (a, b) => a - b,
        );
        const chunks = places.slice(1).map((to, at) => bytes.subarray(places[at], to));
        const taken = [`${ESC}[c`, `${ESC}[6n`, `${ESC}[>0q`];
        const expected = pieces.filter((piece) => !taken.includes(piece)).join("");
        expect(filtered(chunks)).toBe(expected);
        expect(filtered(chunks)).not.toContain("\ufffd");
      },
    ),
  );
});

test("what never ends is not held for ever, and bytes that are no text are marked as such", () => {
  const endless = `${ESC}]0;${"x".repeat(10_000)}`;
  expect(queryFilter(undefined)(Buffer.from(endless)).unfinished).toHaveLength(0);
  expect(filtered([Buffer.from([0x61, 0xff]), Buffer.from([0x62, 0xe2, 0x82]), Buffer.from([0xac])])).toBe("a\ufffdb€");
});
