/**
 * Finds panes whose output somebody has turned off for our client (`refresh-client -A %N:off`): tmux tells nobody and has
 * no format for it. What it has is the second in which each window was last written to; a window that was written to
 * later than we last heard of any of its panes is one we do not hear. It is turned on again, and the hole is declared in
 * the turn of tmux's answer: what it sent before that is before the hole. A pane that writes nothing after the second of
 * its last byte is noticed with its next output.
 *
 * A window may also have been written to by a pane that is not there any more or has died, heard or not (fact 15), or that
 * the inventory does not know to be there yet. The first is told as a change of the window's layout; for the others tmux is
 * asked which panes are there and dead, before anything is called silent.
 */
import { controlPaneOutput, listAllPanes, listPanesWhere, listWindowsWrittenTo } from "../../protocol/command/build.ts";
import {
  decodePaneIds,
  decodePanePlaces,
  decodeWindowTimes,
  PANE_PLACE_FORMAT,
  WINDOW_TIMES_FORMAT,
} from "../../protocol/command/formats.ts";
import type { Notification } from "../../protocol/control/notifications.ts";
import { type PaneId, paneNumberOf, type SessionId, type WindowId } from "../../protocol/ids.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";

export interface OutputWatchOptions {
  /** tmux's clock is the machine's. */
  readonly nowUnixMs?: (() => number) | undefined;
  readonly windows: () => readonly WindowId[];
  readonly panesOf: (window: WindowId) => readonly PaneId[];
  /** Whether it is known that the window is in this session; true for sessions that are nobody's. */
  readonly isThere: (session: SessionId, window: WindowId) => boolean;
  /** A window is elsewhere than known: `swap-window` tells nobody. */
  readonly onMoved: () => void;
  /** What these panes have written for some time has not come, and what follows does. */
  readonly onHole: (panes: readonly PaneId[]) => void;
}

export class OutputWatch {
  readonly #options: OutputWatchOptions;
  readonly #nowUnixMs: () => number;
  /** By pane number; what is older than `#sinceSec` is dropped. */
  readonly #heardSec = new Map<number, number>();
  /** Windows that tmux counts as written to for another reason. */
  readonly #excusedSec = new Map<WindowId, number>();
  #sinceSec: number;
  /** Known at the last look: one that is new counts as written to since it was made. */
  #known: ReadonlySet<WindowId> = new Set();
  #dead: ReadonlySet<PaneId> = new Set();
  #isLooking = false;

  constructor(options: OutputWatchOptions) {
    this.#options = options;
    this.#nowUnixMs = options.nowUnixMs ?? Date.now;
    this.#sinceSec = this.#nowSec();
  }

  /** Another connection begins: what was written before it is none of its concern. */
  begin(): void {
    this.#heardSec.clear();
    this.#excusedSec.clear();
    this.#known = new Set(this.#options.windows());
    this.#sinceSec = this.#nowSec();
  }

  /** A pane's output came. On the path of output. */
  heard(paneNumber: number): void {
    this.#heardSec.set(paneNumber, this.#nowSec());
  }

  /** tmux counts the choice of a window as activity in it; a pane that leaves a window may have written before. */
  noticed(notification: Notification): void {
    const { kind } = notification;
    if (kind !== "session-window-changed" && kind !== "layout-change") return;
    this.#excusedSec.set(notification.window, this.#nowSec());
  }

  /** Asks over the connection that carries the output. */
  look(connection: ControlConnection, session: SessionId): void {
    if (this.#isLooking || connection.closed) return;
    this.#isLooking = true;
    this.#turnOnSilent(connection, session)
      // The connection is lost, or the session: that has its own consequences.
      .catch(() => undefined)
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #turnOnSilent(connection: ControlConnection, session: SessionId): Promise<void> {
    const [sinceSec, nowSec] = [this.#sinceSec, this.#nowSec()];
    const { panesOf } = this.#options;
    const seeming = await this.#find(connection, session, sinceSec, panesOf);
    // What made a window seem silent may have been said in the meantime.
    if (seeming.length > 0) {
      const places = decodePanePlaces((await connection.command(listAllPanes(PANE_PLACE_FORMAT))).body);
      const listedIn = (window: WindowId): PaneId[] => places.filter((row) => row[1] === window).map(([pane]) => pane);
      const found = await this.#find(connection, session, sinceSec, listedIn);
      const dying = found.length > 0 ? await this.#askDying(connection) : new Set();
      const isExcused = (window: WindowId): boolean => listedIn(window).some((pane) => dying.has(pane));
      for (const window of found.filter(isExcused)) this.#excusedSec.set(window, this.#nowSec());
      const silent = found.filter((window) => !isExcused(window));
      if (silent.length > 0) this.#turnOn(connection, silent, listedIn);
    }
    this.#looked(nowSec);
  }

  async #find(
    connection: ControlConnection,
    session: SessionId,
    sinceSec: number,
    panesOf: (window: WindowId) => readonly PaneId[],
  ): Promise<readonly WindowId[]> {
    const { body } = await connection.command(listWindowsWrittenTo(sinceSec, WINDOW_TIMES_FORMAT));
    const times = decodeWindowTimes(body);
    const { isThere, onMoved } = this.#options;
    if (times.some((row) => row.session !== session && !isThere(row.session, row.window))) onMoved();
    const here = times.filter((row) => row.session === session);
    for (const { window, writtenSec } of here) if (!this.#known.has(window)) this.#excusedSec.set(window, writtenSec);
    return here
      .filter(
        ({ window, writtenSec }) =>
          Math.max(this.#excusedSec.get(window) ?? 0, this.#heardIn(panesOf(window))) < writtenSec,
      )
      .map(({ window }) => window);
  }

  /** Panes that are dead and were not when this was last asked. What they wrote last may be lost; it is in their window. */
  async #askDying(connection: ControlConnection): Promise<ReadonlySet<PaneId>> {
    const dead = decodePaneIds((await connection.command(listPanesWhere("#{pane_dead}"))).body);
    const dying = new Set(dead.filter((pane) => !this.#dead.has(pane)));
    this.#dead = new Set(dead);
    return dying;
  }

  #turnOn(
    connection: ControlConnection,
    windows: readonly WindowId[],
    panesOf: (window: WindowId) => readonly PaneId[],
  ): void {
    const panes = windows.flatMap((window) => panesOf(window));
    if (panes.length === 0) return;
    const commands = panes.map((pane) => controlPaneOutput(pane, "on"));
    connection.sendGroup(commands, (outcome) => {
      if ("error" in outcome) return;
      for (const window of windows) this.#excusedSec.set(window, this.#nowSec());
      this.#options.onHole(panes);
    });
  }

  #looked(nowSec: number): void {
    // A second that has not passed is looked at again.
    this.#sinceSec = Math.max(this.#sinceSec, nowSec - 1);
    this.#known = new Set(this.#options.windows());
    for (const times of [this.#heardSec, this.#excusedSec] as Map<unknown, number>[]) {
      for (const [key, sec] of times) if (sec < this.#sinceSec) times.delete(key);
    }
  }

  #heardIn(panes: readonly PaneId[]): number {
    return Math.max(0, ...panes.map((pane) => this.#heardSec.get(paneNumberOf(pane)) ?? 0));
  }

  #nowSec(): number {
    return Math.floor(this.#nowUnixMs() / 1_000);
  }
}
