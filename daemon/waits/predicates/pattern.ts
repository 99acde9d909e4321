/** Text in the output, and on the screen where the request asks for that. Latches. */
import { LiteralWatch } from "../literal/literalWatch.ts";
import type { FoundText } from "../text/patternWatch.ts";
import { RegexWatch } from "../regex/regexMatcher.ts";
import { type CheckedPattern, checkPattern, patternSchema, regexesOf } from "../waitPattern.ts";
import { predicate } from "./predicate.ts";

export const pattern = predicate({
  name: "pattern",
  field: "pattern",
  schema: patternSchema("The output shows this text, or matches this regular expression (RE2)."),
  flags: [
    { name: "text", type: "text", value: "TEXT", description: "this text, as it is" },
    {
      name: "regex",
      type: "text",
      value: "REGEX",
      description: "this regular expression (RE2); ^ and $ at every line",
    },
    {
      name: "ignore-case",
      short: "i",
      type: "flag",
      description: "with --regex: upper and lower case are the same",
      isModifier: true,
    },
  ],
  asked: (given) => {
    const [text, regex] = [given.text("text"), given.text("regex")];
    return [
      ...(text === undefined ? [] : [{ literal: text }]),
      ...(regex === undefined ? [] : [{ regex, ...(given.flag("ignore-case") ? { ignoreCase: true } : {}) }]),
    ];
  },
  check: (value, { limits }) => checkPattern(value, limits),
  regexes: regexesOf,
  arm: (checked: CheckedPattern, context) => {
    const armed: { found: FoundText | undefined } = { found: undefined };
    const take = (found: FoundText): void => void (armed.found ??= found);
    const { limits, moment } = context;
    const owner = context.owner(take);
    const onScreen = { isFound: () => armed.found !== undefined, found: (found: FoundText) => owner.found(found) };
    if (checked.kind === "literal") {
      const watch = new LiteralWatch(owner, checked.bytes, moment.start, limits.maxMatchBytes);
      context.readText({ kind: "literal", watch });
      context.readScreen({ literal: checked.bytes, regex: undefined, ...onScreen });
    } else {
      const regex = context.compiled(checked.analysis);
      context.readText({ kind: "regex", watch: new RegexWatch(owner, moment.start), regex });
      context.readScreen({ literal: undefined, regex, ...onScreen });
    }
    return armed;
  },
  dueMs: ({ found }, { nowMs }) => (found === undefined ? undefined : nowMs),
  progress: ({ found }) => found !== undefined,
  found: ({ found }) => found,
});
