/** Converts a query's strings to a schema's JSON: integers and booleans where the schema has them, else strings. */
import type { GenericSchema } from "valibot";
import { AppError } from "../../protocol/errors.ts";
import { schemaMembers, type SchemaMember } from "../operations/schemaMembers.ts";

const known = new WeakMap<GenericSchema, ReadonlyMap<string, SchemaMember>>();

/** An operation without input ignores the query. @throws AppError INVALID_ARGUMENT */
export function queryInput(schema: GenericSchema, query: Readonly<Record<string, string>>): object {
  let members = known.get(schema);
  if (members === undefined) {
    members = schemaMembers(schema);
    known.set(schema, members);
  }
  if (members.size === 0) return {};
  const input: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(query)) input[name] = valueOf(name, text, members.get(name)?.kind);
  return input;
}

function valueOf(name: string, text: string, kind: SchemaMember["kind"] | undefined): unknown {
  switch (kind) {
    case "number":
      if (!/^\d{1,15}$/.test(text)) throw new AppError("INVALID_ARGUMENT", `${name} must be an integer`);
      return Number(text);
    case "flag":
      if (!/^(?:true|false|1|0)$/.test(text)) {
        throw new AppError("INVALID_ARGUMENT", `${name} must be true or false`);
      }
      return text === "true" || text === "1";
    case "text":
    case "numberOrText":
    case "list":
    case "record":
    case "other":
    case undefined:
      return text;
  }
}
