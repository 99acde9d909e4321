/**
 * A device's layout: tabs in order, a tree of panes in each, and the active ones. Devices publish and save the same schema.
 * Fields that a later version adds to tabs, nodes and contents are kept; declared fields are validated, and a tree's depth
 * is checked before anything recurses into it.
 */
import * as v from "valibot";
import { faultText } from "../faultWords.ts";
import { tryParse } from "../parse.ts";
import { AppError, invalidArgument } from "../../errors.ts";
import { wellFormedText } from "../../text/wellFormed.ts";
import { atMost, noControls, notEmpty } from "./schemaParts.ts";
import { isTerminalId } from "./selectors.ts";

/** Limits of a layout; above one of the first four the error is `RESOURCE_LIMIT`, above the others `INVALID_ARGUMENT`. */
export const LAYOUT_LIMITS = {
  tabs: 200,
  panesPerTab: 50,
  /** Nodes from a tab's root down to a leaf, both counted. */
  depth: 16,
  /** Size of a snapshot as JSON. */
  snapshotBytes: 1_048_576,
  titleChars: 256,
  urlChars: 2_048,
  filePathChars: 4_096,
  idChars: 128,
} as const;

export const SPLIT_DIRECTIONS = ["horizontal", "vertical"] as const;
/** `horizontal` is side by side. */
export type SplitDirection = (typeof SPLIT_DIRECTIONS)[number];

/** The id of a tab or pane. It is used as an object key, so `__proto__` is refused. */
const id = v.pipe(
  v.string("must be text"),
  v.regex(/^[!-~]+$/, "must be visible ASCII characters"),
  atMost(LAYOUT_LIMITS.idChars),
  v.check((text) => text !== "__proto__", "must not be __proto__"),
);
export const layoutIdSchema = id;
const line = (maxChars: number) => v.pipe(wellFormedText, noControls, notEmpty, atMost(maxChars));
export const tabTitleSchema = line(LAYOUT_LIMITS.titleChars);
/** A web page's URL; without user name and password, which everyone who may read the layout would see. */
export const paneUrlSchema = v.pipe(
  v.string("must be text"),
  atMost(LAYOUT_LIMITS.urlChars),
  v.regex(/^[^\s\p{C}]+$/u, "must not contain spaces or control characters"),
  v.check((text) => URL.canParse(text), "must be a complete URL, such as https://example.org/page"),
  v.check((text) => ["http:", "https:"].includes(new URL(text).protocol), "must begin with http: or https:"),
  v.check((text) => {
    const { username, password } = new URL(text);
    return username === "" && password === "";
  }, "must not contain a user name or a password"),
);
export const filePathSchema = line(LAYOUT_LIMITS.filePathChars);
const terminalId = v.pipe(v.string("must be text"), v.check(isTerminalId, "must be a terminal id"));
const sessionRef = v.looseObject({ provider: line(64), sessionId: line(512) });

/** By their `kind`. */
const contentSchema = v.variant("kind", [
  v.looseObject({ kind: v.literal("terminal"), terminalId }),
  v.looseObject({ kind: v.literal("browser"), url: paneUrlSchema }),
  v.looseObject({ kind: v.literal("editor"), filePath: filePathSchema }),
  v.looseObject({ kind: v.literal("claude-chat"), sessionRef: v.optional(v.nullable(sessionRef)) }),
  v.looseObject({ kind: v.literal("picker") }),
]);
export type PaneContent = v.InferOutput<typeof contentSchema>;

/** The terminal or session behind a pane. */
export const contentRefSchema = v.union(
  [v.strictObject({ terminalId }), v.strictObject({ sessionRef })],
  "must be {terminalId} or {sessionRef}",
);
export type ContentRef = v.InferOutput<typeof contentRefSchema>;

const leafSchema = v.looseObject({ type: v.literal("leaf"), id, content: contentSchema });
export interface LayoutLeaf {
  readonly type: "leaf";
  readonly id: string;
  readonly content: PaneContent;
  readonly [further: string]: unknown;
}

const share = v.pipe(
  v.number("must be a number"),
  v.finite("must be a number"),
  v.gtValue(0, "must be above 0"),
  v.maxValue(1_000_000, "must be at most 1000000"),
);
/** Its children are validated one by one. */
const splitSchema = v.looseObject({
  type: v.literal("split"),
  id,
  direction: v.picklist(SPLIT_DIRECTIONS, "must be horizontal or vertical"),
  sizes: v.strictTuple([share, share], "must be two numbers"),
  children: v.strictTuple([v.unknown(), v.unknown()], "must be two nodes"),
});
export interface LayoutSplit {
  readonly type: "split";
  readonly id: string;
  readonly direction: SplitDirection;
  readonly sizes: readonly [number, number];
  readonly children: readonly [LayoutNode, LayoutNode];
  readonly [further: string]: unknown;
}
export type LayoutNode = LayoutLeaf | LayoutSplit;

const time = v.pipe(v.number("must be a number"), v.finite("must be a number"));
/** The device that owns the tab, which is not always the one that has it now. */
export const ownerSchema = v.pipe(v.string("must be text"), v.regex(/^[A-Za-z0-9_.-]{1,128}$/, "must be a device id"));
const tabSchema = v.looseObject({
  id,
  ownerDeviceId: ownerSchema,
  title: tabTitleSchema,
  status: v.string("must be text"),
  createdAt: time,
  updatedAt: time,
});
export type LayoutTab = v.InferOutput<typeof tabSchema>;

