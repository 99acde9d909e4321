/**
 * A tab's tree of panes: pure functions that return a new tree and leave the old one unchanged. A node keeps fields
 * that are not ours.
 */
import type {
  LayoutLeaf,
  LayoutNode,
  LayoutSplit,
  PaneContent,
  SplitDirection,
} from "../../../protocol/api/freshell/deviceLayout.ts";

/** A new pane gets half of the space. */
const HALVES = [50, 50] as const;

/** The tree with each leaf as `change` makes it. */
export function mapLeaves(node: LayoutNode, change: (leaf: LayoutLeaf) => LayoutNode): LayoutNode {
  if (node.type === "leaf") return change(node);
  const [first, second] = node.children;
  const children = [mapLeaves(first, change), mapLeaves(second, change)] as const;
  return children[0] === first && children[1] === second ? node : { ...node, children };
}

interface NewPane {
  readonly splitId: string;
  readonly direction: SplitDirection;
  readonly leaf: LayoutLeaf;
}

/** The new pane comes after its neighbour. */
export function splitLeaf(root: LayoutNode, paneId: string, { splitId, direction, leaf }: NewPane): LayoutNode {
  return mapLeaves(root, (one) =>
    one.id === paneId ? { type: "split", id: splitId, direction, sizes: [...HALVES], children: [one, leaf] } : one,
  );
}

/** Its sibling takes the place of both; undefined when nothing is left. */
export function removeLeaf(node: LayoutNode, paneId: string): LayoutNode | undefined {
  if (node.type === "leaf") return node.id === paneId ? undefined : node;
  const [first, second] = node.children;
  const [left, right] = [removeLeaf(first, paneId), removeLeaf(second, paneId)];
  if (left === undefined) return right;
  if (right === undefined) return left;
  return left === first && right === second ? node : { ...node, children: [left, right] };
}

/** The tree in which the pane has this share of the nearest split in its direction; undefined: there is none. */
export function resizeLeaf(
  root: LayoutNode,
  paneId: string,
  direction: SplitDirection,
  percent: number,
): LayoutNode | undefined {
  const path = pathTo(root, paneId) ?? [];
  const at = path.findLastIndex(({ split }) => split.direction === direction);
  const nearest = path[at];
  if (nearest === undefined) return undefined;
  const sizes: [number, number] = nearest.side === 0 ? [percent, 100 - percent] : [100 - percent, percent];
  return path.slice(0, at).reduceRight<LayoutNode>(
    (node, { split, side }) => {
      const [first, second] = split.children;
      return { ...split, children: side === 0 ? [node, second] : [first, node] };
    },
    { ...nearest.split, sizes },
  );
}

interface Step {
  readonly split: LayoutSplit;
  /** Which child the path continues in. */
  readonly side: 0 | 1;
}

/** The splits from the root down to a pane; undefined: it is not in this tree. */
function pathTo(node: LayoutNode, paneId: string): readonly Step[] | undefined {
  if (node.type === "leaf") return node.id === paneId ? [] : undefined;
  for (const side of [0, 1] as const) {
    const below = pathTo(node.children[side], paneId);
    if (below !== undefined) return [{ split: node, side }, ...below];
  }
  return undefined;
}

/** Number of levels, root and leaf included. */
export function depthOf(node: LayoutNode): number {
  return node.type === "leaf" ? 1 : 1 + Math.max(...node.children.map(depthOf));
}

/** The fields of our own kinds of content: they are replaced when a pane shows something else. */
const OWN_FIELDS = new Set(["kind", "terminalId", "url", "filePath", "sessionRef"]);

/** Fields that are not ours stay. */
export function withContent(leaf: LayoutLeaf, content: PaneContent, nowUnixMs: number): LayoutLeaf {
  const further = Object.fromEntries(Object.entries(leaf.content).filter(([name]) => !OWN_FIELDS.has(name)));
  return { ...leaf, content: { ...further, ...content }, updatedAt: nowUnixMs };
}
