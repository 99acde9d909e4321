/**
 * Converts a query's strings to a schema's JSON: integers and booleans where the schema has them, else strings. What is not
 * one stays a string, which the schema refuses.
 */
import type { GenericSchema } from "valibot";
import { schemaMembers, type SchemaMember } from "../operations/schemaMembers.ts";

const known = new WeakMap<GenericSchema, ReadonlyMap<string, SchemaMember>>();

/** An operation without input ignores the query. */
export function queryInput(schema: GenericSchema, query: Readonly<Record<string, string>>): object {
  let members = known.get(schema);
  if (members === undefined) {
    members = schemaMembers(schema);
    known.set(schema, members);
  }
  if (members.size === 0) return {};
  const input: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(query)) input[name] = valueOf(text, members.get(name)?.kind);
  return input;
}

function valueOf(text: string, kind: SchemaMember["kind"] | undefined): unknown {
  switch (kind) {
    case "number":
      return /^\d{1,15}$/.test(text) ? Number(text) : text;
    case "flag":
      return /^(?:true|false|1|0)$/.test(text) ? text === "true" || text === "1" : text;
    case "text":
    case "numberOrText":
    case "list":
    case "record":
    case "other":
    case undefined:
      return text;
  }
}
