/**
 * What each command does to a layout: pure, from one well-formed layout to the next, or an error and no change. Whether
 * a command may run at all (revision, key, phase) has been decided before.
 */
import {
  type ContentRef,
  type LayoutLeaf,
  type LayoutNode,
  type LayoutSnapshot,
  type LayoutTab,
  type PaneContent,
  requireWithin,
  type SplitDirection,
} from "../../../protocol/api/freshell/deviceLayout.ts";
import type { RpcArgs, RpcCommand } from "../../../protocol/api/freshell/rpcCommands.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import { findPane, findTab, leavesIn } from "./layoutTarget.ts";
import { depthOf, mapLeaves, removeLeaf, resizeLeaf, splitLeaf, withContent } from "./paneTree.ts";

/** For what a command creates, if anything. */
export interface NewIds {
  readonly tabId: string;
  readonly paneId: string;
  readonly splitId: string;
}

export interface MutationContext extends NewIds {
  readonly ownerDeviceId: string;
  readonly nowUnixMs: number;
  /** The process behind the pane, for a command that needs one. */
  readonly contentRef?: ContentRef | undefined;
}

interface MutationResult {
  readonly tabId?: string;
  readonly paneId?: string;
  /** Terminals that no pane shows any longer; they continue to run. */
  readonly detachedTerminals?: readonly string[];
}

interface Mutated {
  readonly layout: LayoutSnapshot;
  readonly result: MutationResult;
}

export type LayoutMutation = Exclude<RpcCommand, "send-keys" | "capture-pane" | "wait-for" | "read" | "resolve">;
type Mutate<Command extends LayoutMutation> = (
  layout: LayoutSnapshot,
  args: RpcArgs<Command>,
  context: MutationContext,
) => Mutated;

/** Every tab has this status: a program's state is its terminal's. */
const STATUS = "running";
const DEFAULT_TITLE = "Tab";

