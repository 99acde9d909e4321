/** JSON Schema from the validating schemas: the description is what is validated. */
import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";

/** Checks that JSON Schema cannot express are left out; the daemon still makes them. */
export function jsonSchema(schema: GenericSchema, typeMode: "input" | "output"): Record<string, unknown> {
  const { $schema: _draft, ...rest } = toJsonSchema(schema, { typeMode, errorMode: "ignore", target: "draft-2020-12" });
  return rest;
}
