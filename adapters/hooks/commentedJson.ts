/**
 * A JSON document as text with offsets: an insertion or removal leaves every other character as it was. The text has
 * already been parsed; here it is only measured. Comments count as blanks.
 */

export interface JsonNode {
  readonly kind: "object" | "array" | "scalar";
  /** Half open, brackets included. */
  readonly from: number;
  readonly to: number;
  readonly items: readonly JsonItem[];
  /** A string's value. */
  readonly text?: string | undefined;
}

interface JsonItem {
  /** Of an object's member. */
  readonly key: string | undefined;
  /** From its key or value to the end of its value. */
  readonly from: number;
  readonly to: number;
  readonly value: JsonNode;
}

/** The text with its comments blanked, of the same length. */
export const withoutComments = (text: string): string =>
  text.replaceAll(/"(?:[^"\\]|\\.)*"|\/\/[^\r\n]*|\/\*[^]*?\*\//g, (found) =>
    found.startsWith('"') ? found : found.replaceAll(/[^\r\n]/g, " "),
  );

/** The outermost value of a text that `JSON.parse` accepts without its comments. */
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

/** The member of this name; the last of several, as in `JSON.parse`. */
export const memberOf = (node: JsonNode, key: string): JsonItem | undefined =>
  node.items.findLast((item) => item.key === key);

/** How a document is laid out, so that what is added looks like the rest. */
interface Layout {
  /** Undefined when all of it is on one line. */
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
 * The text with an item after the last of `container`, or as the first of an empty one. Blanks between the brackets of an
 * empty one stay after the new item, by which `isMadeForItem` tells it from a container made for the item.
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

/** What separated two items, without the comma: empty unless it holds comments. */
function commentsOf(text: string, from: number, to: number): string {
  const blank = withoutComments(text).slice(from, to);
  const between = text.slice(from, to);
  if (blank === between) return "";
  const comma = blank.indexOf(",");
  return between.slice(0, comma) + between.slice(comma + 1);
}

/** Whether a container looks as if written together with its only item. */
export function isMadeForItem(text: string, { from, to, items }: JsonNode): boolean {
  const [item] = items;
  if (item === undefined || items.length > 1) return false;
  const [lead, trail] = [text.slice(from + 1, item.from), text.slice(item.to, to - 1)];
  if ((lead + trail).trim() !== "") return false;
  return lead.includes("\n") ? trail.includes("\n") : lead === "" && trail === "";
}

/** What stands before the first item; where that holds comments, the last line of it. */
function leadOf(text: string, { from, to, items }: JsonNode): string {
  const lead = text.slice(from + 1, items[0]?.from ?? to - 1);
  if (lead.trim() === "") return lead;
  return /(\r?\n[ \t]*)[^\r\n]*$/.exec(lead)?.[1] ?? " ";
}
