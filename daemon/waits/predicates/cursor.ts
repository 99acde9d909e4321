/**
 * The cursor has stood in the same cell for so many seconds, counted from registration at the earliest, whatever is
 * drawn elsewhere: a spinner or a clock that puts it back does not count. Cells are counted from the top of the
 * history, so scrolling moves the cursor. tmux is probed when output has come, at most ten times a second for all waits
 * of a pane, and once more before the predicate holds. A level: it must hold when the wait ends.
 */
import * as v from "valibot";
import { AppError } from "../../../protocol/errors.ts";
import type { OutputSource } from "../../tmux/outputSource.ts";
import type { Capture } from "../../tmux/io.ts";
import type { Timer } from "../../time/clock.ts";
import { predicate, tooMuch } from "./predicate.ts";
import type { WaitPane, WaitReading } from "../waitReading.ts";
import type { WaitHost } from "../waitHost.ts";

/** Between two probes; half of what a person perceives as instant. */
const PROBE_EVERY_MS = 100;

export const cursor = predicate({
  name: "cursor",
  field: "cursorStillSec",
  schema: v.pipe(
    v.number(),
    v.minValue(0.01),
    v.maxValue(3_600),
    v.description("The cursor has not moved for this many seconds, whatever is drawn elsewhere."),
  ),
  flags: [
    {
      name: "cursor",
      type: "number",
      value: "SECONDS",
      description: "the cursor has not moved for this long",
      min: 0.01,
      max: 3_600,
    },
  ],
  asked: (given) => [given.number("cursor")].filter((seconds) => seconds !== undefined),
  check: (seconds, { limits: { maxTimeoutSec }, pane }) => {
    paneOf(pane);
    if (seconds > maxTimeoutSec) throw tooMuch("cursor seconds", seconds, maxTimeoutSec);
    return seconds * 1_000;
  },
  arm: (wantedMs: number, reading) => {
    const watch = CursorWatch.of(reading);
    const armed = { wantedMs, watch, registeredMs: reading.host.clock.nowMs() };
    reading.onEnd(watch.add({ armed, changed: () => reading.changed() }));
    return armed;
  },
  dueMs: ({ wantedMs, watch, registeredMs }, { nowMs }) =>
    watch.stillMs(registeredMs) >= wantedMs && watch.isCurrent ? nowMs : undefined,
  progress: ({ wantedMs, watch, registeredMs }) => {
    const stillMs = watch.stillMs(registeredMs);
    return { satisfied: stillMs >= wantedMs && watch.isCurrent, stillMs: Math.round(stillMs) };
  },
});

function paneOf(pane: WaitPane | undefined): WaitPane {
  if (pane === undefined) throw new AppError("INVALID_ARGUMENT", "only a pane has a cursor");
  return pane;
}

interface Member {
  readonly armed: { readonly wantedMs: number; readonly registeredMs: number };
  changed(): void;
}

/** The cursor of one source, shared by all waits for it to stand still. */
class CursorWatch {
  static readonly #all = new WeakMap<OutputSource, CursorWatch>();
  readonly #source: OutputSource;
  readonly #host: WaitHost;
  readonly #pane: WaitPane;
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

  static of({ source, host, pane }: WaitReading): CursorWatch {
    let watch = CursorWatch.#all.get(source);
    if (watch === undefined) CursorWatch.#all.set(source, (watch = new CursorWatch(source, host, paneOf(pane))));
    return watch;
  }

  private constructor(source: OutputSource, host: WaitHost, pane: WaitPane) {
    this.#source = source;
    this.#host = host;
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
    if (this.#members.size === 0) {
      const plan = (): void => this.#plan();
      this.#unfollow = this.#source.subscribe({
        advanced: plan,
        gap: plan,
        exited: plan,
        closed: () => undefined,
      });
      // What it did while it was not watched is unknown.
      this.#cell = undefined;
    }
    this.#members.add(member);
    this.#probe();
    return () => {
      if (!this.#members.delete(member) || this.#members.size > 0) return;
      this.#unfollow?.();
      this.#timer?.cancel();
      this.#timer = undefined;
    };
  }

  /** The next probe: soon when something was printed, else when the first wait can be over. */
  #plan(): void {
    if (this.#isProbing || this.#members.size === 0) return;
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
    for (const { armed } of this.#members) {
      const memberMs = Math.max(this.#sinceMs, armed.registeredMs) + armed.wantedMs;
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
    const { server, id } = this.#pane;
    server.capture(id).then(
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
