/**
 * Prompts and answers to dialogs in the native API (docs/contracts/native.md §9): what is asked, and what became of it.
 */
import * as v from "valibot";

/** Bounds of the contract. */
export const NATIVE_MAX_DELIVERY_MS = 600_000;
export const NATIVE_MAX_GAP_MS = 10_000;
export const NATIVE_MAX_ANSWERS = 16;
export const NATIVE_MAX_OPTIONS = 64;
/** The header under which a request is done once. */
export const IDEMPOTENCY_KEY_HEADER = "idempotency-key";

const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const option = whole(0, NATIVE_MAX_OPTIONS - 1);
const timeoutMs = v.optional(whole(1, NATIVE_MAX_DELIVERY_MS));

export const submitRequestSchema = v.strictObject({
  text: v.string(),
  /** What the program is, when the daemon guesses wrong. */
  profile: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(64))),
  /** While it is busy: `refuse` (default), or `queue` where the program keeps prompts for later. */
  whileBusy: v.optional(v.picklist(["refuse", "queue"])),
  /** While somebody's text stands in the prompt box: `refuse` (default), or `wait` until it is empty. */
  whileTyping: v.optional(v.picklist(["refuse", "wait"])),
  /** While an agent's screen shows nothing known: `refuse` (default), or `type` all the same. */
  whileUnknown: v.optional(v.picklist(["refuse", "type"])),
  /** Empty the prompt box first. */
  clearFirst: v.optional(v.boolean()),
  /** A text that the program would take for more than text stays text, or is refused. */
  literal: v.optional(v.boolean()),
  /** Least time between the text and Enter, instead of the profile's. */
  gapMs: v.optional(whole(0, NATIVE_MAX_GAP_MS)),
  timeoutMs,
});
export type NativeSubmitRequest = v.InferInput<typeof submitRequestSchema>;

export const chooseRequestSchema = v.strictObject({
  answer: v.variant("kind", [
    /** One option, from 0. */
    v.strictObject({ kind: v.literal("option"), index: option }),
    /** Through the dialog's own way for free text. */
    v.strictObject({ kind: v.literal("other"), text: v.string() }),
    /** For each question in turn, its options. */
    v.strictObject({
      kind: v.literal("multi"),
      answers: v.pipe(
        v.array(v.pipe(v.array(option), v.minLength(1), v.maxLength(NATIVE_MAX_OPTIONS))),
        v.minLength(1),
        v.maxLength(NATIVE_MAX_ANSWERS),
      ),
    }),
  ]),
  /** The dialog that is meant; another one is not answered. */
  dialogId: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(64))),
  timeoutMs,
});
export type NativeChooseRequest = v.InferInput<typeof chooseRequestSchema>;

const ms = v.nullable(v.number());

export const deliveryAnswerSchema = v.object({
  outcome: v.picklist(["submitted", "queued", "echoed_unconfirmed", "not_echoed", "indeterminate"]),
  /** The pane's output that it caused is after this; null when nothing was typed. */
  position: v.nullable(v.string()),
  latencyMs: v.number(),
  firstByteMs: ms,
  enterMs: ms,
  enterPresses: v.pipe(v.number(), v.integer(), v.minValue(0)),
  confirmedBy: v.optional(v.picklist(["readiness", "screen", "output"])),
  /** `screenNote`: what the screen says where that speaks against the prompt, or nothing speaks for it. Foreign text. */
  details: v.optional(v.object({ screenNote: v.optional(v.string()) })),
  /** An earlier request with this key had this result; nothing was typed now. */
  repeated: v.optional(v.boolean()),
});
export type NativeDelivery = v.InferOutput<typeof deliveryAnswerSchema>;
