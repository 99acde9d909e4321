/**
 * Everything about one source that waits share: one subscription, when it last printed, whether its program has ended,
 * and its text while a wait needs text. Output costs one clock reading and two stores here, however many waits there
 * are; matching runs later, within the turn's budget, after the subscribers have the output.
 */
import { AppError } from "../../protocol/errors.ts";
import type { Gap, Position } from "../../protocol/position.ts";
import type { Timer } from "../time/clock.ts";
import type { BudgetedTask } from "../time/turnBudget.ts";
import { headOf, type ExitStatus, type OutputListener, type OutputSource } from "../tmux/outputSource.ts";
import { CursorWatch } from "./screen/cursorWatch.ts";
import { ScreenCaptures } from "./screen/screenCaptures.ts";
import { TextStream } from "./text/textStream.ts";
import type { WaitHost } from "./waitHost.ts";
import { LEAD_BYTES } from "./waitLimits.ts";
import type { WaitPane, WaitReading } from "./waitReading.ts";

export class WaitTarget implements BudgetedTask, OutputListener {
  readonly host: WaitHost;
  readonly source: OutputSource;
  readonly screens: ScreenCaptures;
  #cursor: CursorWatch | undefined;
  lastOutputMs = -Infinity;
  exitedMs: number | undefined;
  isGone = false;
  readonly #onOver: () => void;
  /** Each with the stream that it reads; undefined: it looks for nothing in the text. */
  readonly #readings = new Map<WaitReading, TextStream | undefined>();
  /** The stream of all waits that need nothing from before it. */
  #shared: TextStream | undefined;
  readonly #catchingUp = new Set<TextStream>();
  /** Who waits for RE2. */
  readonly #whenJudged = new Map<WaitReading, () => void>();
  #quiet: Timer | undefined;
  #quietWantedMs = 0;
  #quietFromMs = -Infinity;
  /** When the output that is being evaluated arrived. */
  #arrivedMs: number | undefined;
  #closing: AppError | undefined;
  #matchers = 0;
  readonly #unsubscribe: () => void;

  /** @param onOver no wait is left or the source is closed: the target is forgotten, and no wait joins it */
  constructor(host: WaitHost, source: OutputSource, onOver: () => void) {
    this.host = host;
    this.source = source;
    this.#onOver = onOver;
    if (source.exit !== undefined) this.exitedMs = this.nowMs();
    this.screens = new ScreenCaptures(host, source);
    this.#unsubscribe = source.subscribe(this);
  }

  nowMs(): number {
    return this.host.clock.nowMs();
  }

  position(): Position {
    return headOf(this.source);
  }

