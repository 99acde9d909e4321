/**
 * Finds panes whose output somebody has turned off for our client (`refresh-client -A %N:off`), which tmux neither reports
 * nor has a format for. tmux does report the second in which each window was last written to; a window written to later than
 * we last received output of any of its panes is silenced. Its panes are turned on again, and a gap is declared in the turn
 * of tmux's reply: what tmux sent earlier is before the gap.
 *
 * From tmux 3.4 on, a pane that is off for every client is not even read (server-client.c
 * `server_client_check_pane_buffer`), so that this time does not advance. Panes to which that may have happened are turned on
 * with each heartbeat, which has no effect on those that are on. This is done for another client of ours if there is one:
 * tmux then reads again, and the time advances. Otherwise it is done for the client that carries the output: output that
 * waited in the terminal then comes at once, with a gap before it, because what tmux held for us when the pane was turned off
 * is lost.
 *
 * A window may also have been written to by a pane that is gone, has died (fact 15) or is not in the inventory yet. The first
 * is reported as a change of the window's layout; for the others, tmux is asked which panes exist and which are dead before a
 * window counts as silenced.
 */
import { listAllPanes, listPanesWhere, listWindowsWrittenTo, turnPanesOn } from "../../protocol/command/build.ts";
import { decodePaneIds, PANE_PLACES, WINDOW_TIMES, type WindowTime } from "../../protocol/command/formats.ts";
import type { Notification } from "../../protocol/control/notifications.ts";
import { type PaneId, paneIdOf, paneNumberOf, type SessionId, type WindowId } from "../../protocol/ids.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";

/** A pane silent for this long, and for longer than its recent pauses, may have been turned off. */
const QUIET_MS = 100;
const MORE_THAN_USUAL = 1.25;
/** The longest pause that is taken into account. */
const MAX_PAUSE_MS = 4_000;

/** Windows that were written to after a point in time. */
export interface WrittenWindows {
  readonly sinceSec: number;
  readonly askedSec: number;
  readonly rows: readonly WindowTime[];
}

export async function askWritten(
  connection: ControlConnection,
  sinceSec: number,
  nowUnixMs = Date.now,
): Promise<WrittenWindows> {
  const askedSec = toSec(nowUnixMs());
  const rows = await connection.rows(WINDOW_TIMES, (format) => listWindowsWrittenTo(sinceSec, format));
  return { sinceSec, askedSec, rows };
}

interface LastOutput {
  lastMs: number;
  /** The longest recent pause between two outputs. */
  pauseMs: number;
}

export interface OutputWatchOptions {
  /** The wall clock, which tmux uses too. */
  readonly nowUnixMs?: (() => number) | undefined;
  readonly windows: () => readonly WindowId[];
  readonly panesOf: (window: WindowId) => readonly PaneId[];
  /** Whether the window is in this session; true for unknown sessions. */
  readonly isThere: (session: SessionId, window: WindowId) => boolean;
  /** Called when a window is not where the inventory has it, because `swap-window` is not reported. */
  readonly onMoved: () => void;
  /** Panes that tmux would not read if they were off for all our clients. */
  readonly mayBeUnread: () => readonly PaneId[];
  /** Another client of ours, which makes tmux read these panes but does not receive their output. */
  readonly otherReader?: (() => ControlConnection | undefined) | undefined;
  /** Called when output of these panes was lost; later output arrives. */
  readonly onHole: (panes: readonly PaneId[]) => void;
}

export class OutputWatch {
  readonly #options: OutputWatchOptions;
  readonly #nowUnixMs: () => number;
  /** By pane number; older entries than `#sinceSec` are dropped. */
  readonly #last = new Map<number, LastOutput>();
  /** When tmux counted windows as written to for another reason. */
  readonly #excusedSec = new Map<WindowId, number>();
  #sinceSec: number;
  /** The windows known at the last probe; a new one counts as written to since it was created. */
  #known: ReadonlySet<WindowId> = new Set();
  #dead: ReadonlySet<PaneId> = new Set();
  #isProbing = false;
  /** Panes that have just been turned on; their next output had been held back. */
  readonly #woken = new Set<number>();

  constructor(options: OutputWatchOptions) {
    this.#options = options;
    this.#nowUnixMs = options.nowUnixMs ?? Date.now;
    this.#sinceSec = this.#nowSec();
  }

  /** Call when another connection begins; earlier writes do not count. */
  begin(): void {
    this.#last.clear();
    this.#woken.clear();
    this.#excusedSec.clear();
    this.#known = new Set(this.#options.windows());
    this.#sinceSec = this.#nowSec();
  }

