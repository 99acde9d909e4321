/**
 * One wait from registration to its one result. It holds no text and reads none: its watches tell it what was found, its
 * target what happened, and it decides when its predicates hold together.
 */
import { setMaxListeners } from "node:events";
import { AppError, isCutShort } from "../../protocol/errors.ts";
import { formatGap, formatPosition, type Position, type StreamGap } from "../../protocol/position.ts";
import type { Timer } from "../time/clock.ts";
import type { FoundText } from "./text/patternWatch.ts";
import { PredicateSet } from "./predicateSet.ts";
import type { TargetState } from "./predicates/predicate.ts";
import type { ScreenWatch } from "./screen/screenWatch.ts";
import type { TextWatch } from "./watches/textWatch.ts";
import type { CheckedRequest } from "./waitRequest.ts";
import type { WaitTarget } from "./waitTarget.ts";
import type { WaitMatch, WaitResult } from "./waitTypes.ts";

/** Gaps kept for a result; more would tell the caller nothing new. */
const MAX_GAPS = 32;

/** How long the last capture of the screen may take, past the wait's timeout. */
const LAST_CAPTURE_MS = 250;

interface ActiveWaitOptions {
  readonly request: CheckedRequest;
  readonly target: WaitTarget;
  readonly onSettled: () => void;
  /** Nothing of the wait is registered any longer. */
  readonly onFreed: () => void;
}

export class ActiveWait {
  readonly target: WaitTarget;
  readonly result: Promise<WaitResult>;
  readonly registeredMs: number;
  readonly sets: readonly PredicateSet[];
  /** Its watches on the text; the target fills this in. */
  readonly watches = new Set<TextWatch>();
  /** Its watch on the screen, when the screen counts. */
  screen: ScreenWatch | undefined;
  readonly #options: ActiveWaitOptions;
  readonly #all: PredicateSet | undefined;
  readonly #anyOf: readonly PredicateSet[];
  readonly #gaps: StreamGap[] = [];
  readonly #cleanUps: (() => void)[] = [];
  #timeout: Timer | undefined;
  #due: Timer | undefined;
  #isStarted = false;
  #isSettled = false;
  #resolve: (result: WaitResult) => void = () => undefined;
  #reject: (reason: unknown) => void = () => undefined;

  constructor(options: ActiveWaitOptions) {
    this.#options = options;
    const { request, target } = options;
    this.target = target;
    this.registeredMs = target.nowMs();
    this.#all = request.all === undefined ? undefined : new PredicateSet(request.all);
    this.#anyOf = request.anyOf.map((set) => new PredicateSet(set));
    this.sets = this.#all === undefined ? this.#anyOf : [this.#all, ...this.#anyOf];
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A caller that has left need not catch; whoever awaits `result` still gets the reason.
    this.result.catch(() => undefined);
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Begins: from here on it settles exactly once. */
  start(signal: AbortSignal | undefined): void {
    const { target } = this;
    this.#timeout = target.host.scheduler.at(this.registeredMs + this.#options.request.timeoutMs, () =>
      this.#onTimeout(),
    );
    if (signal !== undefined) {
      const onAbort = (): void => this.cancel(signal.reason);
      // One caller may hold hundreds of waits with one signal. That is no leak: each removes its own listener.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#cleanUps.push(() => signal.removeEventListener("abort", onAbort));
    }
    this.#isStarted = true;
    this.check();
  }

