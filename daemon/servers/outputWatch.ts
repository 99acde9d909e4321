/**
 * Finds panes whose output somebody has turned off for our client (`refresh-client -A %N:off`), which tmux neither reports
 * nor has a format for. tmux does report the second in which each window was last written to; a window written to later than
 * we last received output of any of its panes is silenced. Its panes are turned on again, and a gap is declared in the turn
 * of tmux's reply: what tmux sent earlier is before the gap.
 *
 * tmux says these times once a second (`ClientReports`). They are whole seconds, so that they say nothing of a pane that was
 * heard in the same second: if it is silent when the next one has begun, tmux is asked, some times in that second. With each
 * heartbeat it is asked, too, in case no report comes.
 *
 * From tmux 3.4 on, a pane that is off for every client is not even read (server-client.c
 * `server_client_check_pane_buffer`), so that this time does not advance. Panes to which that may have happened are turned on
 * with each heartbeat and report, which has no effect on those that are on. This is done for another client of ours if there
 * is one: tmux then reads again, and the time advances. Otherwise it is done for the client that carries the output: output
 * that waited in the terminal then comes at once, with a gap before it, because what tmux held for us when the pane was turned
 * off is lost. A pane that was on, and prints just then, is not mistaken for one that was off unless somebody's command was
 * executed since it was known to be on (`ControlConnection.othersCommands`).
 *
 * A window may also have been written to by a pane that is gone, has died (fact 15) or is not in the inventory yet. The first
 * is reported as a change of the window's layout; for the others, tmux is asked which panes exist and which are dead before a
 * window counts as silenced.
 */
import {
  displayMessage,
  listAllPanes,
  listPanesWhere,
  listWindowsWrittenTo,
  nextTurn,
  turnPanesOn,
} from "../../protocol/command/build.ts";
import { PANE_PLACES, PROGRAMS, WINDOW_TIMES, type WindowTime } from "../../protocol/command/formats.ts";
import type { Notification } from "../../protocol/control/notifications.ts";
import { type PaneId, paneIdOf, paneNumberOf, type SessionId, type WindowId } from "../../protocol/ids.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import type { Clock, Timer } from "../time/clock.ts";

/** A pane silent for this long, and for longer than its recent pauses, may have been turned off. */
const QUIET_MS = 100;
const MORE_THAN_USUAL = 1.25;
/** The longest pause that is taken into account. */
const MAX_PAUSE_MS = 4_000;
/**
 * When tmux is asked in a second: a pane that prints ten times a second is heard before, and one that prints twice has printed
 * then. While nothing comes, nothing is asked.
 */
const LOOK_AFTER_MS = 150;
const LOOK_AGAIN_MS = 200;

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
  /** When it was turned on after it had been off. */
  resumedMs: number;
}

export interface OutputWatchOptions {
  readonly clock: Clock;
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
  /** Whether those are turned on with each report, too. */
  readonly wakesWithReports?: boolean | undefined;
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
  /** When each of the panes that may be unread was last turned on. */
  #onMs: ReadonlyMap<number, number> = new Map();
  /** When it was last seen that commands of others had been executed, and how many. */
  #othersMs = 0;
  #othersCommands = 0;
  #carrier: { readonly connection: ControlConnection; readonly session: SessionId } | undefined;
  #look: Timer | undefined;
  /** Windows of the last report that were in no listing. */
  #unlisted: ReadonlySet<WindowId> = new Set();
  /** How far tmux's clock is ahead of ours, if it is on another machine. */
  #aheadSec = 0;

  constructor(options: OutputWatchOptions) {
    this.#options = options;
    this.#nowUnixMs = options.nowUnixMs ?? Date.now;
    this.#sinceSec = this.#nowSec();
  }

  /** Call when another connection carries the output of this session; earlier writes do not count. */
  begin(connection: ControlConnection, session: SessionId): void {
    this.end();
    this.#carrier = { connection, session };
    this.#last.clear();
    this.#excusedSec.clear();
    this.#onMs = new Map();
    this.#othersCommands = 0;
    this.#othersMs = this.#nowUnixMs();
    this.#unlisted = new Set();
    this.#aheadSec = 0;
    this.#known = new Set(this.#options.windows());
    this.#sinceSec = this.#nowSec();
  }

  /** Call when the connection has ended. Safe to call twice. */
  end(): void {
    this.#look?.cancel();
    this.#look = undefined;
    this.#carrier = undefined;
    this.#woken.clear();
  }

