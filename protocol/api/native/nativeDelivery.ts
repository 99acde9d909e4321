/**
 * Prompts and answers to dialogs in the native API (docs/contracts/native.md §9): requests and outcomes.
 */
import * as v from "valibot";
import { count, described, filled, optional, whole } from "../described.ts";

/** Bounds of the contract. */
export const NATIVE_MAX_DELIVERY_MS = 600_000;
const NATIVE_MAX_GAP_MS = 10_000;
const NATIVE_MAX_ANSWERS = 16;
const NATIVE_MAX_OPTIONS = 64;
/** The header with a request's idempotency key. */
export const IDEMPOTENCY_KEY_HEADER = "idempotency-key";

const option = described(whole(0, NATIVE_MAX_OPTIONS - 1), "The option's index, from 0.");
const timeoutMs = optional(whole(1, NATIVE_MAX_DELIVERY_MS), "Give up after this many milliseconds; default 10000.");

export const submitRequestSchema = v.strictObject({
  text: described(v.string(), "The prompt; line breaks stay inside it."),
  profile: optional(
    filled(64),
    "The program's profile, in case the daemon detects the wrong one: a name from `tmuxwire profiles`.",
  ),
  whileBusy: optional(
    v.picklist(["refuse", "queue"]),
    "While the program is busy: refuse (default), or queue, if the program queues prompts.",
  ),
  whileTyping: optional(
    v.picklist(["refuse", "wait"]),
    "While the prompt box, or the line of a shell or REPL, holds text: refuse (default), or wait until it is empty.",
  ),
  whileUnknown: optional(
    v.picklist(["refuse", "type"]),
    "While an agent's state is unknown: refuse (default), or type anyway.",
  ),
  clearFirst: optional(v.boolean(), "Empty the prompt box, or the line, first."),
  literal: optional(
    v.boolean(),
    "Keep the program from interpreting the text as one of its own commands; refuse text for which that is impossible.",
  ),
  gapMs: optional(
    whole(0, NATIVE_MAX_GAP_MS),
    "The minimum time between the text and Enter in milliseconds, instead of the profile's.",
  ),
  timeoutMs,
});
export type NativeSubmitRequest = v.InferInput<typeof submitRequestSchema>;

export const chooseRequestSchema = v.strictObject({
  answer: described(
    v.variant("kind", [
      v.strictObject({ kind: described(v.literal("option"), "One option."), index: option }),
      v.strictObject({
        kind: described(v.literal("other"), "Free text, through the dialog's own option for it."),
        text: described(v.string(), "The text."),
      }),
      v.strictObject({
        kind: described(v.literal("multi"), "Several questions, or several options of one."),
        answers: described(
          v.pipe(
            v.array(v.pipe(v.array(option), v.minLength(1), v.maxLength(NATIVE_MAX_OPTIONS))),
            v.minLength(1),
            v.maxLength(NATIVE_MAX_ANSWERS),
          ),
          "The chosen options of each question, in order.",
        ),
      }),
    ]),
    "The answer.",
  ),
  dialogId: optional(filled(64), "Answer only the dialog with this id."),
  timeoutMs,
});
export type NativeChooseRequest = v.InferInput<typeof chooseRequestSchema>;

const ms = (text: string) => described(v.nullable(v.number()), text);

export const deliveryResponseSchema = v.object({
  outcome: described(
    v.picklist(["submitted", "queued", "echoed_unconfirmed", "not_echoed", "indeterminate"]),
    "The outcome.",
  ),
  position: described(v.nullable(v.string()), "The effect comes after this position; null if nothing was typed."),
  latencyMs: described(v.number(), "Milliseconds from the request to this response."),
  firstByteMs: ms("Milliseconds from the request to the first typed byte; null if nothing was typed."),
  enterMs: ms("Milliseconds from the request to Enter; null if Enter was not pressed."),
  enterPresses: count("How often Enter was pressed."),
  confirmedBy: optional(
    v.picklist(["readiness", "screen", "output"]),
    "How it was confirmed that the program took it.",
  ),
  details: optional(
    v.object({
      screenNote: optional(v.string(), "A line on the screen that suggests that the prompt failed. Foreign text."),
    }),
    "More about the outcome.",
  ),
  repeated: optional(
    v.boolean(),
    "True if this is the result of an earlier request with the same key, and nothing was typed now.",
  ),
});
export type NativeDelivery = v.InferOutput<typeof deliveryResponseSchema>;
