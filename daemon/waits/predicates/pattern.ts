/** Text in the output, and on the screen where the request asks for that. Latches. */
import { type CheckedPattern, patternSchema, regexesOf } from "../waitPattern.ts";
import { latched, predicate } from "./predicate.ts";

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
    const latch = context.latch();
    context.readPattern(checked, latch);
    return latch;
  },
  ...latched,
});
