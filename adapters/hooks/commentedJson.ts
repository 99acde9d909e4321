/**
 * A JSON document as text with offsets, so that an insertion or removal leaves every other character unchanged. The text
 * has already been validated; here it is only measured. Comments count as whitespace.
 */

export interface JsonNode {
  readonly kind: "object" | "array" | "scalar";
  /** The half-open range of the value, including brackets. */
  readonly from: number;
  readonly to: number;
  readonly items: readonly JsonItem[];
  /** A string's value. */
  readonly text?: string | undefined;
}

interface JsonItem {
  /** The key, for an object's member. */
  readonly key: string | undefined;
  /** From its key or value to the end of its value. */
  readonly from: number;
  readonly to: number;
  readonly value: JsonNode;
}

/** The text with comments replaced by spaces, of the same length. */
export const withoutComments = (text: string): string =>
  text.replaceAll(/"(?:[^"\\]|\\.)*"|\/\/[^\r\n]*|\/\*[^]*?\*\//g, (found) =>
    found.startsWith('"') ? found : found.replaceAll(/[^\r\n]/g, " "),
  );

/** Measures the outermost value of a text that, without its comments, `JSON.parse` accepts. */
export function measure(document: string): JsonNode {
  const text = withoutComments(document);
  let at = 0;
  const skipBlanks = (): void => {
    while (at < text.length && " \t\r\n".includes(text[at]!)) at += 1;
  };
  const string = (): string => {
    const from = at;
    at += 1;
    while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    at += 1;
    return JSON.parse(text.slice(from, at)) as string;
  };
  const value = (): JsonNode => {
    const from = at;
    const opening = text[at];
    if (opening === '"') return { kind: "scalar", text: string(), from, to: at, items: [] };
    if (opening === "{" || opening === "[") return container(opening === "{" ? "object" : "array");
    while (at < text.length && !",]} \t\r\n".includes(text[at]!)) at += 1;
    return { kind: "scalar", from, to: at, items: [] };
  };
  const container = (kind: "object" | "array"): JsonNode => {
    const from = at;
    const items: JsonItem[] = [];
    at += 1;
    for (;;) {
      skipBlanks();
      if (text[at] === "]" || text[at] === "}") break;
      const itemFrom = at;
      const key = kind === "object" ? string() : undefined;
      skipBlanks();
      // The colon after a key.
      if (kind === "object") at += 1;
      skipBlanks();
      const node = value();
      items.push({ key, from: itemFrom, to: node.to, value: node });
      skipBlanks();
      if (text[at] === ",") at += 1;
    }
    at += 1;
    return { kind, from, to: at, items };
  };
  skipBlanks();
  return value();
}

/** The member with this key; if there are several, the last, as in `JSON.parse`. */
export const memberOf = (node: JsonNode, key: string): JsonItem | undefined =>
  node.items.findLast((item) => item.key === key);

/** A document's formatting, so that what is added looks like the rest. */
interface Layout {
  /** Undefined if the document is on one line. */
  readonly indent: string | undefined;
  readonly lineEnd: string;
}

export function layoutOf(text: string, root: JsonNode): Layout {
  const lead = leadOf(text, root);
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  if (root.items.length === 0) return { indent: "  ", lineEnd };
  return { indent: lead.includes("\n") ? lead.slice(lead.lastIndexOf("\n") + 1) || "  " : undefined, lineEnd };
}

/**
 * The text with an item added at the end of `container`. Whitespace between the brackets of an empty container stays after
 * the new item, which lets `isMadeForItem` tell it from a container created for the item.
 */
export function insertItem(
  text: string,
  container: JsonNode,
  item: { readonly key?: string; readonly value: unknown },
  layout: Layout,
  depth: number,
): string {
  const last = container.items.at(-1);
  const inside = leadOf(text, container);
  const { indent, lineEnd } = layout;
  const isMultiline = indent !== undefined && (last === undefined || inside.includes("\n"));
  const margin = last === undefined ? (indent ?? "").repeat(depth) : inside.slice(inside.lastIndexOf("\n") + 1);
  const written = isMultiline
    ? JSON.stringify(item.value, undefined, indent).replaceAll("\n", lineEnd + margin)
    : JSON.stringify(item.value);
  const colon = isMultiline || /":[ ]/.test(text) ? ": " : ":";
  const member = item.key === undefined ? written : `${JSON.stringify(item.key)}${colon}${written}`;
  if (last !== undefined) return splice(text, last.to, `,${inside}${member}`);
  const lead = inside.includes("\n") ? "" : isMultiline ? lineEnd + margin : " ";
  return splice(text, container.from + 1, lead + member);
}

const splice = (text: string, at: number, more: string): string => text.slice(0, at) + more + text.slice(at);

/** The text without this item and its separator. */
export function removeItem(text: string, container: JsonNode, index: number): string {
  const { items } = container;
  const item = items[index]!;
  const [previous, next] = [items[index - 1], items[index + 1]];
  if (previous !== undefined)
    return text.slice(0, previous.to) + commentsOf(text, previous.to, item.from) + text.slice(item.to);
  if (next !== undefined)
    return text.slice(0, item.from) + commentsOf(text, item.to, next.from) + text.slice(next.from);
  return text.slice(0, container.from + 1) + text.slice(item.to);
}

/** The text between two items without the comma, if it holds comments; else empty. */
function commentsOf(text: string, from: number, to: number): string {
  const blank = withoutComments(text).slice(from, to);
  const between = text.slice(from, to);
  if (blank === between) return "";
  const comma = blank.indexOf(",");
  return between.slice(0, comma) + between.slice(comma + 1);
}

/** Whether a container looks as if it was written together with its only item. */
export function isMadeForItem(text: string, { from, to, items }: JsonNode): boolean {
  const [item] = items;
  if (item === undefined || items.length > 1) return false;
  const [lead, trail] = [text.slice(from + 1, item.from), text.slice(item.to, to - 1)];
  if ((lead + trail).trim() !== "") return false;
  return lead.includes("\n") ? trail.includes("\n") : lead === "" && trail === "";
}

/** The text before the first item; if it holds comments, only its last line. */
function leadOf(text: string, { from, to, items }: JsonNode): string {
  const lead = text.slice(from + 1, items[0]?.from ?? to - 1);
  if (lead.trim() === "") return lead;
  return /(\r?\n[ \t]*)[^\r\n]*$/.exec(lead)?.[1] ?? " ";
}
