/**
 * The members of an object's schema, for callers that have no JSON: queries and command lines.
 */
import * as v from "valibot";
import type { Node } from "../../protocol/api/faultWords.ts";

export interface SchemaMember {
  readonly kind: "text" | "number" | "numberOrText" | "flag" | "list" | "record" | "other";
  readonly description: string | undefined;
  readonly choices: readonly string[] | undefined;
  readonly min: number | undefined;
  readonly max: number | undefined;
}

const known = new WeakMap<v.GenericSchema, ReadonlyMap<string, SchemaMember>>();

/** By name, in the schema's order; empty if the schema is not an object. */
export function schemaMembers(schema: v.GenericSchema): ReadonlyMap<string, SchemaMember> {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const { entries = {} } = schema as unknown as Node;
  const members = new Map(Object.entries(entries).map(([name, member]) => [name, memberOf(member)]));
  known.set(schema, members);
  return members;
}

/**
 * A text as the JSON that a member takes: a number or a boolean where it is one. Everything else stays a text, which the
 * schema refuses or takes.
 */
export function valueOfText(text: string, kind: SchemaMember["kind"] | undefined): unknown {
  if (kind === "number") return /^\d{1,15}(?:\.\d{0,5}[1-9])?$/.test(text) ? Number(text) : text;
  if (kind !== "flag") return text;
  return /^(?:true|false|1|0)$/.test(text) ? text === "true" || text === "1" : text;
}

function memberOf(member: Node): SchemaMember {
  const node = unwrapped(member);
  const bound = (type: string): number | undefined => {
    const requirement = node.pipe?.find((step) => step.type === type)?.requirement;
    return typeof requirement === "number" && node.type === "number" ? requirement : undefined;
  };
  return {
    kind: kindOf(node),
    description: descriptionOf(member) ?? descriptionOf(node),
    choices: node.type === "picklist" ? node.options?.map(String) : undefined,
    min: bound("min_value"),
    max: bound("max_value"),
  };
}

const descriptionOf = (node: Node): string | undefined => v.getDescription(node as unknown as v.GenericSchema);

const unwrapped = (node: Node): Node => (node.wrapped === undefined ? node : unwrapped(node.wrapped));

function kindOf(node: Node): SchemaMember["kind"] {
  switch (node.type) {
    case "string":
    case "picklist":
      return "text";
    case "number":
      return "number";
    case "boolean":
      return "flag";
    case "array":
      return "list";
    case "record":
      return "record";
    case "union":
      return isNumberOrText(node) ? "numberOrText" : "other";
    default:
      return "other";
  }
}

function isNumberOrText({ options = [] }: Node): boolean {
  const types = new Set((options as readonly Node[]).map(({ type }) => type));
  return types.size === 2 && types.has("number") && types.has("string");
}