const snapshotSchema = v.looseObject({
  tabs: v.array(tabSchema, "must be a list of tabs"),
  /** Further data that a device reports about its panes; may be incomplete. */
  panes: v.optional(v.array(v.looseObject({ id, tabId: id }), "must be a list of panes")),
  layouts: v.record(v.string(), v.unknown(), "must be an object"),
  activeTabId: v.nullable(id),
  activePane: v.record(v.string(), id, "must be an object"),
});

/** A pane as in listings (seed 002 §11.1). */
export interface LayoutPane {
  readonly id: string;
  readonly tabId: string;
  readonly ownerDeviceId: string;
  readonly kind: PaneContent["kind"];
  readonly status: string;
  readonly contentRef: ContentRef | null;
  readonly updatedAt: number;
  readonly [further: string]: unknown;
}

/** Valid: each tab has its tree, ids are unique, references resolve. */
export interface LayoutSnapshot {
  readonly tabs: readonly LayoutTab[];
  readonly panes?: readonly Readonly<{ id: string; tabId: string; [further: string]: unknown }>[] | undefined;
  readonly layouts: Readonly<Record<string, LayoutNode>>;
  readonly activeTabId: string | null;
  readonly activePane: Readonly<Record<string, string>>;
  readonly [further: string]: unknown;
}

/** What an owner returns to `read`. */
export interface OwnerLayout {
  readonly ownerDeviceId: string;
  readonly workspaceRevision: number;
  readonly updatedAt?: number | undefined;
  readonly capturedAt: number;
  readonly snapshot: LayoutSnapshot;
}

/** Fully validates a snapshot that was sent or saved. @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
export function parseSnapshot(given: unknown, what = "the snapshot"): LayoutSnapshot {
  const text = jsonOf(given, what);
  requireWithin("snapshotBytes", utf8Length(text), `${what} in bytes`);
  const found = checked(snapshotSchema, given, what);
  requireWithin("tabs", found.tabs.length, "tabs");
  const ids = new Set<string>();
  const once = (one: string): void => {
    if (ids.has(one)) throw invalid(`duplicate id ${JSON.stringify(one)} in ${what}`);
    ids.add(one);
  };
  for (const { id: tabId } of found.tabs) {
    once(tabId);
    if (!Object.hasOwn(found.layouts, tabId)) throw invalid(`${what}.layouts has no tree for the tab ${tabId}`);
    const leaves = checkTree(found.layouts[tabId], `${what}.layouts.${tabId}`, once);
    const active = Object.hasOwn(found.activePane, tabId) ? found.activePane[tabId] : undefined;
    if (active === undefined || !leaves.has(active))
      throw invalid(`${what}.activePane.${tabId} is not a pane of the tab`);
  }
  const count = found.tabs.length;
  for (const name of ["layouts", "activePane"] as const) {
    if (Object.keys(found[name]).length !== count) throw invalid(`${what}.${name} contains a tab that is not in tabs`);
  }
  const isThere = found.tabs.some((tab) => tab.id === found.activeTabId);
  if (count === 0 ? found.activeTabId !== null : !isThere) throw invalid(`${what}.activeTabId is not a tab`);
  return found as LayoutSnapshot;
}

/** Works without recursion, because a message can contain a tree deeper than the stack. Returns the ids of the leaves. */
function checkTree(root: unknown, what: string, once: (id: string) => void): ReadonlySet<string> {
  const leaves = new Set<string>();
  const left: [node: unknown, depth: number][] = [[root, 1]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [node, depth] = next;
    requireWithin("depth", depth, `${what} in levels`);
    if ((node as { type?: unknown } | null | undefined)?.type === "split") {
      const split = checked(splitSchema, node, what);
      once(split.id);
      left.push(...split.children.map((child): [unknown, number] => [child, depth + 1]));
    } else {
      const leaf = checked(leafSchema, node, what);
      once(leaf.id);
      leaves.add(leaf.id);
      requireWithin("panesPerTab", leaves.size, `panes of ${what}`);
    }
  }
  return leaves;
}

/** The leaves from left to right and top to bottom, which is the order of `pane-index:`. */
export function leavesOf(node: LayoutNode): LayoutLeaf[] {
  return node.type === "leaf" ? [node] : node.children.flatMap(leavesOf);
}

/** The terminal or session behind a content. */
export function contentRefOf(content: PaneContent): ContentRef | null {
  if (content.kind === "terminal") return { terminalId: content.terminalId };
  if (content.kind === "claude-chat" && content.sessionRef) return { sessionRef: content.sessionRef };
  return null;
}

/** @throws AppError RESOURCE_LIMIT */
export function requireWithin(
  limit: "tabs" | "panesPerTab" | "depth" | "snapshotBytes",
  count: number,
  what: string,
): void {
  const most = LAYOUT_LIMITS[limit];
  if (count <= most) return;
  throw new AppError("RESOURCE_LIMIT", `${what}: at most ${most}`, { details: { limit, max: most } });
}

export const utf8Length = (text: string): number => new TextEncoder().encode(text).length;

function jsonOf(given: unknown, what: string): string {
  try {
    return JSON.stringify(given) ?? "";
  } catch {
    // Nested deeper than the stack.
    throw new AppError("RESOURCE_LIMIT", `${what} is nested too deeply`, { details: { limit: "depth" } });
  }
}

/** @throws AppError INVALID_ARGUMENT that names the field */
export function checked<Schema extends v.GenericSchema>(
  schema: Schema,
  given: unknown,
  what: string,
): v.InferOutput<Schema> {
  const found = tryParse(schema, given);
  if (found.success) return found.output;
  const { path, message } = found.fault;
  throw invalid(faultText({ path: path === undefined ? what : `${what}.${path}`, message }));
}

/** Its message may name what was given. */
export const invalid = (message: string): AppError => invalidArgument(message.slice(0, 500));
