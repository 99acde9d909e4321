/** Routes with bodies and queries validated by schemas: errors name what is missing, wrong or unknown. */
import type { Context, ErrorHandler, Hono } from "hono";
import type { GenericSchema, InferOutput } from "valibot";
import { FRESHELL_MAX_BODY_BYTES, type FreshellOk } from "../../protocol/api/freshell/freshellHttp.ts";
import {
  faultOf,
  type FreshellFault,
  type OperationErrorCode,
  statusOf,
} from "../../protocol/api/freshell/freshellErrors.ts";
import { parse } from "../../protocol/api/parse.ts";
import { AppError, invalidArgument, toAppError } from "../../protocol/errors.ts";
import type { GuardEnv } from "../kit/guard/requestGuard.ts";
import { endpointsOf, methodsOf } from "../kit/guard/routes.ts";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Log } from "../../daemon/ops/log.ts";
import { setErrorHeaders } from "../kit/guard/httpErrors.ts";

/** @throws AppError INVALID_ARGUMENT */
function bodyOf<Schema extends GenericSchema>(schema: Schema, json: unknown): InferOutput<Schema> {
  // A schema would find it in every object.
  if (typeof json === "object" && json !== null && Object.hasOwn(json, "__proto__")) {
    throw invalidArgument("__proto__: unknown field");
  }
  return parse(schema, json);
}

/** @throws AppError INVALID_ARGUMENT */
function queryOf<Schema extends GenericSchema>(schema: Schema, c: Context<GuardEnv>): InferOutput<Schema> {
  const query = c.req.queries();
  const twice = Object.keys(query).find((name) => (query[name]?.length ?? 0) > 1);
  if (twice !== undefined) throw invalidArgument(`${shown(twice)}: given more than once`);
  return bodyOf(schema, Object.fromEntries(Object.entries(query).map(([name, [value]]) => [name, value])));
}

/** @throws AppError INVALID_ARGUMENT */
function requireNoQuery(c: Context<GuardEnv>): void {
  const [unknown] = Object.keys(c.req.query());
  if (unknown !== undefined) throw invalidArgument(`${shown(unknown)}: unknown parameter`);
}

const MAX_SHOWN_CHARS = 64;
const shown = (name: string): string => name.slice(0, MAX_SHOWN_CHARS);

/** A GET's query or a POST's body by its schema; what has none is refused where it takes a query. */
export const endpoint = endpointsOf({
  read: (c, schema) => {
    if (schema !== undefined && c.req.method === "GET") return queryOf(schema, c);
    requireNoQuery(c);
    return schema === undefined ? undefined : bodyOf(schema, c.get("json"));
  },
  errorName: (error) => faultOf(error).code,
  maxJsonBytes: FRESHELL_MAX_BODY_BYTES,
});

// Of routes.
export const GET = { method: "GET", auth: true } as const;
export const POST = { method: "POST", auth: true } as const;
export const OK: FreshellOk = { ok: true };

/** What every route that reaches tmux can end in; a lost connection is an INTERNAL_ERROR here. */
export const ON_TMUX = [
  "INVALID_ARGUMENT",
  "INVALID_TARGET",
  "NOT_FOUND",
  "RESOURCE_LIMIT",
  "INCONSISTENT_STATE",
] as const;

/** Errors as responses over HTTP, in the contract's shape and with its codes, including the listener's own refusals. */

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
  const message =
    "only this machine, under its own names, and pages of this server or of ALLOWED_ORIGINS may use this listener";
  return c.json({ error: faultOf(new AppError("FORBIDDEN", message)) }, 403);
};
