/** JSON Schema generated from the schemas that validate requests. */
import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";

/** Omits checks that JSON Schema cannot express; the daemon still makes them. */
export function jsonSchema(schema: GenericSchema, typeMode: "input" | "output"): Record<string, unknown> {
  const { $schema: _draft, ...rest } = toJsonSchema(schema, {
    typeMode,
    errorMode: "ignore",
    target: "draft-2020-12",
    // Of ours alone (`named`).
    ignoreActions: ["metadata"],
  });
  return rest;
}