  cursorOf({ server, id }: WaitPane): CursorWatch {
    return (this.#cursor ??= new CursorWatch(this.source, this.host, server, id));
  }

  /** A wait begins to read; it starts once everything it needs is in place. */
  add(reading: WaitReading): void {
    const stream = reading.watches.size === 0 ? undefined : this.#streamFor(reading.moment.start);
    this.#readings.set(reading, stream);
    if (stream === undefined) return;
    stream.add(reading);
    if (reading.screen !== undefined) this.screens.add(reading.screen, () => this.#watchScreen());
    this.#quietFromMs = this.nowMs();
    this.#countMatchers();
    this.host.budget.add(this);
  }

  /** Once for each wait, even one that failed before it was added. */
  remove(reading: WaitReading): void {
    this.#readings.get(reading)?.remove(reading);
    this.#readings.delete(reading);
    this.#whenJudged.delete(reading);
    if (reading.screen !== undefined) this.screens.remove(reading.screen);
    this.#dropUnusedStreams();
    this.#countMatchers();
    if (this.#readings.size === 0) this.#close();
  }

  /** Output decided a wait: the age of that output is the latency, or of the wait where that is younger. */
  noteMatch(registeredMs: number): void {
    const arrivedMs = Math.max(registeredMs, this.#arrivedMs ?? this.lastOutputMs);
    this.host.metrics.matchLatencyMs.observe(this.nowMs() - arrivedMs);
  }

  /** Evaluates all that has arrived, now. */
  catchUp(): void {
    this.run(() => true);
  }

  /** Calls back once RE2 has judged all that has come for it. */
  whenJudged(reading: WaitReading, done: () => void): void {
    this.#whenJudged.set(reading, done);
    this.#checkJudged();
  }

  run(hasTimeLeft: () => boolean): boolean {
    const isFinished = this.#advanceAll(hasTimeLeft);
    if (isFinished) this.#arrivedMs = undefined;
    return isFinished;
  }

  advanced(): void {
    const nowMs = this.nowMs();
    this.lastOutputMs = nowMs;
    if (this.#shared === undefined && this.#catchingUp.size === 0) return;
    this.#arrivedMs ??= nowMs;
    this.host.budget.add(this);
    this.#watchScreen();
  }

  gap(gap: Gap): void {
    this.lastOutputMs = this.nowMs();
    if (gap.reason === "epoch") {
      this.closed(
        new AppError("CONNECTION_LOST", "the connection to tmux was replaced; look at the pane and wait again"),
      );
      return;
    }
    this.host.budget.add(this);
    // What is missing may stand on the screen.
    this.#watchScreen();
  }

  exited(_status: ExitStatus): void {
    this.catchUp();
    this.exitedMs = this.nowMs();
    for (const reading of this.#readings.keys()) reading.changed();
  }

  closed(error: AppError): void {
    if (this.#closing !== undefined) return;
    // What was printed before the end still counts; what RE2 has not judged yet keeps its waits a moment longer.
    this.catchUp();
    this.#closing = error;
    this.#onOver();
    this.isGone = error.code === "NOT_FOUND";
    for (const reading of this.#readings.keys()) reading.changed();
    this.#finishClosing();
  }

  /** Fails everything that is left. */
  abandon(error: AppError): void {
    for (const reading of this.#readings.keys()) reading.failed(error);
  }

  #isIdle(reading: WaitReading): boolean {
    return this.#readings.get(reading)?.isIdle(reading) ?? true;
  }

  #checkJudged(): void {
    for (const [reading, done] of this.#whenJudged) {
      if (!this.#isIdle(reading)) continue;
      this.#whenJudged.delete(reading);
      done();
    }
    this.#finishClosing();
  }

  #finishClosing(): void {
    const error = this.#closing;
    if (error === undefined) return;
    for (const stream of this.#streams()) stream.settle(Infinity);
    for (const reading of this.#readings.keys()) if (this.#isIdle(reading)) reading.failed(error);
  }

  *#streams(): Iterable<TextStream> {
    if (this.#shared !== undefined) yield this.#shared;
    yield* this.#catchingUp;
  }

  #streamFor(start: number): TextStream {
    if (this.#shared !== undefined && start >= this.#shared.cursor) return this.#shared;
    const options = {
      source: this.source,
      limits: this.host.limits,
      wantsQuiet: () => this.#wantsQuiet(),
      onJudged: () => this.#checkJudged(),
    };
    const stream = new TextStream(options, Math.max(this.source.tailSeq, start - LEAD_BYTES));
    if (this.#shared === undefined) this.#shared = stream;
    else this.#catchingUp.add(stream);
    return stream;
  }

  #advanceAll(hasTimeLeft: () => boolean): boolean {
    let isFinished = true;
    for (const stream of this.#streams()) isFinished = stream.advance(hasTimeLeft) && isFinished;
    for (const stream of this.#catchingUp) this.#mergeIfLevel(stream);
    return isFinished;
  }

  /** Two streams that have read equally far become one, when the shared one remembers enough of what is not judged. */
  #mergeIfLevel(stream: TextStream): void {
    const shared = this.#shared;
    if (shared === undefined || shared.cursor !== stream.cursor || stream.hasEcho) return;
    for (const reading of stream.readings) if (!stream.isIdle(reading) || !shared.canAdopt(reading)) return;
    this.#catchingUp.delete(stream);
    for (const reading of stream.readings) {
      stream.remove(reading);
      shared.add(reading);
      this.#readings.set(reading, shared);
    }
    this.#countMatchers();
  }

  #dropUnusedStreams(): void {
    if (this.#shared?.isUnused === true) this.#shared = undefined;
    for (const stream of this.#catchingUp) if (stream.isUnused) this.#catchingUp.delete(stream);
    if (this.#shared !== undefined) return;
    // The next one takes its place, so that there is a shared stream whenever there is any.
    const [next] = this.#catchingUp;
    if (next === undefined) return;
    this.#catchingUp.delete(next);
    this.#shared = next;
  }

  #watchScreen(): void {
    if (this.screens.isWanted) this.#wantsQuiet();
  }

  /** Streams settle and screens are captured once the output has been quiet for a while. */
  #wantsQuiet(): void {
    this.#watchQuiet(this.host.limits.settleMs);
  }

  /** One timer per target while anything waits for output to have stopped for some time; the shortest time counts. */
  #watchQuiet(wantedMs: number): void {
    if (this.#quiet !== undefined && this.#quietWantedMs <= wantedMs) return;
    this.#quiet?.cancel();
    this.#quietWantedMs = wantedMs;
    // Never due at once: a target that is still evaluating asks again later.
    const leftMs = Math.max(1, wantedMs - this.#quietForMs());
    this.#quietAt(this.nowMs() + leftMs, () => this.#confirmQuiet(wantedMs));
  }

  /**
   * Timers run before what has arrived is read. After a busy turn output may be waiting that was not read yet: quiet
   * counts only when it is still quiet one turn of the event loop later.
   */
  #confirmQuiet(wantedMs: number): void {
    if (this.#isQuiet(wantedMs)) this.#quietAt(this.nowMs() + 1, () => this.#onQuiet(wantedMs));
    else this.#watchQuiet(wantedMs);
  }

  #onQuiet(wantedMs: number): void {
    if (!this.#isQuiet(wantedMs)) {
      this.#watchQuiet(wantedMs);
      return;
    }
    let nextMs = Infinity;
    const quietMs = this.#quietForMs();
    for (const stream of this.#streams()) nextMs = Math.min(nextMs, stream.settle(quietMs));
    this.screens.pause();
    if (nextMs !== Infinity) this.#watchQuiet(nextMs);
  }

  #quietAt(dueMs: number, run: () => void): void {
    this.#quiet = this.host.scheduler.at(dueMs, () => {
      this.#quiet = undefined;
      run();
    });
  }

  #quietForMs(): number {
    return this.nowMs() - Math.max(this.lastOutputMs, this.#quietFromMs);
  }

  #isQuiet(wantedMs: number): boolean {
    return this.#quietForMs() >= wantedMs && !this.host.budget.has(this);
  }

  #countMatchers(): void {
    let matchers = 0;
    for (const stream of this.#streams()) matchers += stream.matchers;
    this.host.metrics.numbers.wait_matchers += matchers - this.#matchers;
    this.#matchers = matchers;
  }

  #close(): void {
    this.#unsubscribe();
    this.#quiet?.cancel();
    this.host.budget.remove(this);
    this.#shared = undefined;
    this.#catchingUp.clear();
    if (this.#closing === undefined) this.#onOver();
  }
}
