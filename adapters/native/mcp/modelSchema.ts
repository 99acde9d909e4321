/**
 * What a model reads of a tool's input: it pays for every word, in every conversation. Bounds and patterns are left out,
 * because an error teaches them to the few that need to know; a tool may say a member in fewer words, or in a flatter form
 * (`modelInput.ts`), than the API's document does.
 */
import type { GenericSchema } from "valibot";
import { type Fields, isFields } from "../../../protocol/text/jsonObject.ts";
import { jsonSchema } from "../../serving/jsonSchema.ts";

/** By member: its description, empty for none; or its whole schema; null: it is not shown. */
export type Words = Readonly<Record<string, string | object | null>>;

const LEFT_OUT: ReadonlySet<string> = new Set([
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "pattern",
  "contentEncoding",
]);

export function modelSchema(input: GenericSchema, words: Words = {}): Record<string, unknown> {
  const { properties = {}, required = [] } = jsonSchema(input, "input");
  const api = properties as Readonly<Record<string, object>>;
  const others = Object.entries(api).filter(([name]) => !Object.hasOwn(words, name));
  const shown = [...others, ...Object.entries(words)].flatMap(([name, given]) => {
    const known = api[name];
    if (given === null || given === undefined) return [];
    const { description: _longer, ...plain } = (known ?? {}) as Fields;
    const described = given === "" ? plain : { ...plain, description: given };
    const schema = typeof given === "string" ? described : given;
    return [[name, shorter(schema)]] as const;
  });
  // What is not shown, or has a form of its own here, can be given in another one.
  const needed = (required as readonly string[]).filter((name) => typeof words[name] !== "object");
  return {
    type: "object",
    properties: Object.fromEntries(shown),
    ...(needed.length === 0 ? {} : { required: needed }),
  };
}

function shorter(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(shorter);
  if (!isFields(schema)) return schema;
  const kept = Object.entries(schema).filter(([key, value]) => {
    if (key === "additionalProperties" || key === "propertyNames") return false;
    // Its values say it.
    if (key === "type") return !Array.isArray(schema["enum"]);
    if (key === "required") return Array.isArray(value) && value.length > 0;
    // A member may have such a name.
    return !LEFT_OUT.has(key) || isFields(value);
  });
  return Object.fromEntries(kept.map(([key, value]) => [key, shorter(value)]));
}
