/**
 * Prompts and answers to dialogs in the native API (docs/contracts/native.md §9): requests and outcomes.
 */
import * as v from "valibot";
import { count, described, filled, optional, whole } from "./described.ts";

/** Bounds of the contract. */
export const NATIVE_MAX_DELIVERY_MS = 600_000;
const NATIVE_MAX_GAP_MS = 10_000;
const NATIVE_MAX_ANSWERS = 16;
const NATIVE_MAX_OPTIONS = 64;
/** The header that makes a request happen once. */
export const IDEMPOTENCY_KEY_HEADER = "idempotency-key";

const option = described(whole(0, NATIVE_MAX_OPTIONS - 1), "Which option, from 0.");
const timeoutMs = optional(whole(1, NATIVE_MAX_DELIVERY_MS), "Give up after this many milliseconds; default 10000.");

export const submitRequestSchema = v.strictObject({
  text: described(v.string(), "The prompt; line ends stay inside it."),
  profile: optional(
    filled(64),
    "The program's profile, for when the daemon guesses wrong: a name from `tmuxwire profiles`.",
  ),
  whileBusy: optional(
    v.picklist(["refuse", "queue"]),
    "While it is busy: refuse (default), or queue where the program keeps prompts for later.",
  ),
  whileTyping: optional(
    v.picklist(["refuse", "wait"]),
    "While somebody's text is in the prompt box: refuse (default), or wait until it is empty.",
  ),
  whileUnknown: optional(
    v.picklist(["refuse", "type"]),
    "While an agent's screen shows nothing known: refuse (default), or type anyway.",
  ),
  clearFirst: optional(v.boolean(), "Empty the prompt box first."),
  literal: optional(
    v.boolean(),
    "Keep the program from reading the text as one of its own commands; refuse what cannot be kept from it.",
  ),
  gapMs: optional(
    whole(0, NATIVE_MAX_GAP_MS),
    "The minimum number of milliseconds between the text and Enter, instead of the profile's.",
  ),
  timeoutMs,
});
export type NativeSubmitRequest = v.InferInput<typeof submitRequestSchema>;

export const chooseRequestSchema = v.strictObject({
  answer: described(
    v.variant("kind", [
      v.strictObject({ kind: described(v.literal("option"), "One option."), index: option }),
      v.strictObject({
        kind: described(v.literal("other"), "Free text, in the dialog's own way for it."),
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
          "For each question in turn, its options.",
        ),
      }),
    ]),
    "What to answer.",
  ),
  dialogId: optional(filled(64), "The id of the dialog that is meant; another one is not answered."),
  timeoutMs,
});
export type NativeChooseRequest = v.InferInput<typeof chooseRequestSchema>;

const ms = (text: string) => described(v.nullable(v.number()), text);

export const deliveryResponseSchema = v.object({
  outcome: described(
    v.picklist(["submitted", "queued", "echoed_unconfirmed", "not_echoed", "indeterminate"]),
    "The outcome.",
  ),
  position: described(
    v.nullable(v.string()),
    "The output that it caused is after this position; null when nothing was typed.",
  ),
  latencyMs: described(v.number(), "Milliseconds from the request to this response."),
  firstByteMs: ms("Milliseconds from the request to the first byte typed; null when nothing was."),
  enterMs: ms("Milliseconds from the request to Enter; null when it was not pressed."),
  enterPresses: count("How often Enter was pressed."),
  confirmedBy: optional(v.picklist(["readiness", "screen", "output"]), "What showed that the program took it."),
  details: optional(
    v.object({
      screenNote: optional(v.string(), "A line on the screen which suggests that the prompt failed. Foreign text."),
    }),
    "More about the outcome.",
  ),
  repeated: optional(v.boolean(), "An earlier request with this key had this result; nothing was typed now."),
});
export type NativeDelivery = v.InferOutput<typeof deliveryResponseSchema>;
