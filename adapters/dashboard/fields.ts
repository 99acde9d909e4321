/** The body of a request, by its fields. */
import { type Fields, fieldsOf } from "../../protocol/text/jsonObject.ts";
import { parseJsonText } from "../kit/guard/jsonText.ts";

/** Undefined for a body that is no JSON object. */
export function bodyFields(bytes: Uint8Array): Fields | undefined {
  try {
    return fieldsOf(parseJsonText(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}
