/**
 * A request's `AbortController`: aborted when the client disconnects before its response is complete, or by code that gives
 * the request up for another reason. Hono's own signal needs a whole web `Request`, a tenth of a short request's cost; this
 * one listens to the Node response, and the whole request shares it.
 */
import type { Context } from "hono";
import { AppError } from "../../../protocol/errors.ts";
import type { GuardEnv } from "./requestGuard.ts";

/** The error of a request whose client has disconnected. */
export const clientGone = (): AppError => new AppError("CANCELLED", "the client closed the connection");

/** Aborts with `clientGone()` when the client disconnects, or if it did so while the guard checked its request. */
export function requestAbort(c: Context<GuardEnv>): AbortController {
  const controller = new AbortController();
  const gone = (): void => controller.abort(clientGone());
  const outgoing = c.env?.outgoing;
  if (outgoing === undefined) {
    const { signal } = c.req.raw;
    if (signal.aborted) gone();
    else signal.addEventListener("abort", gone, { once: true });
  } else if (outgoing.destroyed) gone();
  else {
    outgoing.once("close", () => {
      if (!outgoing.writableFinished) gone();
    });
  }
  return controller;
}
