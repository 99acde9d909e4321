/** JSON Schema from the schemas that check: what is described is what is checked. */
import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";

/** Checks that JSON Schema cannot say are left out; the daemon makes them all the same. */
export function jsonSchema(schema: GenericSchema, typeMode: "input" | "output"): Record<string, unknown> {
  const { $schema: _draft, ...rest } = toJsonSchema(schema, { typeMode, errorMode: "ignore", target: "draft-2020-12" });
  return rest;
}
