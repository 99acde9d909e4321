/** Carries out the page's own keys and buttons. */
import { leavesIn } from "../../../../daemon/devices/layoutTarget.ts";
import type { SplitDirection } from "../../../../protocol/api/freshell/deviceLayout.ts";
import type { RpcCommand } from "../../../../protocol/api/freshell/rpcCommands.ts";
import type { DevicePage } from "../devicePage.ts";
import type { DeviceAction } from "../model/deviceKeys.ts";
import { activeLeaf, activeTab, tabAfter } from "../model/deviceState.ts";
import { boxesOf, neighbourOf, type Side } from "../model/paneBoxes.ts";

/** Percent of the nearest split that a pane grows or shrinks by. */
const STEP_PERCENT = 5;

export function act(page: DevicePage, action: DeviceAction): void {
  switch (action.kind) {
    case "newTab":
      return change(page, "new-tab", { mode: "shell" });
    case "closeTab":
      return onTab(page, (id) => change(page, "kill-tab", { target: `tab:${id}` }));
    case "renameTab":
      return onTab(page, (id) => page.update({ renaming: { kind: "tab", id } }));
    case "nextTab":
    case "previousTab":
      return step(page, action.kind === "nextTab" ? 1 : -1);
    case "tab":
      return selectTab(page, page.state.view?.layout.snapshot.tabs[action.index]?.id);
    case "splitRight":
    case "splitDown":
      return onPane(page, (id) => split(page, id, action.kind === "splitRight" ? "horizontal" : "vertical"));
    case "closePane":
      return onPane(page, (id) => change(page, "kill-pane", { target: `pane:${id}` }));
    case "renamePane":
      return onPane(page, (id) => page.update({ renaming: { kind: "pane", id } }));
    case "zoom":
      return onPane(page, () => zoom(page));
    case "find":
      return onPane(page, (id) => page.update({ findingIn: page.state.findingIn === id ? undefined : id }));
    case "swap":
      return swapWithNext(page);
    case "focus":
      return focusSide(page, action.side);
    case "grow":
    case "shrink":
      return resize(page, action.kind === "grow" ? STEP_PERCENT : -STEP_PERCENT);
    case "undo":
      return undoLast(page);
    case "settings":
    case "help":
      return page.update({ dialog: action.kind });
  }
}

export function change(page: DevicePage, command: RpcCommand, args: Readonly<Record<string, unknown>>): void {
  void page.perform({ kind: "command", command, args });
}

export function selectTab(page: DevicePage, tabId: string | undefined): void {
  if (tabId === undefined || tabId === page.state.view?.layout.snapshot.activeTabId) return;
  change(page, "select-tab", { target: `tab:${tabId}` });
}

export const split = (page: DevicePage, paneId: string, direction: SplitDirection): void =>
  change(page, "split-pane", { target: `pane:${paneId}`, direction, picker: true });

/** Toggles whether the active pane fills its tab. */
export function zoom(page: DevicePage): void {
  const [tab, leaf] = [activeTab(page.state), activeLeaf(page.state)];
  if (tab === undefined || leaf === undefined) return;
  const zoomed = new Map(page.state.zoomed);
  if (!zoomed.delete(tab.id)) zoomed.set(tab.id, leaf.id);
  page.update({ zoomed });
}

function onTab(page: DevicePage, run: (tabId: string) => void): void {
  const tab = activeTab(page.state);
  if (tab !== undefined) run(tab.id);
}

function onPane(page: DevicePage, run: (paneId: string) => void): void {
  const leaf = activeLeaf(page.state);
  if (leaf !== undefined) run(leaf.id);
}

function step(page: DevicePage, by: 1 | -1): void {
  const snapshot = page.state.view?.layout.snapshot;
  if (snapshot !== undefined) selectTab(page, tabAfter(snapshot, by)?.id);
}

/** Goes to the next or previous pane. */
export function stepPane(page: DevicePage, by: 1 | -1): void {
  const [tab, leaf] = [activeTab(page.state), activeLeaf(page.state)];
  const snapshot = page.state.view?.layout.snapshot;
  if (tab === undefined || leaf === undefined || snapshot === undefined) return;
  const leaves = leavesIn(snapshot, tab.id);
  const at = leaves.findIndex(({ id }) => id === leaf.id);
  const next = leaves[(at + by + leaves.length) % leaves.length];
  if (next !== undefined && next.id !== leaf.id) selectPane(page, next.id);
}

export function selectPane(page: DevicePage, paneId: string): void {
  const tab = activeTab(page.state);
  if (tab !== undefined && page.state.zoomed.has(tab.id)) {
    page.update({ zoomed: new Map([...page.state.zoomed, [tab.id, paneId]]) });
  }
  change(page, "select-pane", { target: `pane:${paneId}` });
}

function focusSide(page: DevicePage, side: Side): void {
  const [tab, leaf] = [activeTab(page.state), activeLeaf(page.state)];
  const root = tab === undefined ? undefined : page.state.view?.layout.snapshot.layouts[tab.id];
  if (root === undefined || leaf === undefined) return;
  const next = neighbourOf(boxesOf(root).panes, leaf.id, side);
  if (next !== undefined) selectPane(page, next);
}

function swapWithNext(page: DevicePage): void {
  const [tab, leaf] = [activeTab(page.state), activeLeaf(page.state)];
  const snapshot = page.state.view?.layout.snapshot;
  if (tab === undefined || leaf === undefined || snapshot === undefined) return;
  const leaves = leavesIn(snapshot, tab.id);
  const next = leaves[(leaves.findIndex(({ id }) => id === leaf.id) + 1) % leaves.length];
  if (next === undefined || next.id === leaf.id) return;
  change(page, "swap-pane", { source: `pane:${leaf.id}`, target: `pane:${next.id}` });
}

/** Resizes the pane's nearest split. */
function resize(page: DevicePage, byPercent: number): void {
  const [tab, leaf] = [activeTab(page.state), activeLeaf(page.state)];
  const root = tab === undefined ? undefined : page.state.view?.layout.snapshot.layouts[tab.id];
  if (root === undefined || leaf === undefined) return;
  let node = root;
  let nearest: { readonly splitId: string; readonly percent: number; readonly isFirst: boolean } | undefined;
  while (node.type === "split") {
    const { id: splitId, sizes, children } = node;
    const isFirst = boxesOf(children[0]).panes.some(({ paneId }) => paneId === leaf.id);
    nearest = { splitId, percent: (sizes[0] / (sizes[0] + sizes[1])) * 100, isFirst };
    node = children[isFirst ? 0 : 1];
  }
  if (nearest === undefined) return;
  const { splitId, percent, isFirst } = nearest;
  void page.perform({ kind: "split", splitId, percent: percent + (isFirst ? byPercent : -byPercent) });
}

function undoLast(page: DevicePage): void {
  const line = page.state.view?.lines.findLast(({ canUndo }) => canUndo);
  if (line !== undefined) void page.perform({ kind: "undo", lineId: line.id });
}
