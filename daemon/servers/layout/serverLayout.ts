/**
 * `WindowLayout` of a server. Changes of its tree are reported when a listing is complete: the tree is compared with the one
 * reported before, so each change comes once and in order, and never before the inventory has it. Nothing is compared while
 * there are no listeners.
 */
import type { LayoutOperation, LayoutResult, ServerTree, TreeEvent, WindowLayout } from "../../tmux/layout.ts";
import { Listeners } from "../listeners.ts";
import { treeChanges, treeOf, type TreeSource } from "./windowTree.ts";

interface ServerLayoutOptions {
  readonly source: TreeSource;
  readonly run: (operation: LayoutOperation) => Promise<LayoutResult>;
  readonly onListenerError: (error: unknown) => void;
  /** Called when the first listener subscribes and when the last one unsubscribes. */
  readonly onFollowed?: ((isFollowed: boolean) => void) | undefined;
}

export class ServerLayout implements WindowLayout {
  readonly #options: ServerLayoutOptions;
  readonly #listeners: Listeners<readonly TreeEvent[]>;
  /** The tree as last reported. */
  #reported: ServerTree | undefined;

  constructor(options: ServerLayoutOptions) {
    this.#options = options;
    this.#listeners = new Listeners(options.onListenerError);
  }

  /** The tree as reported to the listeners; without listeners, as in the inventory. */
  tree(): ServerTree {
    return this.#reported ?? treeOf(this.#options.source);
  }

  /** Returns the unsubscribe function. */
  watch(listener: (events: readonly TreeEvent[]) => void): () => void {
    if (this.#reported === undefined) {
      this.#reported = treeOf(this.#options.source);
      this.#options.onFollowed?.(true);
    }
    const unsubscribe = this.#listeners.subscribe(listener);
    return () => {
      unsubscribe();
      if (this.#listeners.count > 0 || this.#reported === undefined) return;
      this.#reported = undefined;
      this.#options.onFollowed?.(false);
    };
  }

  run(operation: LayoutOperation): Promise<LayoutResult> {
    return this.#options.run(operation);
  }

  /** Call when the inventory is complete again. */
  changed(): void {
    if (this.#reported === undefined) return;
    const tree = treeOf(this.#options.source);
    const events = treeChanges(this.#reported, tree);
    if (events.length === 0) return;
    this.#reported = tree;
    this.#listeners.emit(events);
  }

  /** Drops every listener. */
  close(): void {
    this.#listeners.clear();
    this.#reported = undefined;
  }
}
