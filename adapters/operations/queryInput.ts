/** Converts a query's strings to a schema's JSON. */
import type { GenericSchema } from "valibot";
import { schemaMembers, valueOfText } from "./schemaMembers.ts";

/** An operation without input ignores the query. */
export function queryInput(schema: GenericSchema, query: Readonly<Record<string, string>>): object {
  const members = schemaMembers(schema);
  if (members.size === 0) return {};
  const entries = Object.entries(query).map(([name, text]) => [name, valueOfText(text, members.get(name)?.kind)]);
  return Object.fromEntries(entries) as object;
}
