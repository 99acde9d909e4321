/** The results of `list-tabs`, `list-panes` and `display` from a layout. */
import { findPane, findTab, leavesIn } from "../devices/layoutTarget.ts";
import {
  type ContentRef,
  contentRefOf,
  type LayoutLeaf,
  type LayoutSnapshot,
  type LayoutTab,
} from "../../../protocol/api/freshell/deviceLayout.ts";
import type { DeviceLayoutResponse } from "../../../protocol/api/freshell/rpc.ts";
import type { DisplayToken } from "./displayFormat.ts";

/** The layout of a list, and how fresh it is (seed 002 §10.2). */
type Workspace = Omit<DeviceLayoutResponse, "snapshot">;

interface ListedTab extends LayoutTab {
  /** As `tab-index:` counts. */
  readonly index: number;
  readonly active: boolean;
  readonly panes: number;
}
export interface ListedPane {
  readonly id: string;
  readonly tabId: string;
  readonly kind: string;
  readonly status: string;
  readonly contentRef: ContentRef | null;
  /** As `pane-index:` counts within its tab. */
  readonly index: number;
  readonly active: boolean;
  readonly [further: string]: unknown;
}
export type TabList = Workspace & { readonly activeTabId: string | null; readonly tabs: readonly ListedTab[] };
export type PaneList = Workspace & { readonly panes: readonly ListedPane[] };

export function tabList({ snapshot, ...workspace }: DeviceLayoutResponse): TabList {
  const { activeTabId, tabs } = snapshot;
  const listed = tabs.map((tab, index) => ({
    ...tab,
    index,
    active: tab.id === activeTabId,
    panes: leavesIn(snapshot, tab.id).length,
  }));
  return { ...workspace, activeTabId, tabs: listed };
}

/** @throws AppError NOT_FOUND, AMBIGUOUS_TARGET */
export function paneList({ snapshot, ...workspace }: DeviceLayoutResponse, within: string | undefined): PaneList {
  const tabs = within === undefined ? snapshot.tabs : [findTab(snapshot, within)];
  const panes = tabs.flatMap((tab) =>
    leavesIn(snapshot, tab.id).map((leaf, index) => paneOf(snapshot, tab, leaf, index)),
  );
  return { ...workspace, panes };
}

/** A pane's data comes from the owner, its place from the tree. */
function paneOf(
  { panes = [], activePane }: LayoutSnapshot,
  tab: LayoutTab,
  leaf: LayoutLeaf,
  index: number,
): ListedPane {
  const { content } = leaf;
  return {
    ownerDeviceId: tab.ownerDeviceId,
    status: tab.status,
    updatedAt: tab.updatedAt,
    ...(content.kind === "browser" ? { url: content.url } : {}),
    ...(content.kind === "editor" ? { filePath: content.filePath } : {}),
    ...panes.find(({ id }) => id === leaf.id),
    id: leaf.id,
    tabId: tab.id,
    kind: content.kind,
    contentRef: contentRefOf(content),
    index,
    active: activePane[tab.id] === leaf.id,
  };
}

/** Of the active pane by default; empty for a device without tabs. @throws AppError */
export function displayValues(
  { snapshot, workspaceRevision }: DeviceLayoutResponse,
  target: string | undefined,
  within: string | undefined,
): Readonly<Partial<Record<DisplayToken, string>>> {
  const revision = { workspaceRevision: String(workspaceRevision) };
  if (target === undefined && within === undefined && snapshot.tabs.length === 0) return revision;
  const { tab, leaf } = findPane(snapshot, target, within);
  const ref = contentRefOf(leaf.content);
  return {
    ...revision,
    tabId: tab.id,
    tabTitle: tab.title,
    paneId: leaf.id,
    paneKind: leaf.content.kind,
    ...(ref !== null && "terminalId" in ref ? { terminalId: ref.terminalId } : {}),
    ...(ref !== null && "sessionRef" in ref
      ? { sessionRef: `${ref.sessionRef.provider}:${ref.sessionRef.sessionId}` }
      : {}),
  };
}
