/** JSON from outside, by its fields: what has another type is as good as absent. The page uses this too. */
import { parseJsonText } from "../kit/guard/jsonText.ts";

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

export const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Undefined for a body that is no JSON object. */
export function bodyFields(bytes: Uint8Array): Fields | undefined {
  try {
    return fieldsOf(parseJsonText(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}

/** Undefined for text that is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
