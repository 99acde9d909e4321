/** Changes that only the device's own pages make, not commands: pure steps from one layout to the next. */
import type { LayoutNode, LayoutSnapshot } from "../../../../protocol/api/freshell/deviceLayout.ts";
import { mapLeaves } from "../../devices/paneTree.ts";
import { AppError } from "../../../../protocol/errors.ts";

/** A pane's minimum share of its split. */
export const MIN_PERCENT = 5;

/** The split's first child gets this share. @throws AppError NOT_FOUND */
export function withSplitAt(layout: LayoutSnapshot, splitId: string, percent: number): LayoutSnapshot {
  const share = Math.min(100 - MIN_PERCENT, Math.max(MIN_PERCENT, percent));
  return withTrees(layout, `split ${splitId}`, (node) =>
    mapSplit(node, splitId, (split) => ({ ...split, sizes: [share, 100 - share] })),
  );
}

/** Sets a pane's title; undefined: derived from its content. @throws AppError NOT_FOUND */
export function withPaneTitle(layout: LayoutSnapshot, paneId: string, title: string | undefined): LayoutSnapshot {
  return withTrees(layout, `pane:${paneId}`, (root) =>
    mapLeaves(root, (leaf) => {
      if (leaf.id !== paneId) return leaf;
      const { title: _before, ...rest } = leaf;
      return title === undefined ? rest : { ...rest, title };
    }),
  );
}

/** The tree in which something was changed. @throws AppError NOT_FOUND when it was in none */
function withTrees(layout: LayoutSnapshot, what: string, change: (root: LayoutNode) => LayoutNode): LayoutSnapshot {
  for (const [tabId, root] of Object.entries(layout.layouts)) {
    const changed = change(root);
    if (changed !== root) return { ...layout, layouts: { ...layout.layouts, [tabId]: changed } };
  }
  throw new AppError("NOT_FOUND", `${what} no longer exists`);
}

type Split = Extract<LayoutNode, { type: "split" }>;

function mapSplit(node: LayoutNode, splitId: string, change: (split: Split) => Split): LayoutNode {
  if (node.type === "leaf") return node;
  if (node.id === splitId) return change(node);
  const [first, second] = node.children;
  const children = [mapSplit(first, splitId, change), mapSplit(second, splitId, change)] as const;
  return children[0] === first && children[1] === second ? node : { ...node, children };
}
