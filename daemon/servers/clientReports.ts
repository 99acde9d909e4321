/**
 * What tmux itself says once a second about one of our clients that carries output: whether it is still as we set it up, and
 * when each window of its session was last written to (`refresh-client -B`, docs/tmuxFacts.md 56). It comes in order with
 * the output. Its format holds the second, too, so that it comes even when nothing else has changed: if it does not, tmux
 * is asked why. It holds ids and numbers only.
 */
import { isWindowId, type PaneId, type SessionId, type WindowId } from "../../protocol/ids.ts";
import type { Notification } from "../../protocol/control/notifications.ts";
import { faulty } from "../connection/connectionErrors.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import type { Clock, Timer } from "../time/clock.ts";
import type { StateCheckup } from "./clientCheck.ts";
import { SilentChanges } from "./inventory/silentChanges.ts";
import type { WrittenWindows } from "./outputWatch.ts";

const NAME = "tmuxwire-client";
/** Separates the client's state from the rest: no flag and no id is such a word. */
const REST = "at";
/** `T` expands a time: the Unix time in seconds of tmux's comparison. */
const FORMAT = `${REST} #{T;l:%s} #{W:#{window_id} #{window_activity} }`;
/** tmux's timer is set again when it has fired, so that each report comes a little later than a second after the last one. */
const LATE_MS = 1_150;

/** Whether this is a report of ours: it says nothing of what exists. */
export const isClientReport = (notification: Notification): boolean =>
  notification.kind === "subscription-changed" && notification.name === NAME;

interface ClientReportsOptions {
  readonly clock: Clock;
  /** @throws AppError CONNECTION_LOST while there is none */
  readonly connection: () => ControlConnection;
  /** Windows or panes of the client's session (`SilentChanges`). */
  readonly places: () => readonly (WindowId | PaneId)[];
  readonly session: () => SessionId | undefined;
  readonly checkup: () => StateCheckup;
  /** The client is as it should be, and its windows were written to at these times. */
  readonly onWritten: (written: WrittenWindows) => void;
  /** No report comes. */
  readonly onLate: () => void;
}

export class ClientReports {
  readonly #options: ClientReportsOptions;
  readonly #changes: SilentChanges;
  #isOpen = false;
  #late: Timer | undefined;

  constructor(options: ClientReportsOptions) {
    this.#options = options;
    const { connection, places, checkup } = options;
    this.#changes = new SilentChanges(connection, {
      name: NAME,
      format: () => `${checkup().format} ${FORMAT}`,
      places,
    });
  }

  /** Call for each new connection. */
  begin(): void {
    this.end();
    this.#isOpen = true;
    this.#changes.follow(true);
  }

  /** Safe to call twice. */
  end(): void {
    this.#late?.cancel();
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#changes.follow(false);
  }

  /** Call when the session's windows may have changed. */
  look(): void {
    this.#changes.look();
  }

  noticed(notification: Notification): void {
    if (!this.#isOpen || notification.kind !== "subscription-changed" || notification.name !== NAME) return;
    const { clock, checkup, session, connection, onLate, onWritten } = this.#options;
    this.#late?.cancel();
    const fault = checkup().fault(Buffer.from(`${notification.value}\n`));
    if (fault !== undefined) {
      connection().close(faulty(fault));
      return;
    }
    this.#late = clock.callAt(clock.nowMs() + LATE_MS, onLate);
    const own = session();
    if (own !== undefined) onWritten(readReport(notification.value, own));
  }
}

function readReport(value: string, session: SessionId): WrittenWindows {
  const words = value.split(" ");
  const from = words.indexOf(REST) + 1;
  const rows = writtenIn(words.slice(from + 1)).map(([window, sec]) => ({ session, window, writtenSec: Number(sec) }));
  return { sinceSec: 0, askedSec: Number(words[from]), rows };
}

/** Windows, each followed by the second in which it was last written to. */
export const writtenIn = (words: readonly string[]): readonly (readonly [WindowId, string])[] =>
  words.flatMap((word, at) => (isWindowId(word) ? [[word, words[at + 1] ?? ""] as const] : []));
