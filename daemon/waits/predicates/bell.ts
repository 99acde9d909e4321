/**
 * The program rings: a BEL in the output, but not the one that ends an OSC or stands in another string. Looks from where the
 * request says, as patterns do. Latches.
 */
import * as v from "valibot";
import { scanMarks } from "../../panes/vt/streamMarks.ts";
import { trackerOf } from "../../panes/vt/vtTracker.ts";
import type { FoundText } from "../text/patternWatch.ts";
import { predicate } from "./predicate.ts";

/** Read before the start, so that a string cut by it is known for what it is. */
const LEAD_BYTES = 16_384;

export const bell = predicate({
  name: "bell",
  field: "bell",
  schema: v.pipe(v.boolean(), v.description("The program rings: a BEL that does not end an OSC.")),
  flags: [{ name: "bell", type: "flag", description: "the program rings the bell" }],
  asked: (given) => (given.flag("bell") ? [true] : []),
  check: (isAsked) => (isAsked ? isAsked : undefined),
  arm: (_checked, context) => {
    const { source } = context;
    const { start } = context.moment;
    const armed: { found: FoundText | undefined } = { found: undefined };
    const owner = context.owner((found) => void (armed.found ??= found));
    const rung = (at: number): void => {
      if (at >= start) owner.found({ from: at, to: at + 1 });
    };
    context.onEnd(trackerOf(source).follow({ bell: rung, gap: (gap) => owner.missed(gap) }));
    const lead = Math.max(source.tailSeq, start - LEAD_BYTES);
    if (start < source.outputSeq) scanMarks(source, lead, source.outputSeq, { bell: rung });
    return armed;
  },
  dueMs: ({ found }, { nowMs }) => (found === undefined ? undefined : nowMs),
  progress: ({ found }) => found !== undefined,
  found: ({ found }) => found,
});
