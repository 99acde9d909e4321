/** Which tab or pane of a layout a selector names. Used by the owner, and by the command line on a layout it has read. */
import {
  type LayoutLeaf,
  type LayoutSnapshot,
  type LayoutTab,
  leavesOf,
} from "../../../protocol/api/freshell/deviceLayout.ts";
import {
  type PaneSelector,
  parseSelector,
  type Selector,
  selectorText,
  type TabSelector,
} from "../../../protocol/api/freshell/selectors.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";

export interface FoundPane {
  readonly tab: LayoutTab;
  readonly leaf: LayoutLeaf;
  /** As `pane-index:` counts. */
  readonly index: number;
}

const MAX_MATCHES = 20;

/** @throws AppError INVALID_ARGUMENT, INVALID_TARGET */
function tabSelector(text: string): TabSelector {
  const selector = parseSelector(text);
  if (selector.type === "tab" || selector.type === "tab-name" || selector.type === "tab-index") return selector;
  throw wrong(selector, "tab:ID, tab-name:NAME or tab-index:N");
}

/** @throws AppError INVALID_ARGUMENT, INVALID_TARGET */
function paneSelector(text: string, tab: string | undefined): PaneSelector {
  const selector = parseSelector(text);
  if (selector.type === "pane") return selector;
  if (selector.type !== "pane-index") throw wrong(selector, "pane:ID or pane-index:N");
  if (tab !== undefined) return selector;
  throw invalidArgument(`${selectorText(selector)} counts within a tab: give --tab as well`);
}

/** @throws AppError INVALID_ARGUMENT, INVALID_TARGET, NOT_FOUND, AMBIGUOUS_TARGET */
export function findTab({ tabs }: LayoutSnapshot, text: string): LayoutTab {
  const selector = tabSelector(text);
  const matches = tabs.filter((tab, index) => isNamed(selector, tab, index));
  const [tab] = matches;
  if (tab === undefined) throw absent(text);
  if (matches.length === 1) return tab;
  const ids = matches.map(({ id }) => id);
  const shown = ids.slice(0, MAX_MATCHES).map((id) => `tab:${id}`);
  throw new AppError(
    "AMBIGUOUS_TARGET",
    `${ids.length} tabs are called ${JSON.stringify(tab.title)}: give one of ${shown.join(", ")}`,
    { details: { matches: ids } },
  );
}

function isNamed(selector: TabSelector, { id, title }: LayoutTab, index: number): boolean {
  if (selector.type === "tab") return id === selector.id;
  return selector.type === "tab-name" ? title === selector.name : index === selector.index;
}

/**
 * Without a target the active pane, of `tab` or of the active tab.
 * @throws AppError INVALID_ARGUMENT, INVALID_TARGET, NOT_FOUND, AMBIGUOUS_TARGET
 */
export function findPane(layout: LayoutSnapshot, target: string | undefined, tab: string | undefined): FoundPane {
  if (target === undefined) return activePane(layout, tab);
  const selector = paneSelector(target, tab);
  const within = tab === undefined ? layout.tabs : [findTab(layout, tab)];
  for (const one of within) {
    const leaves = leavesIn(layout, one.id);
    const index =
      selector.type === "pane" ? leaves.findIndex(({ id }) => id === selector.id) : inRange(selector.index, leaves);
    const leaf = leaves[index];
    if (leaf !== undefined) return { tab: one, leaf, index };
  }
  throw absent(tab === undefined ? target : `${target} in ${tab}`);
}

const inRange = (index: number, leaves: readonly unknown[]): number => (index < leaves.length ? index : -1);

function activePane(layout: LayoutSnapshot, given: string | undefined): FoundPane {
  const tab = given === undefined ? layout.tabs.find(({ id }) => id === layout.activeTabId) : findTab(layout, given);
  if (tab === undefined) throw new AppError("NOT_FOUND", "the device has no tab: `freshell new-tab` opens one");
  const leaves = leavesIn(layout, tab.id);
  const index = leaves.findIndex(({ id }) => id === layout.activePane[tab.id]);
  const leaf = leaves[index];
  if (leaf !== undefined) return { tab, leaf, index };
  throw absent(`the active pane of tab:${tab.id}`);
}

export function leavesIn({ layouts }: LayoutSnapshot, tabId: string): readonly LayoutLeaf[] {
  const root = Object.hasOwn(layouts, tabId) ? layouts[tabId] : undefined;
  return root === undefined ? [] : leavesOf(root);
}

const absent = (what: string): AppError =>
  new AppError(
    "NOT_FOUND",
    `there is no ${what.slice(0, 200)}; \`freshell list-tabs\` and list-panes show what there is`,
  );

const wrong = (selector: Selector, wanted: string): AppError =>
  new AppError("INVALID_TARGET", `this takes ${wanted}, not ${JSON.stringify(selectorText(selector).slice(0, 200))}`);
