/** Routes with bodies and queries validated by schemas: errors name what is missing, wrong or unknown. */
import type { Context } from "hono";
import type { GenericSchema, InferOutput } from "valibot";
import { FRESHELL_MAX_BODY_BYTES } from "../../protocol/api/freshell/freshellHttp.ts";
import { faultOf } from "../../protocol/api/freshell/freshellErrors.ts";
import { parse } from "../../protocol/api/parse.ts";
import { AppError } from "../../protocol/errors.ts";
import type { GuardEnv } from "../kit/guard/requestGuard.ts";
import { endpointsOf } from "../kit/guard/routes.ts";

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

/** What every route that reaches tmux can end in; a lost connection is an INTERNAL_ERROR here. */
export const ON_TMUX = [
  "INVALID_ARGUMENT",
  "INVALID_TARGET",
  "NOT_FOUND",
  "RESOURCE_LIMIT",
  "INCONSISTENT_STATE",
] as const;
