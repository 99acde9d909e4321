/** The body of a request, by its fields. */
import { type Fields, fieldsOf } from "../../protocol/text/jsonObject.ts";
import { parseJsonText } from "../kit/guard/jsonText.ts";

/** Undefined for a body that is no JSON. */
export function bodyValue(bytes: Uint8Array): unknown {
  try {
    return parseJsonText(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** Undefined for a body that is no JSON object. */
export const bodyFields = (bytes: Uint8Array): Fields | undefined => fieldsOf(bodyValue(bytes));
