/** JSON from outside, by its fields: what has another type is as good as absent. */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const fieldsOf = (value: unknown): Fields | undefined => (isFields(value) ? value : undefined);

export const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Undefined for text that is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
