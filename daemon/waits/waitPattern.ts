/** A pattern: as a client writes it, as a wait request has it, and as checked. */
import * as v from "valibot";
import { described } from "../../protocol/api/described.ts";
import { wellFormedText } from "../../protocol/text/wellFormed.ts";
import type { RegexAnalysis } from "./regex/regexAnalysis.ts";

export type WaitPattern =
  /** The text itself, case-sensitive. A line end is `\n`. */
  | { readonly kind: "literal"; readonly text: string }
  /**
   * RE2 syntax (no look-around, no back-references). `.` does not cross lines unless `dotAll`; `^ $` hold at every line
   * unless `multiline` is false: then `^` holds at the wait's start only and `$` at the end of the output so far. A match
   * is at most `regexWindowBytes` long. One that rests on the end of output (`$`, `\b`, `\z`) must stay there for
   * `settleMs` unless the line has ended, so that half a word is not taken for a whole one.
   */
  | {
      readonly kind: "regex";
      readonly text: string;
      readonly ignoreCase?: boolean | undefined;
      readonly multiline?: boolean | undefined;
      readonly dotAll?: boolean | undefined;
    };

const wireSchema = v.union([
  v.strictObject({
    literal: described(v.pipe(wellFormedText, v.nonEmpty()), "This text, as it is; a line end is LF."),
  }),
  v.strictObject({
    regex: described(v.pipe(wellFormedText, v.nonEmpty()), "This regular expression, in RE2 syntax."),
    ignoreCase: v.optional(described(v.boolean(), "Upper and lower case are the same.")),
    multiline: v.optional(described(v.boolean(), "The anchors ^ and $ hold at every line; default true.")),
    dotAll: v.optional(described(v.boolean(), "A dot is a line end as well.")),
  }),
]);

/** `{literal}` or `{regex, ...}`. */
export const patternSchema = (description: string) =>
  v.pipe(wireSchema, v.description(description), v.transform(patternOf));

function patternOf(pattern: v.InferOutput<typeof wireSchema>): WaitPattern {
  if ("literal" in pattern) return { kind: "literal", text: pattern.literal };
  const { regex, ignoreCase, multiline, dotAll } = pattern;
  return { kind: "regex", text: regex, ignoreCase, multiline, dotAll };
}

export type CheckedPattern =
  | { readonly kind: "literal"; readonly bytes: Buffer }
  | { readonly kind: "regex"; readonly analysis: RegexAnalysis };