const MUTATIONS: { readonly [Command in LayoutMutation]: Mutate<Command> } = {
  "new-tab": (layout, args, context) => {
    const { tabId, paneId, ownerDeviceId, nowUnixMs } = context;
    requireWithin("tabs", layout.tabs.length + 1, "tabs");
    const title = args.title ?? `${DEFAULT_TITLE} ${layout.tabs.length + 1}`;
    const tab = { id: tabId, ownerDeviceId, title, status: STATUS, createdAt: nowUnixMs, updatedAt: nowUnixMs };
    return {
      layout: {
        ...layout,
        tabs: [...layout.tabs, tab],
        layouts: { ...layout.layouts, [tabId]: newLeaf(args, context) },
        activeTabId: tabId,
        activePane: { ...layout.activePane, [tabId]: paneId },
      },
      result: { tabId, paneId },
    };
  },
  "kill-tab": (layout, { target }) => killTab(layout, findTab(layout, target).id),
  "rename-tab": (layout, { target, title }, { nowUnixMs }) => {
    const { id } = findTab(layout, target);
    const tabs = layout.tabs.map((tab) => (tab.id === id ? { ...tab, title, updatedAt: nowUnixMs } : tab));
    return { layout: { ...layout, tabs }, result: { tabId: id } };
  },
  "select-tab": (layout, { target }) => {
    const { id } = findTab(layout, target);
    return { layout: { ...layout, activeTabId: id }, result: { tabId: id } };
  },
  "split-pane": (layout, args, context) => {
    const { tab, leaf } = findPane(layout, args.target, args.tab);
    const { paneId, splitId } = context;
    requireWithin("panesPerTab", leavesIn(layout, tab.id).length + 1, `panes of tab:${tab.id}`);
    const made = { splitId, direction: args.direction, leaf: newLeaf(args, context) };
    const root = splitLeaf(rootOf(layout, tab), leaf.id, made);
    requireWithin("depth", depthOf(root), `levels of tab:${tab.id}`);
    const activePane = { ...layout.activePane, [tab.id]: paneId };
    return { layout: touched({ ...layout, activePane }, tab, root, context), result: { tabId: tab.id, paneId } };
  },
  "kill-pane": (layout, { target, tab: within }, context) => {
    const { tab, leaf, index } = findPane(layout, target, within);
    const leaves = leavesIn(layout, tab.id);
    const root = removeLeaf(rootOf(layout, tab), leaf.id);
    if (root === undefined) return killTab(layout, tab.id, { paneId: leaf.id });
    const neighbour = leaves[index - 1] ?? leaves[index + 1];
    const isActive = layout.activePane[tab.id] === leaf.id && neighbour !== undefined;
    const activePane = isActive ? { ...layout.activePane, [tab.id]: neighbour.id } : layout.activePane;
    const after = touched({ ...layout, activePane }, tab, root, context);
    return {
      layout: after,
      result: { tabId: tab.id, paneId: leaf.id, detachedTerminals: detached([leaf], after) },
    };
  },
  "resize-pane": (layout, { target, tab: within, x, y }, context) => {
    const { tab, leaf } = findPane(layout, target, within);
    let root = rootOf(layout, tab);
    const given: readonly [SplitDirection, number | undefined][] = [
      ["horizontal", x],
      ["vertical", y],
    ];
    for (const [direction, percent] of given) {
      if (percent === undefined) continue;
      const resized = resizeLeaf(root, leaf.id, direction, percent);
      if (resized === undefined) {
        throw new AppError("INVALID_TARGET", `pane:${leaf.id} is not in a ${direction} split`);
      }
      root = resized;
    }
    return { layout: touched(layout, tab, root, context), result: { tabId: tab.id, paneId: leaf.id } };
  },
  "swap-pane": swapPanes,
  "select-pane": (layout, { target, tab: within }) => {
    const { tab, leaf } = findPane(layout, target, within);
    const activePane = { ...layout.activePane, [tab.id]: leaf.id };
    return { layout: { ...layout, activeTabId: tab.id, activePane }, result: { tabId: tab.id, paneId: leaf.id } };
  },
  "open-browser": (layout, { target, tab, url }, context) =>
    show(layout, target, tab, { kind: "browser", url }, context),
  navigate: (layout, { target, tab, url }, context) => {
    const { leaf } = findPane(layout, target, tab);
    if (leaf.content.kind === "browser")
      return show(layout, `pane:${leaf.id}`, undefined, { kind: "browser", url }, context);
    throw new AppError(
      "INVALID_TARGET",
      `pane:${leaf.id} does not show a page (${leaf.content.kind}): use open-browser`,
    );
  },
  "open-editor": (layout, { target, tab, filePath }, context) =>
    show(layout, target, tab, { kind: "editor", filePath }, context),
  "attach-terminal": (layout, { to, tab }, context) => show(layout, to, tab, processContent(context), context),
  "respawn-pane": (layout, { target, tab }, context) => {
    const { leaf } = findPane(layout, target, tab);
    if (leaf.content.kind === "terminal")
      return show(layout, `pane:${leaf.id}`, undefined, processContent(context), context);
    throw new AppError("INVALID_TARGET", `pane:${leaf.id} does not show a terminal (${leaf.content.kind})`);
  },
};

/** @throws AppError NOT_FOUND, AMBIGUOUS_TARGET, INVALID_TARGET, INVALID_ARGUMENT, RESOURCE_LIMIT */
export function mutate(
  layout: LayoutSnapshot,
  command: LayoutMutation,
  args: unknown,
  context: MutationContext,
): Mutated {
  const run = MUTATIONS[command] as (layout: LayoutSnapshot, args: unknown, context: MutationContext) => Mutated;
  return run(layout, args, context);
}

/** The active tab is then the one before. */
export function killTab(layout: LayoutSnapshot, id: string, more: { readonly paneId?: string } = {}): Mutated {
  const at = layout.tabs.findIndex((tab) => tab.id === id);
  const tabs = layout.tabs.filter((tab) => tab.id !== id);
  const neighbour = tabs[at - 1] ?? tabs[at];
  const after = {
    ...layout,
    tabs,
    layouts: without(layout.layouts, id),
    activeTabId: layout.activeTabId === id ? (neighbour?.id ?? null) : layout.activeTabId,
    activePane: without(layout.activePane, id),
  };
  const detachedTerminals = detached(leavesIn(layout, id), after);
  return { layout: after, result: { tabId: id, ...more, detachedTerminals } };
}

