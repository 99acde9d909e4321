/**
 * What an earlier page kept under `freshell.tabs.v1` and `freshell.panes.v1`, as a present layout (seed 002 §13.1). Every valid tab
 * and pane is kept; content that can no longer be shown becomes a picker with its data as hints. The tree is walked without
 * recursion: the stored one may be deeper than the stack.
 */
import { type Fields, fieldsOf, parseJson } from "../../../../protocol/text/jsonObject.ts";
import { matches } from "../../../../protocol/api/parse.ts";
import {
  filePathSchema,
  LAYOUT_LIMITS,
  type LayoutNode,
  type PaneContent,
  paneUrlSchema,
} from "../../../../protocol/api/freshell/deviceLayout.ts";
import { isTerminalId } from "../../../../protocol/api/freshell/selectors.ts";

interface LegacyText {
  /** As stored; null: nothing stored. */
  readonly tabs: string | null;
  readonly panes: string | null;
}

/** For `openSaved`, which stamps and checks it; undefined: nothing that could be a layout. */
export function legacyLayout(stored: LegacyText, newId: () => string): Fields | undefined {
  const tabsState = fieldsOf(fieldsOf(parseJson(stored.tabs ?? ""))?.["tabs"]);
  const panes = fieldsOf(parseJson(stored.panes ?? "")) ?? {};
  const listed = tabsState?.["tabs"];
  if (tabsState === undefined || !Array.isArray(listed)) return undefined;
  const [layouts, active, titles] = [
    fieldsOf(panes["layouts"]) ?? {},
    fieldsOf(panes["activePane"]) ?? {},
    fieldsOf(panes["paneTitles"]) ?? {},
  ];
  const idFor = uniqueIds(newId);
  const tabs: Fields[] = [];
  const trees: Record<string, LayoutNode> = {};
  const activePane: Record<string, unknown> = {};
  const renamed = new Map<string, string>();
  for (const given of listed.slice(0, LAYOUT_LIMITS.tabs) as unknown[]) {
    const tab = fieldsOf(given);
    if (tab === undefined) continue;
    const before = String(tab["id"]);
    const id = idFor(tab["id"]);
    if (!renamed.has(before)) renamed.set(before, id);
    const root = own(layouts, before) ?? { type: "leaf", content: contentOfTab(tab) };
    const tree = treeOf(root, { idFor, titles: fieldsOf(own(titles, before)) ?? {} });
    tabs.push({ ...tab, id, title: titleOf(tab["title"], `Tab ${tabs.length + 1}`), status: "running" });
    trees[id] = tree;
    activePane[id] = own(active, before);
  }
  if (tabs.length === 0) return undefined;
  return { tabs, layouts: trees, activeTabId: renamed.get(String(tabsState["activeTabId"])) ?? null, activePane };
}

interface TreeContext {
  readonly idFor: (given: unknown) => string;
  readonly titles: Fields;
}

/** Too deep or too many: the panes that fit, and a picker instead of the rest. */
function treeOf(root: unknown, { idFor, titles }: TreeContext): LayoutNode {
  let leaves = 0;
  const leaf = (given: Fields): LayoutNode => {
    leaves += 1;
    const id = idFor(given["id"]);
    const title = titleOf(own(titles, String(given["id"])), "");
    return {
      type: "leaf",
      id,
      content: contentOf(fieldsOf(given["content"]) ?? {}),
      ...(title === "" ? {} : { title }),
    };
  };
  /** Bounded by `depth`. */
  const build = (given: unknown, depth: number): LayoutNode => {
    const node = fieldsOf(given) ?? {};
    const children = node["children"];
    const isSplit = node["type"] === "split" && Array.isArray(children) && children.length >= 2;
    if (!isSplit || depth >= LAYOUT_LIMITS.depth || leaves + 2 > LAYOUT_LIMITS.panesPerTab) {
      return leaf(isSplit ? {} : node);
    }
    const id = idFor(node["id"]);
    const direction = node["direction"] === "vertical" ? "vertical" : "horizontal";
    const first = build(children[0], depth + 1);
    return {
      type: "split",
      id,
      direction,
      sizes: sizesOf(node["sizes"]),
      children: [first, build(children[1], depth + 1)],
    };
  };
  return build(root, 1);
}

function contentOf(content: Fields): PaneContent {
  const { kind, terminalId } = content;
  if (kind === "terminal" && typeof terminalId === "string" && isTerminalId(terminalId)) {
    return { kind, terminalId, ...hints(content) };
  }
  // One that was never made becomes a picker that can make it.
  if (kind === "terminal") return { kind: "picker", ...hints(content) };
  if (kind === "browser" && matches(paneUrlSchema, content["url"])) return { kind, url: content["url"] };
  if (kind === "editor" && matches(filePathSchema, content["filePath"])) return { kind, filePath: content["filePath"] };
  return kind === "claude-chat" ? { kind, ...hints(content) } : { kind: "picker" };
}

/** For a tab without a tree: its content was in the tab itself. */
const contentOfTab = (tab: Fields): Fields =>
  typeof tab["terminalId"] === "string" ? { ...tab, kind: "terminal" } : { ...tab, kind: "picker" };

const HINTS = ["mode", "shell", "initialCwd", "resumeSessionId"] as const;
const MAX_HINT_CHARS = 1_000;

function hints(content: Fields): Fields {
  const isHint = (value: unknown): boolean =>
    typeof value === "string" && value !== "" && value.length <= MAX_HINT_CHARS;
  return Object.fromEntries(HINTS.map((name) => [name, content[name]]).filter(([, value]) => isHint(value)));
}

function sizesOf(given: unknown): readonly [number, number] {
  const [first, second] = Array.isArray(given) ? (given as unknown[]) : [];
  const isShare = (one: unknown): one is number => typeof one === "number" && one > 0 && one <= 1_000_000;
  return isShare(first) && isShare(second) ? [first, second] : [50, 50];
}

function titleOf(given: unknown, otherwise: string): string {
  const text = typeof given === "string" ? given.replaceAll(/[\p{Cc}\p{Cs}]+/gu, " ").trim() : "";
  // Does not cut a surrogate pair.
  const cut = text.slice(0, LAYOUT_LIMITS.titleChars).replace(/\p{Cs}$/u, "");
  return cut === "" ? otherwise : cut;
}

/** An id occurs once, and is one that a layout may have. */
function uniqueIds(newId: () => string): (given: unknown) => string {
  const taken = new Set<string>();
  return (given) => {
    const isGood =
      typeof given === "string" &&
      /^[!-~]+$/.test(given) &&
      given.length <= LAYOUT_LIMITS.idChars &&
      given !== "__proto__" &&
      !taken.has(given);
    const id = isGood ? given : newId();
    taken.add(id);
    return id;
  };
}

const own = (all: Fields, name: string): unknown => (Object.hasOwn(all, name) ? all[name] : undefined);
