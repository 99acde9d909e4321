/**
 * `WindowLayout` of the stub: each session always has one window with one pane. What can be done to one pane is done
 * and reported as tmux does; what would need another is refused.
 */
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId, SessionId, WindowId } from "../../../protocol/ids.ts";
import type { LayoutOperation, LayoutResult, ServerTree, TreeEvent, WindowLayout } from "../../tmux/layout.ts";
import { requireOption } from "../layout/layoutOptions.ts";
import { requireLayout, requireWindowName, requireWindowSize } from "../layout/layoutRules.ts";
import { requireSessionName } from "../sessionRules.ts";
import type { StubSession } from "./stubSession.ts";
import { TreeWatch, type TreeWatchOptions } from "../layout/treeWatch.ts";

interface StubLayoutOptions extends TreeWatchOptions {
  /** @throws AppError CONNECTION_LOST when the stub is closed */
  readonly all: () => readonly StubSession[];
  readonly rename: (session: StubSession, name: string) => void;
  readonly resize: (pane: PaneId, cols: number, rows: number) => Promise<void>;
  readonly kill: (session: SessionId) => Promise<void>;
}

export class StubLayout implements WindowLayout {
  readonly #options: StubLayoutOptions;
  readonly #watch: TreeWatch;

  constructor(options: StubLayoutOptions) {
    this.#options = options;
    this.#watch = new TreeWatch(options);
  }

  tree(): ServerTree {
    return this.#watch.tree();
  }

  watch(listener: (events: readonly TreeEvent[]) => void): () => void {
    return this.#watch.watch(listener);
  }

  async run(operation: LayoutOperation): Promise<LayoutResult> {
    const session = this.#sessionOf(operation);
    const result = await this.#perform(operation, session);
    this.changed();
    return result;
  }

  changed(): void {
    this.#watch.changed();
  }

  close(): void {
    this.#watch.clear();
  }

  async #perform(operation: LayoutOperation, session: StubSession): Promise<LayoutResult> {
    const { info, window, pane } = session;
    const here = { session: info.id, window: window.id };
    switch (operation.kind) {
      case "kill-pane":
      case "kill-window":
        await this.#options.kill(info.id);
        return { session: info.id };
      case "rename-session":
        requireSessionName(operation.name);
        if (this.#options.all().some((other) => other !== session && other.info.name === operation.name))
          throw new AppError("ALREADY_EXISTS", `duplicate session: ${operation.name}`);
        this.#options.rename(session, operation.name);
        return { session: info.id };
      case "rename-window":
        requireWindowName(operation.name);
        session.window = { ...window, name: operation.name };
        return here;
      case "resize-window": {
        const { cols = pane.cols, rows = pane.rows, automatic } = operation;
        requireWindowSize(operation.cols, operation.rows);
        if (automatic !== true) await this.#options.resize(pane.id, cols, rows);
        return here;
      }
      case "set-window-option":
        requireOption("window", operation.option, operation.value);
        return here;
      case "set-pane-option":
        requireOption("pane", operation.option, operation.value);
        return { ...here, pane: pane.id };
      case "select-layout":
        if (operation.layout !== "spread") requireLayout(operation.layout, 1);
        return here;
      case "select-window":
        return here;
      case "select-pane":
      case "clear-history":
        return { ...here, pane: pane.id };
      case "new-window":
      case "split-window":
      case "swap-pane":
      case "move-pane":
      case "join-pane":
      case "break-pane":
      case "resize-pane":
      case "respawn-pane":
        throw new AppError("INVALID_ARGUMENT", `${operation.kind}: a session of the stub has one window with one pane`);
    }
  }

  /** @throws AppError NOT_FOUND, CONNECTION_LOST */
  #sessionOf(operation: LayoutOperation): StubSession {
    const asked: readonly (PaneId | WindowId | SessionId | undefined)[] = [
      "pane" in operation ? operation.pane : undefined,
      "window" in operation ? operation.window : undefined,
      "session" in operation ? operation.session : undefined,
    ];
    const named = asked.find((id) => id !== undefined);
    const session = this.#options
      .all()
      .find(({ info, window, pane }) => named === info.id || named === window.id || named === pane.id);
    if (session === undefined) throw new AppError("NOT_FOUND", `${named} does not exist; list what is there again`);
    return session;
  }
}
