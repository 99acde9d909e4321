/** Prompts and dialogs: the delivery engine does the work; an idempotency key makes a request safe to repeat. */
import type { Delivery, SubmitResult } from "../../../daemon/delivery/delivery.ts";
import {
  chooseRequestSchema,
  deliveryResponseSchema,
  type NativeDelivery,
  submitRequestSchema,
} from "../../../protocol/api/native/nativeDelivery.ts";
import { formatPosition } from "../../../protocol/position.ts";
import { EXAMPLE_DELIVERY } from "../examples.ts";
import { JUST_DONE, ON_TMUX, operation, type OperationContext, requirePart } from "../operation.ts";
import { wholeMicros } from "../outputs.ts";

export const DELIVERING = [
  "INVALID_ARGUMENT",
  "WRONG_STATE",
  "INCONSISTENT_STATE",
  "ALREADY_EXISTS",
  "TIMEOUT",
  "RESOURCE_LIMIT",
  ...ON_TMUX,
] as const;
export const PRESSING = ["WRONG_STATE", "INCONSISTENT_STATE", "TIMEOUT", "RESOURCE_LIMIT", ...ON_TMUX] as const;

export const deliveryOperations = {
  submit: operation({
    summary: "Give a prompt to the program in a pane.",
    description:
      "Waits until the screen shows the text, then sends Enter and checks that the program took it: read the outcome.",
    scope: "pane",
    input: submitRequestSchema,
    output: deliveryResponseSchema,
    errors: DELIVERING,
    long: true,
    idempotent: true,
    example: { input: { text: "fix the failing test", whileBusy: "queue" }, output: EXAMPLE_DELIVERY },
    run: async (context, { server, pane }, input, { idempotencyKey, signal, isLate, by = "api" }) => {
      const from = { server, pane: pane.id, addressee: { isLate }, idempotencyKey, signal, by };
      return nativeDelivery(await requireDelivery(context).submit({ ...input, ...from }));
    },
  }),

  choose: operation({
    summary: "Answer the dialog that is open in a pane.",
    description: "Presses one key at a time, each after the screen shows the effect of the previous one.",
    scope: "pane",
    input: chooseRequestSchema,
    output: deliveryResponseSchema,
    errors: DELIVERING,
    long: true,
    idempotent: true,
    example: {
      input: { answer: { kind: "option", index: 0 } },
      output: { ...EXAMPLE_DELIVERY, confirmedBy: "screen" },
    },
    run: async (context, { server, pane }, input, { idempotencyKey, signal, isLate, by = "api" }) => {
      const from = { server, pane: pane.id, addressee: { isLate }, idempotencyKey, signal, by };
      return nativeDelivery(await requireDelivery(context).choose({ ...input, ...from }));
    },
  }),

  interrupt: operation({
    summary: "Interrupt the program in a pane.",
    description: "Uses the program's own keys. Responds when an agent's turn has ended.",
    scope: "pane",
    ...JUST_DONE,
    errors: PRESSING,
    run: async (context, { server, pane }, _input, { by = "api" }) => {
      await requireDelivery(context).interrupt(server, pane.id, undefined, by);
      return { ok: true } as const;
    },
  }),

  clear: operation({
    summary: "Empty the prompt box of the program in a pane.",
    description: "Uses the program's own keys, line by line; refused while a dialog is open.",
    scope: "pane",
    ...JUST_DONE,
    errors: PRESSING,
    run: async (context, { server, pane }) => {
      await requireDelivery(context).clear(server, pane.id);
      return { ok: true } as const;
    },
  }),
} as const;

export const requireDelivery = ({ delivery }: OperationContext): Delivery =>
  requirePart(delivery, "does not deliver prompts; use input instead");

export function nativeDelivery(result: SubmitResult): NativeDelivery {
  const { outcome, position, latencyMs, firstByteMs, enterMs, enterPresses, confirmedBy, details, repeated } = result;
  return {
    outcome,
    position: position === undefined ? null : formatPosition(position),
    latencyMs: wholeMicros(latencyMs),
    firstByteMs: msOrNull(firstByteMs),
    enterMs: msOrNull(enterMs),
    enterPresses,
    confirmedBy,
    details,
    repeated,
  };
}

/** Stored results come back from JSON, which drops undefined members. */
const msOrNull = (ms: number | undefined): number | null => (ms === undefined ? null : wholeMicros(ms));
