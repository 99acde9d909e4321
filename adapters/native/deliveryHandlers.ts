/** Prompts and dialogs over HTTP: the delivery engine does the work, an `Idempotency-Key` makes a request safe to repeat. */
import type { Delivery, SubmitResult } from "../../daemon/delivery/delivery.ts";
import type { NativeOk } from "../../protocol/api/nativeAnswers.ts";
import {
  chooseRequestSchema,
  IDEMPOTENCY_KEY_HEADER,
  type NativeDelivery,
  submitRequestSchema,
} from "../../protocol/api/nativeDelivery.ts";
import { emptyRequestSchema } from "../../protocol/api/nativeRequests.ts";
import { AppError } from "../../protocol/errors.ts";
import { formatPosition } from "../../protocol/position.ts";
import type { NativeContext, NativeHandlerContext } from "./context.ts";
import { longAnswer } from "./longAnswer.ts";
import { parse } from "../operations/inputs.ts";
import { findPane, findServer } from "../operations/findTargets.ts";

type Handler = (context: NativeContext, c: NativeHandlerContext) => Response | Promise<Response>;

const OK: NativeOk = { ok: true };

export const DELIVERY_HANDLERS: Readonly<Record<"submit" | "choose" | "interrupt" | "clear", Handler>> = {
  submit: (context, c) => {
    const target = targetOf(context, c);
    const request = parse(submitRequestSchema, c.get("json"));
    const idempotencyKey = keyOf(c);
    return longAnswer(c, context.clock, async (signal) =>
      deliveryAnswer(await target.delivery.submit({ ...request, ...target, idempotencyKey, signal })),
    );
  },
  choose: (context, c) => {
    const target = targetOf(context, c);
    const request = parse(chooseRequestSchema, c.get("json"));
    const idempotencyKey = keyOf(c);
    return longAnswer(c, context.clock, async (signal) =>
      deliveryAnswer(await target.delivery.choose({ ...request, ...target, idempotencyKey, signal })),
    );
  },
  interrupt: async (context, c) => {
    const { delivery, server, pane } = targetOf(context, c);
    parse(emptyRequestSchema, c.get("json"));
    await delivery.interrupt(server, pane);
    return c.json(OK);
  },
  clear: async (context, c) => {
    const { delivery, server, pane } = targetOf(context, c);
    parse(emptyRequestSchema, c.get("json"));
    await delivery.clear(server, pane);
    return c.json(OK);
  },
};

function targetOf({ servers, delivery }: NativeContext, c: NativeHandlerContext) {
  const server = findServer(servers, c.req.param("server") ?? "");
  const { id: pane } = findPane(server, c.req.param("pane") ?? "");
  return { server, pane, delivery: requireDelivery(delivery) };
}

function requireDelivery(delivery: Delivery | undefined): Delivery {
  if (delivery !== undefined) return delivery;
  throw new AppError("INVALID_ARGUMENT", "this daemon does not deliver prompts; type with input");
}

const keyOf = (c: NativeHandlerContext): string | undefined => c.req.header(IDEMPOTENCY_KEY_HEADER);

export function deliveryAnswer(result: SubmitResult): NativeDelivery {
  const { outcome, position, latencyMs, firstByteMs, enterMs, enterPresses, confirmedBy, details, repeated } = result;
  return {
    outcome,
    position: position === undefined ? null : formatPosition(position),
    latencyMs: rounded(latencyMs) ?? 0,
    firstByteMs: rounded(firstByteMs),
    enterMs: rounded(enterMs),
    enterPresses,
    ...(confirmedBy === undefined ? {} : { confirmedBy }),
    ...(details === undefined ? {} : { details }),
    ...(repeated === undefined ? {} : { repeated }),
  };
}

/** Stored results come back from JSON, where what is undefined is not. */
const rounded = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms * 1_000) / 1_000);
