/** Routes with bodies and queries validated by schemas: errors name what is missing, wrong or unknown. */
import type { Context } from "hono";
import type { GenericSchema, InferOutput } from "valibot";
import { FRESHELL_MAX_BODY_BYTES } from "../../protocol/api/freshell/freshellHttp.ts";
import { parse } from "../../protocol/api/parse.ts";
import { AppError } from "../../protocol/errors.ts";
import type { GuardEnv, RouteHandler } from "../kit/guard/requestGuard.ts";
import type { Route } from "../kit/guard/routes.ts";

/** @throws AppError INVALID_ARGUMENT */
function bodyOf<Schema extends GenericSchema>(schema: Schema, json: unknown): InferOutput<Schema> {
  // A schema would find it in every object.
  if (typeof json === "object" && json !== null && Object.hasOwn(json, "__proto__")) {
    throw new AppError("INVALID_ARGUMENT", "__proto__: there is no such field");
  }
  return parse(schema, json);
}

/** @throws AppError INVALID_ARGUMENT */
function queryOf<Schema extends GenericSchema>(schema: Schema, c: Context<GuardEnv>): InferOutput<Schema> {
  const query = c.req.queries();
  const twice = Object.keys(query).find((name) => (query[name]?.length ?? 0) > 1);
  if (twice !== undefined) throw new AppError("INVALID_ARGUMENT", `${shown(twice)}: is given more than once`);
  return bodyOf(schema, Object.fromEntries(Object.entries(query).map(([name, [value]]) => [name, value])));
}

/** @throws AppError INVALID_ARGUMENT */
function requireNoQuery(c: Context<GuardEnv>): void {
  const [unknown] = Object.keys(c.req.query());
  if (unknown !== undefined)
    throw new AppError("INVALID_ARGUMENT", `${shown(unknown)}: there is no such parameter here`);
}

const MAX_SHOWN_CHARS = 64;
const shown = (name: string): string => name.slice(0, MAX_SHOWN_CHARS);

type Handle<Input> = (c: Context<GuardEnv>, input: Input) => Response | Promise<Response>;

/** A route without body and query. */
export const plain = (method: Route["method"], path: string, handle: RouteHandler): Route => ({
  method,
  path,
  auth: true,
  handle: (c) => {
    requireNoQuery(c);
    return handle(c);
  },
});

export const get = (path: string, handle: RouteHandler): Route => plain("GET", path, handle);

/** A GET whose query has a schema. */
export const getQuery = <Schema extends GenericSchema>(
  path: string,
  schema: Schema,
  handle: Handle<InferOutput<Schema>>,
): Route => ({ method: "GET", path, auth: true, handle: (c) => handle(c, queryOf(schema, c)) });

/** A POST whose body has a schema. */
export const post = <Schema extends GenericSchema>(
  path: string,
  schema: Schema,
  handle: Handle<InferOutput<Schema>>,
  maxJsonBytes = FRESHELL_MAX_BODY_BYTES,
): Route => ({
  ...plain("POST", path, (c) => handle(c, bodyOf(schema, c.get("json")))),
  maxJsonBytes,
});
