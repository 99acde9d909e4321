/**
 * The members of an object's schema, for callers that have no JSON: queries and command lines.
 */
import * as v from "valibot";

export interface SchemaMember {
  readonly kind: "text" | "number" | "numberOrText" | "flag" | "list" | "record" | "other";
  readonly description: string | undefined;
  readonly choices: readonly string[] | undefined;
  readonly min: number | undefined;
  readonly max: number | undefined;
}

interface Node {
  readonly type: string;
  readonly wrapped?: Node;
  readonly options?: readonly unknown[];
  readonly entries?: Readonly<Record<string, Node>>;
  readonly pipe?: readonly { readonly kind: string; readonly type: string; readonly requirement?: unknown }[];
}

/** By name, in the schema's order; empty if the schema is not an object. */
export function schemaMembers(schema: v.GenericSchema): ReadonlyMap<string, SchemaMember> {
  const { entries = {} } = schema as unknown as Node;
  return new Map(Object.entries(entries).map(([name, member]) => [name, memberOf(member)]));
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
