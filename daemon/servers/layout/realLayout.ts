/** `WindowLayout` of a real tmux: its tree and changes from the inventory, operations over its connection. */
import type { LayoutOperation, LayoutResult, ServerTree, TreeEvent, WindowLayout } from "../../tmux/layout.ts";
import { type LayoutHost, runOperation } from "./layoutOperations.ts";
import { TreeWatch } from "./treeWatch.ts";

export class RealLayout implements WindowLayout {
  readonly #host: LayoutHost;
  readonly #watch: TreeWatch;

  constructor(host: LayoutHost, onListenerError: (error: unknown) => void) {
    this.#host = host;
    this.#watch = new TreeWatch({
      source: host.inventory,
      onListenerError,
      onFollowed: (isFollowed) => host.follow(isFollowed),
    });
  }

  tree(): ServerTree {
    return this.#watch.tree();
  }

  watch(listener: (events: readonly TreeEvent[]) => void): () => void {
    return this.#watch.watch(listener);
  }

  run(operation: LayoutOperation): Promise<LayoutResult> {
    return runOperation(this.#host, operation);
  }

  /** The inventory is complete again. */
  changed(): void {
    this.#watch.changed();
  }

  close(): void {
    this.#watch.clear();
  }
}
