/**
 * The program rings: a BEL in the output, but not one that ends an OSC or is inside another string. Reads from where
 * the request says, as patterns do. Latches.
 */
import * as v from "valibot";
import type { FoundText } from "../text/patternWatch.ts";
import { predicate } from "./predicate.ts";

export const bell = predicate({
  name: "bell",
  field: "bell",
  schema: v.pipe(v.boolean(), v.description("The program rings: a BEL that does not end an OSC.")),
  flags: [{ name: "bell", type: "flag", description: "the program rings the bell" }],
  asked: (given) => (given.flag("bell") ? [true] : []),
  check: (isAsked) => (isAsked ? isAsked : undefined),
  arm: (_checked, context) => {
    const armed: { found: FoundText | undefined } = { found: undefined };
    const owner = context.owner((found) => void (armed.found ??= found));
    context.hear({ bell: (at) => owner.found({ from: at, to: at + 1 }) }, owner);
    return armed;
  },
  dueMs: ({ found }, { nowMs }) => (found === undefined ? undefined : nowMs),
  progress: ({ found }) => found !== undefined,
  found: ({ found }) => found,
});
