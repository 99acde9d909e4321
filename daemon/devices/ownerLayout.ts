/** A device's layout as others read it: its tree, and for each pane the fields of listings (seed 002 §11.1). */
import {
  contentRefOf,
  type LayoutLeaf,
  type LayoutPane,
  type LayoutTab,
  type OwnerLayout,
} from "../../protocol/api/freshell/deviceLayout.ts";
import { leavesIn } from "./layoutTarget.ts";
import type { SavedDevice } from "./savedDevice.ts";

export function layoutOf(saved: SavedDevice, capturedAt: number): OwnerLayout {
  const { ownerDeviceId, workspaceRevision, updatedAt, requests: _requests, ...layout } = saved;
  const panes = saved.tabs.flatMap((tab) => leavesIn(saved, tab.id).map((leaf) => paneOf(leaf, tab)));
  return { ownerDeviceId, workspaceRevision, updatedAt, capturedAt, snapshot: { ...layout, panes } };
}

function paneOf(leaf: LayoutLeaf, { id: tabId, ownerDeviceId, updatedAt: tabUpdatedAt }: LayoutTab): LayoutPane {
  const { type: _type, content, status, updatedAt, ...further } = leaf;
  return {
    ...further,
    tabId,
    ownerDeviceId,
    kind: content.kind,
    status: typeof status === "string" ? status : "running",
    contentRef: contentRefOf(content),
    ...(content.kind === "browser" ? { url: content.url } : {}),
    ...(content.kind === "editor" ? { filePath: content.filePath } : {}),
    updatedAt: typeof updatedAt === "number" ? updatedAt : tabUpdatedAt,
  };
}
