/** Panes by pattern: of their ids, and of the names and ids of their sessions; commas between, * for anything. */
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";

/** A session. */
export interface Named {
  readonly id: string;
  readonly name: string;
}
/** A pane. */
export interface Placed {
  readonly id: string;
  readonly window: string;
}

export class PanePatterns {
  readonly #patterns: readonly RegExp[];

  constructor(text: string) {
    this.#patterns = text.split(",").map(patternOf);
  }

  matchesSession({ id, name }: Named): boolean {
    return this.#patterns.some((pattern) => pattern.test(name) || pattern.test(id));
  }

  matchesPane(server: TmuxServer, { id, window }: Placed): boolean {
    if (this.#patterns.some((pattern) => pattern.test(id))) return true;
    return server
      .sessions()
      .some((session) => session.windows.some((one) => one === window) && this.matchesSession(session));
  }
}

const patternOf = (pattern: string): RegExp =>
  new RegExp(`^${pattern.trim().split("*").map(escaped).join(".*")}$`, "su");

const escaped = (text: string): string => text.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&");
