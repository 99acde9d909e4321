/** The first field at fault of a request, in words that say what it has to be; and the key under which it is done once. */
import type * as v from "valibot";
import { faultText, type Refuse } from "../../protocol/api/parse.ts";
import { teamError } from "./teamErrors.ts";

/** For `parse`: invalid_identifier, invalid_argument. */
export const refuseTeam: Refuse = (issue, path) => {
  const [, isIdentifier, message = ""] = /^(invalid_identifier: )?(.*)$/s.exec(wordsOf(issue)) ?? [];
  return teamError(isIdentifier === undefined ? "invalid_argument" : "invalid_identifier", faultText(message, path));
};

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

/** The header is for callers whose HTTP client repeats requests by itself; the body's own key takes precedence. */
export function keyed<Request extends { readonly idempotencyKey?: string | undefined }>(
  request: Request,
  header: string | undefined,
): Request {
  if (request.idempotencyKey !== undefined || header === undefined || header === "") return request;
  if (header.length > 256) throw teamError("invalid_argument", "Idempotency-Key: at most 256 characters");
  return { ...request, idempotencyKey: header };
}
