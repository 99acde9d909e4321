/** Parses untrusted JSON, for every listener. */
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import { jsonShape, MAX_JSON_DEPTH, MAX_JSON_MEMBERS, MAX_JSON_VALUES } from "../../../protocol/text/jsonShape.ts";

/** @throws AppError INVALID_ARGUMENT */
export function parseJsonText(text: string): unknown {
  const { depth, members, values } = jsonShape(text);
  if (depth > MAX_JSON_DEPTH) {
    throw invalidArgument(`Invalid JSON body: nested deeper than ${MAX_JSON_DEPTH} levels.`);
  }
  if (members > MAX_JSON_MEMBERS) {
    throw invalidArgument(`Invalid JSON body: more than ${MAX_JSON_MEMBERS} objects, lists and fields.`);
  }
  if (values > MAX_JSON_VALUES) {
    throw invalidArgument(`Invalid JSON body: more than ${MAX_JSON_VALUES} values.`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError("INVALID_ARGUMENT", "Invalid JSON body.", { cause: error });
  }
}
