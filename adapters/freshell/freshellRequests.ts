/** Routes with bodies and queries validated by schemas: errors name what is missing, wrong or unknown. */
import type { Context } from "hono";
import type { GenericSchema, InferOutput } from "valibot";
import { FRESHELL_MAX_BODY_BYTES } from "../../protocol/api/freshell/freshellHttp.ts";
import { parse } from "../../protocol/api/parse.ts";
import { AppError } from "../../protocol/errors.ts";
import type { GuardEnv } from "../http/requestGuard.ts";
import type { Route, RouteHandler } from "../http/routes.ts";

/** @throws AppError INVALID_ARGUMENT */
export function bodyOf<Schema extends GenericSchema>(schema: Schema, json: unknown): InferOutput<Schema> {
  // A schema would find it in every object.
  if (typeof json === "object" && json !== null && Object.hasOwn(json, "__proto__")) {
    throw new AppError("INVALID_ARGUMENT", "__proto__: there is no such field");
  }
  return parse(schema, json);
}

/** @throws AppError INVALID_ARGUMENT */
export function queryOf<Schema extends GenericSchema>(schema: Schema, c: Context<GuardEnv>): InferOutput<Schema> {
  const query = c.req.queries();
  const twice = Object.keys(query).find((name) => (query[name]?.length ?? 0) > 1);
  if (twice !== undefined) throw new AppError("INVALID_ARGUMENT", `${shown(twice)}: is given more than once`);
  return bodyOf(schema, Object.fromEntries(Object.entries(query).map(([name, [value]]) => [name, value])));
}

/** @throws AppError INVALID_ARGUMENT */
export function requireNoQuery(c: Context<GuardEnv>): void {
  const [unknown] = Object.keys(c.req.query());
  if (unknown !== undefined)
    throw new AppError("INVALID_ARGUMENT", `${shown(unknown)}: there is no such parameter here`);
}

const MAX_SHOWN_CHARS = 64;
const shown = (name: string): string => name.slice(0, MAX_SHOWN_CHARS);

export const get = (path: string, handle: RouteHandler): Route => ({ method: "GET", path, auth: true, handle });
/** A POST whose body has a schema. */
export function post<Schema extends GenericSchema>(
  path: string,
  schema: Schema,
  handle: (
    c: Context<GuardEnv>,
    body: InferOutput<Schema>,
    values: Readonly<Record<string, string>>,
  ) => Response | Promise<Response>,
): Route {
  const read: RouteHandler = (c, values) => {
    requireNoQuery(c);
    return handle(c, bodyOf(schema, c.get("json")), values);
  };
  return { method: "POST", path, auth: true, maxJsonBytes: FRESHELL_MAX_BODY_BYTES, handle: read };
}

/** A POST without a body. */
export const withoutBody = (path: string, handle: RouteHandler): Route => ({
  method: "POST",
  path,
  auth: true,
  handle: (c, values) => {
    requireNoQuery(c);
    return handle(c, values);
  },
});