  /** Call when output of a pane has arrived, before it is processed. On the hot path. */
  received(paneNumber: number): void {
    const nowMs = this.#nowUnixMs();
    const last = this.#last.get(paneNumber);
    const wasOff = this.#woken.size > 0 && this.#woken.delete(paneNumber);
    if (last === undefined) this.#last.set(paneNumber, { lastMs: nowMs, pauseMs: 0, resumedMs: 0 });
    else {
      // It was not the pane that paused while it was off.
      const sinceMs = Math.max(last.lastMs, last.resumedMs);
      const pauseMs = wasOff ? 0 : Math.min(nowMs - sinceMs, MAX_PAUSE_MS);
      last.pauseMs = Math.max(pauseMs, last.pauseMs - pauseMs / 2);
      last.lastMs = nowMs;
    }
    if (wasOff) this.#options.onHole([paneIdOf(paneNumber)]);
    if (this.#look === undefined) this.#lookInNextSecond();
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
  probe(written?: WrittenWindows): void {
    this.#wake();
    this.#find(written);
  }

  /** What tmux says itself over the connection that carries the output, about every window of its session. */
  reported({ rows, askedSec }: WrittenWindows): void {
    const aheadSec = askedSec - toSec(this.#nowUnixMs());
    // The parts of a second are not known, so that a second more is possible.
    if (aheadSec > 0) this.#aheadSec = Math.max(this.#aheadSec, aheadSec + 1);
    if (this.#options.wakesWithReports === true) this.#wake();
    this.#compare(rows);
    this.#find({ rows, askedSec, sinceSec: this.#sinceSec });
  }

  /** A window that has taken another one's place, which `swap-window` does not report. */
  #compare(rows: readonly WindowTime[]): void {
    const known = new Set(this.#options.windows());
    const before = this.#unlisted;
    const unlisted = rows.map(({ window }) => window).filter((window) => !known.has(window));
    this.#unlisted = new Set(unlisted);
    if (unlisted.some((window) => !before.has(window))) this.#options.onMoved();
  }

  #lookInNextSecond(): void {
    this.#lookAfter(1_000 - (this.#nowUnixMs() % 1_000) + LOOK_AFTER_MS);
  }

  #lookAfter(ms: number): void {
    const { clock } = this.#options;
    this.#look = clock.callAt(clock.nowMs() + ms, () => {
      this.#look = undefined;
      if (this.#carrier === undefined) return;
      const sec = this.#nowSec();
      if (this.#wasHeardIn(sec - 1)) {
        this.#find();
        this.#lookAfter(LOOK_AGAIN_MS);
      } else if (this.#wasHeardIn(sec)) this.#lookInNextSecond();
    });
  }

  /** Whether a pane was last heard in this second. */
  #wasHeardIn(sec: number): boolean {
    for (const { lastMs } of this.#last.values()) if (this.#secOf(lastMs) === sec) return true;
    return false;
  }

  #find(written?: WrittenWindows): void {
    if (this.#isProbing || this.#carrier === undefined || this.#carrier.connection.closed) return;
    const { connection, session } = this.#carrier;
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
      const [places, written, dying] = await Promise.all([
        connection.rows(PANE_PLACES, listAllPanes),
        ask(),
        this.#askDying(connection),
      ]);
      const listedIn = (window: WindowId): PaneId[] =>
        places.filter((row) => row.window === window).map(({ pane }) => pane);
      const found = this.#silentOf(written.rows, session, listedIn);
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

  /**
   * Panes that have died since the last query: their last output may be lost, but counts as activity of their window. And
   * those that never had a program: what `split-window -I` shows there is no output. (From 3.8 on every dead pane is such a one.)
   */
  async #askDying(connection: ControlConnection): Promise<ReadonlySet<PaneId>> {
    const rows = await connection.rows(PROGRAMS, (format) => listPanesWhere("#{pane_dead}", format));
    const dying = rows.filter(({ pane, pid = 0 }) => pid === 0 || !this.#dead.has(pane));
    this.#dead = new Set(rows.map(({ pane }) => pane));
    return new Set(dying.map(({ pane }) => pane));
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
      const nowMs = this.#nowUnixMs();
      for (const pane of panes) {
        const last = this.#last.get(paneNumberOf(pane));
        if (last !== undefined) last.resumedMs = nowMs;
      }
      this.#options.onHole(panes);
    });
  }

  /**
   * What comes between the replies to the command that turns them on and to the last one had been held back: tmux gets both in
   * one write, begins to read again in one turn of its loop, and passes on what waited in the next (measured with 3.4 and 3.7c;
   * after one turn nothing has come). However busy the machine is, what a pane prints later comes later.
   */
  #wake(): void {
    const connection = this.#carrier?.connection;
    if (connection?.features.leavesOffUnread !== true || connection.closed) return;
    const nowMs = this.#nowUnixMs();
    const unread = this.#options.mayBeUnread();
    const quiet = unread.filter((pane) => this.#isQuiet(paneNumberOf(pane), nowMs));
    if (quiet.length === 0) return;
    const reader = this.#options.otherReader?.();
    if (reader !== undefined) {
      reader.sendGroup(turnPanesOn(quiet), () => undefined);
      return;
    }
    // The first command of a turn has a write of its own.
    connection.send(displayMessage(""), "ours", () => undefined);
    connection.sendGroup(turnPanesOn(quiet), (outcome) => {
      this.#woken.clear();
      if ("error" in outcome || connection.closed) return;
      const atMs = this.#nowUnixMs();
      const onMs = this.#onMs;
      this.#onMs = new Map([
        ...unread.map(paneNumberOf).map((number): [number, number] => [number, onMs.get(number) ?? 0]),
        ...quiet.map(paneNumberOf).map((number): [number, number] => [number, atMs]),
      ]);
      if (connection.othersCommands !== this.#othersCommands) this.#othersMs = atMs;
      this.#othersCommands = connection.othersCommands;
      // Panes with output meanwhile were on, and so are those that were on when somebody last did anything.
      const mayBeOff = (number: number): boolean =>
        this.#isQuiet(number, atMs) &&
        (onMs.get(number) ?? 0) < this.#othersMs &&
        (this.#last.get(number)?.lastMs ?? 0) <= this.#othersMs;
      for (const number of quiet.map(paneNumberOf).filter(mayBeOff)) this.#woken.add(number);
    });
    connection.sendGroup([nextTurn(), nextTurn()], () => this.#woken.clear());
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
    return Math.max(0, ...panes.map((pane) => this.#secOf(this.#last.get(paneNumberOf(pane))?.lastMs ?? 0)));
  }

  #nowSec(): number {
    return this.#secOf(this.#nowUnixMs());
  }

  /** In tmux's time. */
  #secOf(ms: number): number {
    return toSec(ms) + this.#aheadSec;
  }
}

const toSec = (ms: number): number => Math.floor(ms / 1_000);
