/** Fields of a program's JSON, which may be anything: each has the right type or is undefined. */
import { fieldsOf, textOf } from "../../protocol/text/jsonObject.ts";

/** A line that is one JSON object. */
export type JsonLine = Readonly<Record<string, unknown>>;

export const textAt = (line: JsonLine, name: string): string | undefined => textOf(line[name]);

export const numberAt = (line: JsonLine, name: string): number | undefined => {
  const value = line[name];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
};

export const objectAt = (line: JsonLine, name: string): JsonLine | undefined => fieldsOf(line[name]);

export const listAt = (line: JsonLine, name: string): readonly unknown[] | undefined => {
  const value = line[name];
  return Array.isArray(value) ? (value as readonly unknown[]) : undefined;
};

/** Without undefined fields, as JSON has it. */
export const given = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
