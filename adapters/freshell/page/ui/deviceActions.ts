/** Carries out the page's own keys and buttons. */
import { leavesOf, type SplitDirection } from "../../../../protocol/api/freshell/deviceLayout.ts";
import type { RpcCommand } from "../../../../protocol/api/freshell/rpcCommands.ts";
import type { DevicePage } from "../devicePage.ts";
import type { DeviceAction } from "../model/deviceKeys.ts";
import { activePlace, activeTab, tabAfter } from "./deviceState.ts";
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
  const place = activePlace(page.state);
  if (place === undefined) return;
  const zoomed = new Map(page.state.zoomed);
  if (!zoomed.delete(place.tab.id)) zoomed.set(place.tab.id, place.leaf.id);
  page.update({ zoomed });
}

function onTab(page: DevicePage, run: (tabId: string) => void): void {
  const tab = activeTab(page.state);
  if (tab !== undefined) run(tab.id);
}

function onPane(page: DevicePage, run: (paneId: string) => void): void {
  const place = activePlace(page.state);
  if (place !== undefined) run(place.leaf.id);
}

function step(page: DevicePage, by: 1 | -1): void {
  const snapshot = page.state.view?.layout.snapshot;
  if (snapshot !== undefined) selectTab(page, tabAfter(snapshot, by)?.id);
}

/** Goes to the next or previous pane. */
export function stepPane(page: DevicePage, by: 1 | -1): void {
  const next = paneAfter(page, by);
  if (next !== undefined) selectPane(page, next);
}

/** The next or previous pane of the tab, wrapping around; undefined: there is no other. */
function paneAfter(page: DevicePage, by: 1 | -1): string | undefined {
  const place = activePlace(page.state);
  if (place === undefined || place.leaves.length === 1) return undefined;
  const { leaves, leaf } = place;
  return leaves[(leaves.indexOf(leaf) + by + leaves.length) % leaves.length]?.id;
}

export function selectPane(page: DevicePage, paneId: string): void {
  const tab = activeTab(page.state);
  if (tab !== undefined && page.state.zoomed.has(tab.id)) {
    page.update({ zoomed: new Map([...page.state.zoomed, [tab.id, paneId]]) });
  }
  change(page, "select-pane", { target: `pane:${paneId}` });
}

function focusSide(page: DevicePage, side: Side): void {
  const place = activePlace(page.state);
  const next = place && neighbourOf(boxesOf(place.root).panes, place.leaf.id, side);
  if (next !== undefined) selectPane(page, next);
}

function swapWithNext(page: DevicePage): void {
  const next = paneAfter(page, 1);
  if (next !== undefined)
    onPane(page, (id) => change(page, "swap-pane", { source: `pane:${id}`, target: `pane:${next}` }));
}

/** Resizes the pane's nearest split. */
function resize(page: DevicePage, byPercent: number): void {
  const place = activePlace(page.state);
  if (place === undefined) return;
  let node = place.root;
  let resized: { readonly splitId: string; readonly percent: number } | undefined;
  while (node.type === "split") {
    const { id: splitId, sizes, children } = node;
    const isFirst = leavesOf(children[0]).some(({ id }) => id === place.leaf.id);
    const percent = (sizes[0] / (sizes[0] + sizes[1])) * 100;
    resized = { splitId, percent: percent + (isFirst ? byPercent : -byPercent) };
    node = children[isFirst ? 0 : 1];
  }
  if (resized !== undefined) void page.perform({ kind: "split", ...resized });
}

function undoLast(page: DevicePage): void {
  const line = page.state.view?.lines.findLast(({ canUndo }) => canUndo);
  if (line !== undefined) void page.perform({ kind: "undo", lineId: line.id });
}