  /** Call when output of a pane has arrived, before it is processed. On the hot path. */
  received(paneNumber: number): void {
    const nowMs = this.#nowUnixMs();
    const last = this.#last.get(paneNumber);
    if (last === undefined) this.#last.set(paneNumber, { lastMs: nowMs, pauseMs: 0 });
    else {
      const pauseMs = Math.min(nowMs - last.lastMs, MAX_PAUSE_MS);
      last.pauseMs = Math.max(pauseMs, last.pauseMs - pauseMs / 8);
      last.lastMs = nowMs;
    }
    if (this.#woken.delete(paneNumber)) this.#options.onHole([paneIdOf(paneNumber)]);
  }

  /** tmux counts selecting a window as activity in it, and a pane that leaves a window may have written before. */
  noticed(notification: Notification): void {
    const { kind } = notification;
    if (kind !== "session-window-changed" && kind !== "layout-change") return;
    this.#excusedSec.set(notification.window, this.#nowSec());
  }

  /** Everything written up to this time has arrived. */
  get sinceSec(): number {
    return this.#sinceSec;
  }

  /**
   * Queries tmux over the connection that carries the output.
   * @param written windows already known to be written to; asked again only if one of them seems silenced
   */
  probe(connection: ControlConnection, session: SessionId, written?: WrittenWindows): void {
    if (this.#isProbing || connection.closed) return;
    this.#wake(connection);
    const isKnown = written !== undefined && written.sinceSec <= this.#sinceSec;
    if (isKnown && this.#silentOf(written.rows, session, this.#options.panesOf).length === 0) {
      this.#probed(written.askedSec);
      return;
    }
    this.#isProbing = true;
    this.#turnOnSilent(connection, session)
      // The connection or the session is lost, which is handled elsewhere.
      .catch(() => undefined)
      .finally(() => {
        this.#isProbing = false;
      });
  }

  async #turnOnSilent(connection: ControlConnection, session: SessionId): Promise<void> {
    const ask = (): Promise<WrittenWindows> => askWritten(connection, this.#sinceSec, this.#nowUnixMs);
    const { rows, askedSec } = await ask();
    const seeming = this.#silentOf(rows, session, this.#options.panesOf);
    // The reason why a window seemed silenced may have been reported meanwhile.
    if (seeming.length > 0) {
      const places = await connection.rows(PANE_PLACES, listAllPanes);
      const listedIn = (window: WindowId): PaneId[] =>
        places.filter((row) => row.window === window).map(({ pane }) => pane);
      const found = this.#silentOf((await ask()).rows, session, listedIn);
      const dying = found.length > 0 ? await this.#askDying(connection) : new Set();
      const isExcused = (window: WindowId): boolean => listedIn(window).some((pane) => dying.has(pane));
      for (const window of found.filter(isExcused)) this.#excusedSec.set(window, this.#nowSec());
      const silent = found.filter((window) => !isExcused(window));
      if (silent.length > 0) this.#turnOn(connection, silent, listedIn);
    }
    this.#probed(askedSec);
  }

  #silentOf(
    written: readonly WindowTime[],
    session: SessionId,
    panesOf: (window: WindowId) => readonly PaneId[],
  ): readonly WindowId[] {
    const times = written.filter(({ writtenSec }) => writtenSec > this.#sinceSec);
    const { isThere, onMoved } = this.#options;
    if (times.some((row) => row.session !== session && !isThere(row.session, row.window))) onMoved();
    const here = times.filter((row) => row.session === session);
    for (const { window, writtenSec } of here) if (!this.#known.has(window)) this.#excusedSec.set(window, writtenSec);
    return here
      .filter(
        ({ window, writtenSec }) =>
          Math.max(this.#excusedSec.get(window) ?? 0, this.#heardInSec(panesOf(window))) < writtenSec,
      )
      .map(({ window }) => window);
  }

  /** Panes that have died since the last query. Their last output may be lost, but counts as activity of their window. */
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
    connection.sendGroup(turnPanesOn(panes), (outcome) => {
      if ("error" in outcome) return;
      for (const window of windows) this.#excusedSec.set(window, this.#nowSec());
      this.#options.onHole(panes);
    });
  }

  /**
   * Between two consecutive commands, tmux reads all its terminals (`server_loop`), so output between the replies to the first
   * and the second had been held back.
   */
  #wake(connection: ControlConnection): void {
    if (!connection.features.leavesOffUnread) return;
    const nowMs = this.#nowUnixMs();
    const quiet = this.#options.mayBeUnread().filter((pane) => this.#isQuiet(paneNumberOf(pane), nowMs));
    if (quiet.length === 0) return;
    const reader = this.#options.otherReader?.();
    if (reader !== undefined) {
      reader.sendGroup(turnPanesOn(quiet), () => undefined);
      return;
    }
    connection.sendGroup(turnPanesOn(quiet), (outcome) => {
      this.#woken.clear();
      if ("error" in outcome || connection.closed) return;
      const atMs = this.#nowUnixMs();
      // Panes with output meanwhile were on.
      const numbers = quiet.map(paneNumberOf).filter((number) => this.#isQuiet(number, atMs));
      for (const number of numbers) this.#woken.add(number);
      connection.sendGroup(turnPanesOn(quiet.slice(0, 1)), () => this.#woken.clear());
    });
  }

  #isQuiet(paneNumber: number, nowMs: number): boolean {
    const last = this.#last.get(paneNumber);
    return last === undefined || nowMs - last.lastMs > Math.max(QUIET_MS, last.pauseMs * MORE_THAN_USUAL);
  }

  #probed(nowSec: number): void {
    // The current second is not over, so it is checked again.
    this.#sinceSec = Math.max(this.#sinceSec, nowSec - 1);
    this.#known = new Set(this.#options.windows());
    for (const [window, sec] of this.#excusedSec) if (sec < this.#sinceSec) this.#excusedSec.delete(window);
    const forgetMs = this.#sinceSec * 1_000 - MAX_PAUSE_MS * 2;
    for (const [pane, { lastMs }] of this.#last) if (lastMs < forgetMs) this.#last.delete(pane);
  }

  #heardInSec(panes: readonly PaneId[]): number {
    return Math.max(0, ...panes.map((pane) => toSec(this.#last.get(paneNumberOf(pane))?.lastMs ?? 0)));
  }

  #nowSec(): number {
    return toSec(this.#nowUnixMs());
  }
}

const toSec = (ms: number): number => Math.floor(ms / 1_000);
