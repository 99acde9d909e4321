/**
 * The cursor of one pane, shared by all waits for it to stand still: a spinner or a clock that puts it back does not
 * count. Cells are counted from the top of the history, so scrolling moves the cursor. tmux is probed when output has
 * come, at most ten times a second for all waits, and once more before a wait's time is over.
 */
import type { PaneId } from "../../../protocol/ids.ts";
import type { Timer } from "../../time/clock.ts";
import type { Capture } from "../../tmux/io.ts";
import type { OutputSource } from "../../tmux/outputSource.ts";
import type { TmuxServer } from "../../tmux/tmuxServer.ts";
import type { WaitHost } from "../waitHost.ts";

/** Between two probes; half of what a person perceives as instant. */
const PROBE_EVERY_MS = 100;

/** A wait for it to stand still. */
interface Member {
  readonly wantedMs: number;
  readonly registeredMs: number;
  readonly changed: () => void;
}

/** The cursor of one source, shared by all waits for it to stand still. */
export class CursorWatch {
  readonly #source: OutputSource;
  readonly #host: WaitHost;
  readonly #server: TmuxServer;
  readonly #pane: PaneId;
  readonly #members = new Set<Member>();
  #unfollow: (() => void) | undefined;
  #cell: string | undefined;
  #sinceMs = Infinity;
  /** When it was last seen there, and what output that probe took in. */
  #seenMs = -Infinity;
  #seenSeq = -1;
  #beganMs = -Infinity;
  #isProbing = false;
  #timer: Timer | undefined;
  #timerMs = Infinity;

  constructor(source: OutputSource, host: WaitHost, server: TmuxServer, pane: PaneId) {
    this.#source = source;
    this.#host = host;
    this.#server = server;
    this.#pane = pane;
  }

  /** Nothing has been printed since the last probe. */
  get isCurrent(): boolean {
    return this.#seenSeq === this.#source.outputSeq;
  }

  /** How long it had been there at the last probe. */
  stillMs(registeredMs: number): number {
    return Math.max(0, this.#seenMs - Math.max(this.#sinceMs, registeredMs));
  }

  add(member: Member): () => void {
    const isFirst = this.#members.size === 0;
    this.#members.add(member);
    if (isFirst) {
      const plan = (): void => this.#plan();
      this.#unfollow = this.#source.subscribe({
        advanced: plan,
        gap: plan,
        exited: plan,
        closed: () => undefined,
      });
      // What it did while it was not watched is unknown.
      this.#cell = undefined;
      this.#probe();
    } else {
      this.#plan();
    }
    return () => {
      if (!this.#members.delete(member) || this.#members.size > 0) return;
      this.#unfollow?.();
      this.#timer?.cancel();
      this.#timer = undefined;
    };
  }

  /** The next probe: soon when something was printed, else when the first wait can be over. */
  #plan(): void {
    if (this.#isProbing) return;
    const soonestMs = this.#beganMs + PROBE_EVERY_MS;
    const wantedMs = this.isCurrent ? this.#dueMs() : soonestMs;
    const dueMs = Math.max(wantedMs, soonestMs);
    // Most chunks find that the first of them has already planned the probe.
    if (this.#timer !== undefined && this.#timerMs === dueMs) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (dueMs === Infinity) return;
    this.#timerMs = dueMs;
    this.#timer = this.#host.scheduler.at(dueMs, () => this.#probe());
  }

  #dueMs(): number {
    let dueMs = Infinity;
    for (const { wantedMs, registeredMs } of this.#members) {
      const memberMs = Math.max(this.#sinceMs, registeredMs) + wantedMs;
      if (memberMs > this.#seenMs) dueMs = Math.min(dueMs, memberMs);
    }
    return dueMs;
  }

  #probe(): void {
    if (this.#isProbing) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#isProbing = true;
    this.#beganMs = this.#host.clock.nowMs();
    this.#server.capture(this.#pane).then(
      (capture) => this.#seen(capture),
      // Whatever ends the pane ends its waits; after any other failure the probe is repeated.
      () => this.#seen(undefined),
    );
  }

  #seen(capture: Capture | undefined): void {
    this.#isProbing = false;
    if (this.#members.size === 0) return;
    if (capture !== undefined) {
      const cell = cellOf(capture);
      this.#seenMs = this.#host.clock.nowMs();
      this.#seenSeq = capture.exact ? capture.position.outputSeq : -1;
      if (cell !== this.#cell) this.#sinceMs = this.#seenMs;
      this.#cell = cell;
      for (const member of this.#members) member.changed();
    }
    this.#plan();
  }
}

const cellOf = ({ cursor: { col, row }, historyLines, alternateScreen, cols, rows }: Capture): string =>
  `${alternateScreen} ${cols} ${rows} ${col} ${historyLines + row}`;
