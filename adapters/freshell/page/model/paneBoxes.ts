/**
 * Where a tab's panes and dividers are, in percent of the tab: from the tree to a flat list. Panes that stay where they are in
 * the list keep their screens, however the tree around them changes.
 */
import type { LayoutNode, SplitDirection } from "../../../../protocol/api/freshell/deviceLayout.ts";

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}
interface PaneBox extends Box {
  readonly paneId: string;
}
export interface DividerBox {
  readonly splitId: string;
  readonly direction: SplitDirection;
  /** Of the whole split. */
  readonly within: Box;
  /** Its first child's share. */
  readonly percent: number;
}

interface TabBoxes {
  readonly panes: readonly PaneBox[];
  readonly dividers: readonly DividerBox[];
}

const WHOLE: Box = { left: 0, top: 0, width: 100, height: 100 };

export function boxesOf(root: LayoutNode): TabBoxes {
  const panes: PaneBox[] = [];
  const dividers: DividerBox[] = [];
  const place = (node: LayoutNode, box: Box): void => {
    if (node.type === "leaf") {
      panes.push({ ...box, paneId: node.id });
      return;
    }
    const { id: splitId, direction, sizes, children } = node;
    const percent = (sizes[0] / (sizes[0] + sizes[1])) * 100;
    dividers.push({ splitId, direction, within: box, percent });
    const [first, second] = halves(box, direction, percent / 100);
    place(children[0], first);
    place(children[1], second);
  };
  place(root, WHOLE);
  return { panes, dividers };
}

function halves({ left, top, width, height }: Box, direction: SplitDirection, share: number): readonly [Box, Box] {
  if (direction === "horizontal") {
    const first = width * share;
    return [
      { left, top, width: first, height },
      { left: left + first, top, width: width - first, height },
    ];
  }
  const first = height * share;
  return [
    { left, top, width, height: first },
    { left, top: top + first, width, height: height - first },
  ];
}

export type Side = "left" | "right" | "up" | "down";
/** Boxes that touch differ by less. */
const NEARLY = 0.01;

/** The pane on that side of another one, the one that shares most of its edge; undefined at the tab's own edge. */
export function neighbourOf(panes: readonly PaneBox[], paneId: string, side: Side): string | undefined {
  const from = panes.find((one) => one.paneId === paneId);
  if (from === undefined) return undefined;
  let best: { readonly paneId: string; readonly distance: number; readonly shared: number } | undefined;
  for (const one of panes) {
    if (one.paneId === paneId) continue;
    const distance = distanceTo(from, one, side);
    const shared = sharedEdge(from, one, side);
    if (distance < -NEARLY || shared < NEARLY) continue;
    const isNearer = best === undefined || distance < best.distance - NEARLY;
    const isWider = best !== undefined && Math.abs(distance - best.distance) <= NEARLY && shared > best.shared + NEARLY;
    if (isNearer || isWider) best = { paneId: one.paneId, distance, shared };
  }
  return best?.paneId;
}

function distanceTo(from: Box, to: Box, side: Side): number {
  switch (side) {
    case "left":
      return from.left - (to.left + to.width);
    case "right":
      return to.left - (from.left + from.width);
    case "up":
      return from.top - (to.top + to.height);
    case "down":
      return to.top - (from.top + from.height);
  }
}

function sharedEdge(one: Box, other: Box, side: Side): number {
  if (side === "left" || side === "right") {
    return Math.min(one.top + one.height, other.top + other.height) - Math.max(one.top, other.top);
  }
  return Math.min(one.left + one.width, other.left + other.width) - Math.max(one.left, other.left);
}
