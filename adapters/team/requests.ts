/** From a JSON body to a checked request, or the first field at fault in words that say what it has to be. */
import * as v from "valibot";
import { teamError } from "./errors.ts";

/** @throws AppError invalid_identifier, invalid_argument */
export function parse<Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
  // To the library an array is an object without members.
  const parsed = v.safeParse(schema, Array.isArray(body) ? undefined : body);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const [, isIdentifier, message = ""] = /^(invalid_identifier: )?(.*)$/s.exec(wordsOf(issue)) ?? [];
  const path = v.getDotPath(issue);
  const said = path === null ? message : `${path}: ${message}`;
  throw teamError(isIdentifier === undefined ? "invalid_argument" : "invalid_identifier", said);
}

/** Checks have words of their own in the schema; what is of the wrong kind gets its words here. */
function wordsOf({ kind, type, expected, input, path, message }: v.BaseIssue<unknown>): string {
  if (kind !== "schema") return message;
  switch (type) {
    case "strict_object":
      if (path === undefined || path.length === 0) return "the body must be a JSON object";
      if (expected === "never") return "the request has no such field";
      return input === undefined ? "is missing" : "must be a JSON object";
    case "string":
      return "must be text";
    default:
      return message;
  }
}

/** The header is for callers whose HTTP client repeats requests by itself; the body's own key goes before it. */
export function keyed<Request extends { readonly idempotencyKey?: string | undefined }>(
  request: Request,
  header: string | undefined,
): Request {
  if (request.idempotencyKey !== undefined || header === undefined || header === "") return request;
  if (header.length > 256) throw teamError("invalid_argument", "Idempotency-Key: at most 256 characters");
  return { ...request, idempotencyKey: header };
}