  /** Called once, when it is over. */
  onEnd(cleanUp: () => void): void {
    if (this.#isSettled) cleanUp();
    else this.#cleanUps.push(cleanUp);
  }

  /** Output decided one of its predicates. */
  found(take: () => void): void {
    if (this.#isSettled) return;
    take();
    this.target.noteMatch();
    this.check();
  }

  onMissed(gap: StreamGap): void {
    const last = this.#gaps.at(-1);
    if (this.#gaps.length >= MAX_GAPS) return;
    // Each of its watches reports the same gap.
    if (last?.from.outputSeq === gap.from.outputSeq && last.to.outputSeq === gap.to.outputSeq) return;
    this.#gaps.push(gap);
    this.target.host.metrics.numbers.wait_gaps_total++;
  }

  /** Checks whether it is over now, and when it will be if nothing more happens. */
  check(): void {
    if (this.#isSettled || !this.#isStarted) return;
    const state = this.#state();
    const allDueMs = this.#all === undefined ? state.nowMs : this.#all.dueMs(state);
    if (allDueMs === undefined) return;
    let dueMs = allDueMs;
    if (this.#anyOf.length > 0) {
      const alternatives = this.#anyOf.map((set) => set.dueMs(state)).filter((ms) => ms !== undefined);
      if (alternatives.length === 0) return;
      dueMs = Math.max(allDueMs, Math.min(...alternatives));
    }
    if (dueMs <= state.nowMs) this.#succeed(state);
    // Armed once and not per chunk: when it fires, it checks how long it has been quiet and re-arms.
    else this.#due ??= this.target.host.scheduler.at(dueMs, () => this.#onDue());
  }

  cancel(reason: unknown): void {
    if (!this.#settle()) return;
    this.target.host.metrics.numbers.wait_cancelled_total++;
    this.#reject(reason);
  }

  fail(error: AppError): void {
    if (!this.#settle()) return;
    this.target.host.metrics.numbers.wait_failed_total++;
    this.#reject(isCutShort(error) ? this.#whereItEnded(error) : error);
  }

  /** Adds where a new wait can begin, and what this one could not see. */
  #whereItEnded({ code, message, details, cause }: AppError): AppError {
    const position = formatPosition(this.target.position());
    return new AppError(code, message, { details: { ...details, position, gaps: this.#gaps.map(formatGap) }, cause });
  }

  #onDue(): void {
    this.#due = undefined;
    this.check();
  }

  #onTimeout(): void {
    const { target } = this;
    // Output that came in time counts even when its evaluation was put off.
    target.catchUp();
    this.check();
    if (this.#isSettled) return;
    if (this.screen === undefined) {
      this.#expire();
      return;
    }
    // So does what the screen shows now: a capture takes a millisecond, a tmux that does not respond gets no more than this.
    this.#timeout = target.host.scheduler.at(target.nowMs() + LAST_CAPTURE_MS, () => this.#expire());
    target.screens.last(this.screen, () => this.#expire());
  }

  #expire(): void {
    const { request } = this.#options;
    if (!this.#settle()) return;
    this.target.host.metrics.numbers.wait_timeouts_total++;
    const state = this.#state();
    const anyOf = this.#anyOf.length === 0 ? {} : { anyOf: this.#anyOf.map((set) => set.progress(state)) };
    const predicates = { ...this.#all?.progress(state), ...anyOf };
    const elapsedMs = Math.round(state.nowMs - this.registeredMs);
    const matchedEcho = this.screen?.hasEchoMatched === true ? { matchedEcho: true } : {};
    const details = {
      predicates,
      elapsedMs,
      timeoutMs: request.timeoutMs,
      gaps: this.#gaps.map(formatGap),
      ...matchedEcho,
    };
    this.#reject(new AppError("TIMEOUT", `the wait was not satisfied within ${request.timeoutMs} ms`, { details }));
  }

  #succeed(state: TargetState): void {
    const { target } = this;
    this.#isSettled = true;
    const held = this.sets.filter((set) => (set.dueMs(state) ?? Infinity) <= state.nowMs);
    const matched = held
      .flatMap((set) => set.satisfied())
      .map(({ predicate, found }) => this.#matchOf(predicate, found));
    this.#resolve({
      matched,
      position: target.position(),
      exit: target.source.exit,
      elapsedMs: state.nowMs - this.registeredMs,
      gaps: this.#gaps,
    });
    target.host.metrics.numbers.wait_matched_total++;
    this.#options.onSettled();
    // After whoever awaits the result: following a long quiet, freeing first would be a tenth of the wait's latency.
    queueMicrotask(() => this.#free());
  }

  #matchOf(predicate: string, found: FoundText | undefined): WaitMatch {
    if (found === undefined) return { predicate };
    if (found.from === undefined) return { predicate, text: found.text, on: found.on };
    const at = (outputSeq: number): Position => ({ epoch: this.target.source.epoch, outputSeq });
    return { predicate, text: found.text, from: at(found.from), to: at(found.to) };
  }

  #state(): TargetState {
    const { target } = this;
    const { isGone, lastOutputMs, source } = target;
    // The exit of an earlier program that has been replaced does not count.
    const isOver = source.exit !== undefined || (target.exitedMs ?? -Infinity) >= this.registeredMs;
    const exitedMs = isOver ? target.exitedMs : undefined;
    return { nowMs: target.nowMs(), registeredMs: this.registeredMs, lastOutputMs, exitedMs, isGone };
  }

  /** Frees everything it holds. False when it had settled before. */
  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#free();
    this.#options.onSettled();
    return true;
  }

  #free(): void {
    this.#timeout?.cancel();
    this.#due?.cancel();
    for (const cleanUp of this.#cleanUps.splice(0)) cleanUp();
    this.target.remove(this);
    this.#options.onFreed();
  }
}
