/**
 * `WindowLayout` of a server. Changes of its tree are reported once a listing is complete: the tree is compared with the
 * one reported before, so each change comes once and in order, and never before the inventory has it. Nothing is compared
 * while nobody listens.
 */
import type { LayoutOperation, LayoutResult, ServerTree, TreeEvent, WindowLayout } from "../../tmux/layout.ts";
import { treeChanges, treeOf, TreeParts, type TreeSource } from "./windowTree.ts";

interface ServerLayoutOptions {
  readonly source: TreeSource;
  readonly run: (operation: LayoutOperation) => Promise<LayoutResult>;
  readonly onListenerError: (error: unknown) => void;
  /** The first listener came, or the last one left. */
  readonly onFollowed?: ((isFollowed: boolean) => void) | undefined;
}

export class ServerLayout implements WindowLayout {
  readonly #options: ServerLayoutOptions;
  readonly #parts = new TreeParts();
  #listeners: readonly ((events: readonly TreeEvent[]) => void)[] = [];
  /** As it was reported. */
  #reported: ServerTree | undefined;

  constructor(options: ServerLayoutOptions) {
    this.#options = options;
  }

  /** What was reported to the listeners; as the inventory has it while nobody listens. */
  tree(): ServerTree {
    return this.#reported ?? treeOf(this.#options.source, this.#parts);
  }

  /** Returns the unsubscribe function. */
  watch(listener: (events: readonly TreeEvent[]) => void): () => void {
    if (this.#reported === undefined) {
      this.#reported = treeOf(this.#options.source, this.#parts);
      this.#options.onFollowed?.(true);
    }
    this.#listeners = [...this.#listeners, listener];
    return () => {
      const left = this.#listeners.filter((other) => other !== listener);
      if (left.length === this.#listeners.length) return;
      this.#listeners = left;
      if (left.length > 0) return;
      this.#reported = undefined;
      this.#options.onFollowed?.(false);
    };
  }

  run(operation: LayoutOperation): Promise<LayoutResult> {
    return this.#options.run(operation);
  }

  /** The inventory is complete again. */
  changed(): void {
    if (this.#reported === undefined) return;
    const tree = treeOf(this.#options.source, this.#parts);
    const events = treeChanges(this.#reported, tree);
    if (events.length === 0) return;
    this.#reported = tree;
    for (const listener of this.#listeners) {
      try {
        listener(events);
      } catch (error) {
        this.#options.onListenerError(error);
      }
    }
  }

  /** Drops every listener. */
  close(): void {
    this.#listeners = [];
    this.#reported = undefined;
  }
}
