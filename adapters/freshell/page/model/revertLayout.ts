/**
 * Undoing one change of a layout after others have followed: each part that it changed is restored if it is still as the
 * change left it. Otherwise nothing is undone, because later work would be lost.
 */
import type { LayoutNode, LayoutSnapshot } from "../../../../protocol/api/freshell/deviceLayout.ts";
import { killTab } from "../../devices/layoutMutations.ts";
import { leavesIn } from "../../devices/layoutTarget.ts";

export interface LayoutStep {
  readonly before: LayoutSnapshot;
  readonly after: LayoutSnapshot;
}

/** Undefined: it can no longer be undone, or there is nothing to undo. */
export function reverted(now: LayoutSnapshot, { before, after }: LayoutStep): LayoutSnapshot | undefined {
  const ids = [...new Set([...before.tabs, ...after.tabs].map(({ id }) => id))];
  let layout: LayoutSnapshot | undefined = now;
  for (const id of ids) {
    if (layout !== undefined) layout = revertedTab(layout, id, before, after);
  }
  if (layout === undefined) return undefined;
  const back = withPointers(layout, now, before, after);
  return isSame(back, now) ? undefined : back;
}

function revertedTab(
  now: LayoutSnapshot,
  tabId: string,
  before: LayoutSnapshot,
  after: LayoutSnapshot,
): LayoutSnapshot | undefined {
  const [was, made, is] = [treeOf(before, tabId), treeOf(after, tabId), treeOf(now, tabId)];
  if (was === undefined) return is === undefined ? now : isSame(is, made) ? killTab(now, tabId).layout : undefined;
  if (made === undefined) return is === undefined ? withTab(now, tabId, before) : undefined;
  let layout = now;
  if (!isSame(was, made)) {
    if (is === undefined || !isSame(is, made)) return undefined;
    layout = { ...layout, layouts: { ...layout.layouts, [tabId]: was } };
  }
  const [titleWas, titleMade] = [titleOf(before, tabId), titleOf(after, tabId)];
  if (titleWas === undefined || titleWas === titleMade) return layout;
  if (titleOf(now, tabId) !== titleMade) return undefined;
  const tabs = layout.tabs.map((tab) => (tab.id === tabId ? { ...tab, title: titleWas } : tab));
  return { ...layout, tabs };
}

/** At its old place among the existing tabs. */
function withTab(now: LayoutSnapshot, tabId: string, before: LayoutSnapshot): LayoutSnapshot | undefined {
  const at = before.tabs.findIndex(({ id }) => id === tabId);
  const [tab, root] = [before.tabs[at], treeOf(before, tabId)];
  if (tab === undefined || root === undefined) return undefined;
  const follows = before.tabs.slice(at + 1).find(({ id }) => now.tabs.some((one) => one.id === id));
  const place = follows === undefined ? now.tabs.length : now.tabs.findIndex(({ id }) => id === follows.id);
  return {
    ...now,
    tabs: [...now.tabs.slice(0, place), tab, ...now.tabs.slice(place)],
    layouts: { ...now.layouts, [tabId]: root },
    activePane: { ...now.activePane, [tabId]: before.activePane[tabId] ?? "" },
    activeTabId: now.activeTabId ?? tabId,
  };
}

/** Restores the active tab and panes where they are as the change left them; they always exist. */
function withPointers(
  layout: LayoutSnapshot,
  now: LayoutSnapshot,
  before: LayoutSnapshot,
  after: LayoutSnapshot,
): LayoutSnapshot {
  const isThere = (tabId: string | null): boolean => layout.tabs.some(({ id }) => id === tabId);
  const goesBack = now.activeTabId === after.activeTabId && isThere(before.activeTabId);
  const activePane = Object.fromEntries(
    layout.tabs.map(({ id }) => {
      const panes = leavesIn(layout, id).map((leaf) => leaf.id);
      const wanted = [
        ...(layout.activePane[id] === after.activePane[id] ? [before.activePane[id]] : []),
        layout.activePane[id],
        panes[0],
      ];
      return [id, wanted.find((one) => one !== undefined && panes.includes(one)) ?? ""];
    }),
  );
  return { ...layout, activePane, activeTabId: goesBack ? before.activeTabId : layout.activeTabId };
}

const treeOf = ({ layouts }: LayoutSnapshot, tabId: string): LayoutNode | undefined =>
  Object.hasOwn(layouts, tabId) ? layouts[tabId] : undefined;

const titleOf = ({ tabs }: LayoutSnapshot, tabId: string): string | undefined =>
  tabs.find(({ id }) => id === tabId)?.title;

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
