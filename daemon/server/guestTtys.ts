/**
 * What tmux tells no control client of a guest: that a pane's program has ended while the pane stays (`remain-on-exit`), that one
 * was started anew, that a pane of a session we are not attached to came or went. Each of these makes or removes a
 * terminal, and Linux announces both in `/dev/pts`. An event is only ever a reason to look, and bursts are looked at
 * together. Where there is no such directory, tmux's own notifications have to do.
 */
import { existsSync, type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import { TTY_LOOK_INTERVAL_MS } from "../../protocol/limits.ts";
import type { Clock, Timer } from "../time/clock.ts";

/** Linux's; elsewhere a watch of it fails, and nothing tells that a terminal has gone. */
export const TTY_DIRECTORY = "/dev/pts";

export interface TtyWatchOptions {
  readonly clock: Clock;
  readonly directory: string;
  /** Not when a terminal comes. */
  readonly onlyGone?: boolean | undefined;
  /** Asks tmux. */
  readonly look: () => void;
}

export class TtyWatch {
  readonly #options: TtyWatchOptions;
  readonly #watcher: FSWatcher | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(options: TtyWatchOptions) {
    this.#options = options;
    try {
      this.#watcher = watch(options.directory, { persistent: false }, (kind, name) => {
        // "change" is what a program writes; "rename" is a terminal that came or went.
        if (kind !== "rename") return;
        const isThere = options.onlyGone === true && name !== null && existsSync(join(options.directory, name));
        if (!isThere) this.changed();
      });
      this.#watcher.on("error", () => this.close());
    } catch {
      this.#watcher = undefined;
    }
  }

  /** The first change is looked at now, those right after it together. */
  changed(): void {
    if (this.#timer !== undefined) return;
    const { clock } = this.#options;
    const dueMs = this.#lookedMs + TTY_LOOK_INTERVAL_MS;
    if (dueMs <= clock.nowMs()) this.#look();
    else this.#timer = clock.callAt(dueMs, () => this.#look());
  }

  /** Safe to call twice. */
  close(): void {
    this.#timer?.cancel();
    this.#watcher?.close();
  }

  #look(): void {
    this.#timer = undefined;
    this.#lookedMs = this.#options.clock.nowMs();
    this.#options.look();
  }
}