/** They change places: ids stay with contents, and a tab's active place stays active with the pane that is now there. */
function swapPanes(
  layout: LayoutSnapshot,
  { source, target, tab }: RpcArgs<"swap-pane">,
  context: MutationContext,
): Mutated {
  const [one, other] = [findPane(layout, source, tab), findPane(layout, target, tab)];
  if (one.leaf.id === other.leaf.id) {
    throw new AppError("INVALID_TARGET", `pane:${one.leaf.id} cannot be swapped with itself`);
  }
  const swapped = (leaf: LayoutLeaf): LayoutLeaf => {
    if (leaf.id === one.leaf.id) return other.leaf;
    return leaf.id === other.leaf.id ? one.leaf : leaf;
  };
  let after = layout;
  for (const { tab: within } of one.tab.id === other.tab.id ? [one] : [one, other]) {
    after = touched(after, within, mapLeaves(rootOf(layout, within), swapped), context);
  }
  if (one.tab.id !== other.tab.id) {
    const moved = (place: typeof one, comes: typeof one): Readonly<Record<string, string>> =>
      layout.activePane[place.tab.id] === place.leaf.id ? { [place.tab.id]: comes.leaf.id } : {};
    after = { ...after, activePane: { ...after.activePane, ...moved(one, other), ...moved(other, one) } };
  }
  return { layout: after, result: { tabId: other.tab.id, paneId: one.leaf.id } };
}

/** The pane shows something else. */
function show(
  layout: LayoutSnapshot,
  target: string,
  within: string | undefined,
  content: PaneContent,
  context: MutationContext,
): Mutated {
  const { tab, leaf } = findPane(layout, target, within);
  const changed = withContent(leaf, content, context.nowUnixMs);
  const root = mapLeaves(rootOf(layout, tab), (one) => (one.id === leaf.id ? changed : one));
  const after = touched(layout, tab, root, context);
  const detachedTerminals = detached([leaf], after);
  return {
    layout: after,
    result: { tabId: tab.id, paneId: leaf.id, ...(detachedTerminals.length === 0 ? {} : { detachedTerminals }) },
  };
}

function newLeaf(args: RpcArgs<"new-tab">, context: MutationContext): LayoutLeaf {
  const { paneId, nowUnixMs } = context;
  return { type: "leaf", id: paneId, content: contentOf(args, context), status: STATUS, updatedAt: nowUnixMs };
}

function contentOf({ browser, editor, picker }: RpcArgs<"new-tab">, context: MutationContext): PaneContent {
  if (browser !== undefined) return { kind: "browser", url: browser };
  if (editor !== undefined) return { kind: "editor", filePath: editor };
  return picker === undefined ? processContent(context) : { kind: "picker" };
}

/** @throws AppError INVALID_ARGUMENT */
function processContent({ contentRef }: MutationContext): PaneContent {
  if (contentRef === undefined) {
    throw invalidArgument("a pane with a terminal is created in phases: reserve, then finalize");
  }
  if ("terminalId" in contentRef) return { kind: "terminal", terminalId: contentRef.terminalId };
  return { kind: "claude-chat", sessionRef: contentRef.sessionRef };
}

function touched(
  layout: LayoutSnapshot,
  { id }: LayoutTab,
  root: LayoutNode,
  context: MutationContext,
): LayoutSnapshot {
  const tabs = layout.tabs.map((tab) => (tab.id === id ? { ...tab, updatedAt: context.nowUnixMs } : tab));
  return { ...layout, tabs, layouts: { ...layout.layouts, [id]: root } };
}

function rootOf({ layouts }: LayoutSnapshot, { id }: LayoutTab): LayoutNode {
  const root = layouts[id];
  if (root !== undefined) return root;
  throw new AppError("INTERNAL_ERROR", `the tab ${id} has no tree`);
}

const without = <Value>(all: Readonly<Record<string, Value>>, key: string): Readonly<Record<string, Value>> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => name !== key));

/** Which of the panes' terminals no pane shows any longer. */
function detached(gone: readonly LayoutLeaf[], after: LayoutSnapshot): readonly string[] {
  const shown = new Set(after.tabs.flatMap(({ id }) => leavesIn(after, id).flatMap(terminalsOf)));
  return [...new Set(gone.flatMap(terminalsOf))].filter((terminalId) => !shown.has(terminalId));
}

const terminalsOf = ({ content }: LayoutLeaf): readonly string[] =>
  content.kind === "terminal" ? [content.terminalId] : [];
