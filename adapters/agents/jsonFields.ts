/** Fields of a program's JSON, which may be anything: each has the right type or is undefined. */
/** A line that is one JSON object. */
export type JsonLine = Readonly<Record<string, unknown>>;

export const textAt = (line: JsonLine, name: string): string | undefined => {
  const value = line[name];
  return typeof value === "string" ? value : undefined;
};

export const numberAt = (line: JsonLine, name: string): number | undefined => {
  const value = line[name];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
};

export const objectAt = (line: JsonLine, name: string): JsonLine | undefined => {
  const value = line[name];
  return isObject(value) ? value : undefined;
};

export const listAt = (line: JsonLine, name: string): readonly unknown[] | undefined => {
  const value = line[name];
  return Array.isArray(value) ? (value as readonly unknown[]) : undefined;
};

export const isObject = (value: unknown): value is JsonLine =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Without undefined fields, as JSON has it. */
export const given = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
