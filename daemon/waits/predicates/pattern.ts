/** Text in the output, and on the screen where the request asks for that. Latches. */
import type { FoundText } from "../text/patternWatch.ts";
import { type CheckedPattern, patternSchema, regexesOf } from "../waitPattern.ts";
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
  check: (value, door) => door.checkPattern(value),
  regexes: regexesOf,
  arm: (checked: CheckedPattern, context) => {
    const armed: { found: FoundText | undefined } = { found: undefined };
    const owner = context.owner((found) => void (armed.found ??= found));
    context.readPattern(checked, owner, () => armed.found !== undefined);
    return armed;
  },
  dueMs: ({ found }, { nowMs }) => (found === undefined ? undefined : nowMs),
  progress: ({ found }) => found !== undefined,
  found: ({ found }) => found,
});
