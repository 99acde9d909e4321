/**
 * Names of what other machines have: `main@build`. Which members of a request or a response are such names says its schema
 * (`named` in protocol/api/described.ts).
 */
import * as v from "valibot";

interface Node {
  readonly wrapped?: v.GenericSchema;
  readonly item?: v.GenericSchema;
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
}

export const nameOn = (host: string, name: string): string => `${name}@${host}`;

/** What stands before and behind the last `@`; undefined without one. */
export function splitName(name: string): { readonly name: string; readonly host: string } | undefined {
  const at = name.lastIndexOf("@");
  return at <= 0 || at === name.length - 1 ? undefined : { name: name.slice(0, at), host: name.slice(at + 1) };
}

/** The value with every name in it changed; what does not fit the schema stays as it is. */
export function withNames(schema: v.GenericSchema, value: unknown, change: (name: string) => string): unknown {
  const { wrapped, item, entries } = schema as unknown as Node;
  if (wrapped !== undefined) return withNames(wrapped, value, change);
  if (typeof value === "string") return v.getMetadata(schema)["isName"] === true ? change(value) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return item === undefined ? value : value.map((each) => withNames(item, each, change));
  if (entries === undefined) return value;
  const changed: Record<string, unknown> = { ...value };
  for (const [key, member] of Object.entries(entries)) {
    // What is not given stays so.
    if (Object.hasOwn(changed, key)) changed[key] = withNames(member, changed[key], change);
  }
  return changed;
}
