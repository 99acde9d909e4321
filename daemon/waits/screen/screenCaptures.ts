/**
 * When the screen of one pane is captured for its waits: once when output pauses, and once before a wait times out.
 * One capture serves all of them. Nothing is captured while nothing was printed, and never more often than every
 * `CAPTURE_EVERY_MS`: a program that animates without end costs ten captures a second, one that floods costs none.
 */
import type { Timer } from "../../time/clock.ts";
import { type OutputSource, slicesOf } from "../../tmux/outputSource.ts";
import type { WaitHost } from "../waitHost.ts";
import { mayWrap, type ScreenView, wrapsOf } from "./screenView.ts";
import type { ScreenWatch } from "./screenWatch.ts";

const CAPTURE_EVERY_MS = 100;
/** Most rows above the screen that are captured: what has scrolled off between two captures. */
const MAX_HISTORY_ROWS = 1_000;
/** Output that is searched for a cleared screen. */
const MAX_SINCE_BYTES = 65_536;
const LF = 0x0a;
const NOTHING = new Uint8Array(0);

export class ScreenCaptures {
  readonly #host: WaitHost;
  readonly #source: OutputSource;
  readonly #watches = new Set<ScreenWatch>();
  /** The last capture included the output up to here. */
  #seenSeq = -1;
  #nextMs = -Infinity;
  #timer: Timer | undefined;
  #isProbing = false;
  /** Output has paused since the capture that is under way was asked for: that one may not show it. */
  #hasPaused = false;
  #afterCapture: (() => void)[] = [];

  constructor(host: WaitHost, source: OutputSource) {
    this.#host = host;
    this.#source = source;
  }

  /** Somebody wants to know when output pauses. */
  get isWanted(): boolean {
    return this.#watches.size > 0;
  }

  /** @param whenBegun called when the beginning is known; output may have come and paused before */
  add(watch: ScreenWatch, whenBegun: () => void): void {
    this.#watches.add(watch);
    watch.begin(whenBegun);
  }

  remove(watch: ScreenWatch): void {
    this.#watches.delete(watch);
    watch.end();
    if (this.isWanted) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#afterCapture = [];
  }

  /** Output has paused. */
  pause(): void {
    this.#hasPaused = this.#isProbing;
    if (!this.isWanted || this.#timer !== undefined || this.#isProbing) return;
    this.#timer = this.#host.scheduler.at(this.#nextMs, () => {
      this.#timer = undefined;
      this.#probe();
    });
  }

  /** The last capture for a wait: calls back once the current screen has been judged. */
  last(watch: ScreenWatch, done: () => void): void {
    this.#afterCapture.push(() => watch.whenJudged(done));
    this.#probe();
  }

  #probe(): void {
    if (this.#isProbing) return;
    const waiting = this.#afterCapture.splice(0);
    const over = (): void => {
      this.#isProbing = false;
      for (const done of waiting) done();
      // A last capture requested meanwhile must see what has arrived since.
      if (this.#afterCapture.length > 0) this.#probe();
      else if (this.#hasPaused) this.pause();
    };
    const from = Math.min(...[...this.#watches].map((watch) => watch.beginning?.outputSeq ?? Infinity));
    const [first] = this.#watches;
    const seen = Math.max(from, this.#seenSeq);
    if (first === undefined || this.#source.outputSeq <= seen) {
      over();
      return;
    }
    this.#isProbing = true;
    this.#nextMs = this.#host.clock.nowMs() + CAPTURE_EVERY_MS;
    this.#capture(first.view, this.#rowsSince(seen)).then(over, over);
  }

  async #capture(view: ScreenView, lines: number): Promise<void> {
    const askedSeq = this.#source.outputSeq;
    const now = await view.capture({ lines, whole: true });
    let wraps: boolean[] = [];
    if (now.lines.some((row) => mayWrap(row, now.cols))) {
      const joined = await view.capture({ lines, whole: true, joinWrapped: true });
      if (joined.position.outputSeq === now.position.outputSeq) wraps = wrapsOf(now.lines, joined.lines);
    }
    // One that is not exact may show no more than what had come when it was asked for.
    const seenSeq = now.exact ? now.position.outputSeq : askedSeq;
    this.#seenSeq = seenSeq;
    for (const watch of this.#watches) {
      const beginSeq = watch.beginning?.outputSeq ?? Infinity;
      // One that began while the rows were being asked for would take what stood there before for new.
      if (beginSeq <= seenSeq) watch.judge(now, this.#output(beginSeq, seenSeq), wraps);
    }
  }

  /** Rows that the output from `seq` on may have pushed off the screen, one at least: any number where it is not known. */
  #rowsSince(seq: number): number {
    let rows = 0;
    for (const slice of slicesOf(this.#source, seq)) {
      if (slice.kind === "gap") return MAX_HISTORY_ROWS;
      for (const byte of slice.bytes) if (byte === LF) rows += 1;
    }
    return Math.max(1, Math.min(MAX_HISTORY_ROWS, rows));
  }

  /** What comes after a capture is not in it: a screen that is cleared then is not the one that was captured. */
  #output(from: number, to: number): string {
    const known = [...slicesOf(this.#source, Math.max(from, to - MAX_SINCE_BYTES), to)];
    return Buffer.concat(known.map((slice) => (slice.kind === "gap" ? NOTHING : slice.bytes))).toString("latin1");
  }
}
