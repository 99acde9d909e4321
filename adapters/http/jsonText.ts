/** JSON from outside, for every listener. */
import { AppError } from "../../protocol/errors.ts";
import { isTooDeep, MAX_JSON_DEPTH } from "../../protocol/text/jsonDepth.ts";

/** @throws AppError INVALID_ARGUMENT */
export function parseJsonText(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new AppError("INVALID_ARGUMENT", "Invalid JSON body.", { cause: error });
  }
  if (isTooDeep(value, text.length)) {
    throw new AppError("INVALID_ARGUMENT", `Invalid JSON body: nested deeper than ${MAX_JSON_DEPTH} levels.`);
  }
  return value;
}
