/**
 * A request's abort: told when the client goes before its response is complete, and by whoever gives the request up for
 * another reason. Hono's own signal costs a whole web `Request` to be made, which is a tenth of what a short request
 * takes; this one listens to the response it already has, and one serves the whole request.
 */
import type { Context } from "hono";
import { AppError } from "../../protocol/errors.ts";
import type { GuardEnv } from "./requestGuard.ts";

/** The reason a request ends when nobody is there to read its response. */
export const clientGone = (): AppError => new AppError("CANCELLED", "the client closed the connection");

/** Aborts with `clientGone()` when the client goes, or has gone while its request was looked through. */
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
