/** Errors as responses over HTTP, in the contract's shape and with its codes, including the listener's own refusals. */
import type { Context, ErrorHandler, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Log } from "../../daemon/ops/log.ts";
import {
  faultOf,
  type FreshellFault,
  type OperationErrorCode,
  statusOf,
} from "../../protocol/api/freshell/freshellErrors.ts";
import { AppError, toAppError } from "../../protocol/errors.ts";
import { setErrorHeaders } from "../kit/guard/httpErrors.ts";
import type { GuardEnv } from "../kit/guard/requestGuard.ts";
import { methodsOf } from "../kit/guard/routes.ts";

/** What a client may see of anything thrown; a bug is logged. */
export function loggedFault(
  thrown: unknown,
  log: Log,
  event: "freshell.request.failed" | "freshell.socket.failed",
): FreshellFault<OperationErrorCode> {
  const error = toAppError(thrown);
  if (error.code === "INTERNAL_ERROR") log.error(event, { error });
  return faultOf(error);
}

export const faultBody = (thrown: unknown, log: Log): object => ({
  error: loggedFault(thrown, log, "freshell.request.failed"),
});

export function faultHandler(log: Log, app: Pick<Hono<GuardEnv>, "router">): ErrorHandler<GuardEnv> {
  return (thrown: unknown, c: Context<GuardEnv>) => {
    const error = toAppError(thrown);
    const status = statusOf(error) as ContentfulStatusCode;
    log.debug("http.request.refused", { code: error.code, status, method: c.req.method, path: c.req.path });
    setErrorHeaders(c, status, error);
    if (error.code === "METHOD_NOT_ALLOWED") c.header("Allow", methodsOf(app, c.req.path).join(", "));
    return c.json(faultBody(error, log), status);
  };
}

/** 403: from another machine, by another name, or from a page of another site. */
export const forbidden = (c: Context<GuardEnv>): Response => {
  const message = "this listener serves this machine, under its own names, and pages of its own or of ALLOWED_ORIGINS";
  return c.json({ error: faultOf(new AppError("FORBIDDEN", message)) }, 403);
};
