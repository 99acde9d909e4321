/**
 * Why RE2 refuses a regex, in terms known from JavaScript or Perl, and what to write instead. RE2's own messages are
 * its parser's (`invalid perl operator: (?=`); one that is not known here is passed on unchanged.
 */

/** `pattern` as RE2 was given it, `reason` as RE2 said it. */
export function refusalOf(pattern: string, reason: string): string {
  for (const [words, say] of REFUSALS) {
    const found = words.exec(reason);
    if (found !== null) return say(found[1] ?? "", pattern);
  }
  return reason;
}

type Say = (part: string, pattern: string) => string;

const REFUSALS: readonly (readonly [RegExp, Say])[] = [
  [
    /^invalid perl operator: \(\?=/,
    () => "look-ahead (?=…) is not supported; match what follows as a part of the pattern",
  ],
  [
    /^invalid perl operator: \(\?!/,
    () =>
      "negative look-ahead (?!…) is not supported; write what may stand there, such as [^x], or wait for other text",
  ],
  [/^invalid perl operator: \(\?</, lookBehind],
  [/^invalid perl operator: \(\?>/, () => "atomic groups (?>…) are not supported; write (?:…), RE2 never backtracks"],
  [
    /^invalid escape sequence: \\([1-9])/,
    (digit) => `back-references (\\${digit}) are not supported; write the text itself`,
  ],
  [/^invalid escape sequence: \\k/, () => "back-references (\\k<…>) are not supported; write the text itself"],
  [
    /^invalid escape sequence: (\\\S*)/,
    (escape) => `${escape} is no escape sequence; a letter that stands for itself has no \\`,
  ],
  [/^bad repetition operator: (.*)/, (operator) => `${operator} is not supported; repeat once, with * + ? or {n,m}`],
  [
    /^invalid repetition size: (.*)/,
    (size) => `the repetition ${size} is not supported; at most 1000, the smaller number first`,
  ],
  [/^invalid character class range: (\\[pP]\S*)/, unknownProperty],
  [/^invalid character class range: (.*)/, (range) => `the range ${range} runs backwards`],
  [
    /^missing \]: (\[\^?\])/,
    (empty) =>
      `${empty} is not supported; ${empty === "[]" ? "it would match nothing" : "write [\\s\\S] for any character"}`,
  ],
  [/^missing \]/, () => "a [ has no ]; to match the character itself write \\["],
  [/^missing \)/, () => "a ( has no ); to match the character itself write \\("],
  [/^unexpected \)/, () => "a ) has no (; to match the character itself write \\)"],
  [
    /^no argument for repetition operator: (.*)/,
    (operator) => `nothing stands before ${operator}; to match it write \\${operator}`,
  ],
];

/** RE2's reason is the same for both kinds. */
function lookBehind(_part: string, pattern: string): string {
  const kind = /\(\?<=/.test(pattern) ? "look-behind (?<=…)" : "negative look-behind (?<!…)";
  return `${kind} is not supported; match what comes before as a part of the pattern`;
}

function unknownProperty(property: string): string {
  const script = /^\\([pP])\{[\w]+=([\w]+)\}/.exec(property);
  if (script !== null) return `${property} is not supported; write \\${script[1]}{${script[2]}}`;
  return `${property} is no property that RE2 knows; it knows categories such as \\p{L} and scripts such as \\p{Greek}`;
}
