/**
 * The only place where errors become responses. The status comes from `ERROR_SURFACES`; the message is the error's own,
 * except for a 500, where it could hold anything. Each contract chooses only the shape of the body.
 */
import type { Context, ErrorHandler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Log } from "../../../daemon/ops/log.ts";
import { type AppError, ERROR_SURFACES, toAppError } from "../../../protocol/errors.ts";
import type { GuardEnv } from "./requestGuard.ts";

/** As the add-in's original bridge sends it; JSON has no other charset. */
export const JSON_TYPE = { "Content-Type": "application/json; charset=utf-8" } as const;

/** Limits clear within seconds: a pane takes some 2 MB a second. */
const RETRY_AFTER_SEC = "1";
const INTERNAL_MESSAGE = "Internal server error.";

/** What a client may see of an error. */
export interface VisibleError {
  readonly status: ContentfulStatusCode;
  readonly message: string;
  readonly error: AppError;
}

export function visibleError(thrown: unknown): VisibleError {
  const error = toAppError(thrown);
  // 499 is not a standard status; its client has gone anyway.
  const status = ERROR_SURFACES[error.code].httpStatus as ContentfulStatusCode;
  return { status, message: status === 500 ? INTERNAL_MESSAGE : error.message, error };
}

/** Sets an error's headers, the same for every contract. */
export function setErrorHeaders(c: Context<GuardEnv>, status: number, { details }: AppError): void {
  if (details?.["close"] === true) c.header("Connection", "close");
  if (status === 429) c.header("Retry-After", RETRY_AFTER_SEC);
}

/** An `onError` handler; `body` is the contract's shape. The path is logged, the query and the body never are. */
export function errorHandler(log: Log, body: (visible: VisibleError) => object): ErrorHandler<GuardEnv> {
  return (thrown: unknown, c: Context<GuardEnv>) => {
    const visible = visibleError(thrown);
    const request = c.get("requestId");
    const { status, error } = visible;
    const fields = { ...(request === undefined ? {} : { request }), code: error.code, status };
    const asked = { ...fields, method: c.req.method, path: c.req.path };
    if (status === 500) log.error("http.request.failed", { ...asked, error });
    else log.debug("http.request.refused", asked);
    setErrorHeaders(c, status, error);
    return c.json(body(visible), visible.status, JSON_TYPE);
  };
}
