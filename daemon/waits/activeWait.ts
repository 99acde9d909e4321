/**
 * One wait from registration to its one result. It holds no text and reads none: its reading tells it what was found, its
 * target what happened, and it decides when its predicates hold together.
 */
import { setMaxListeners } from "node:events";
import { AppError, isCutShort, toAppError } from "../../protocol/errors.ts";
import { formatGap, formatPosition, type Position, type StreamGap } from "../../protocol/position.ts";
import type { Timer } from "../time/clock.ts";
import type { AdmittedRequest } from "./admission.ts";
import type { Predicate, TargetState } from "./predicates/predicate.ts";
import type { FoundText } from "./text/textWatch.ts";
import { type ArmMoment, WaitReading } from "./waitReading.ts";
import type { CheckedSet, WaitMatch, WaitResult } from "./waitRequest.ts";
import type { WaitTarget } from "./waitTarget.ts";

/** How long RE2 and the last capture of the screen may take, past the wait's timeout. */
const LAST_LOOK_MS = 250;

/** Predicates that must hold together. */
interface ArmedSet {
  readonly prefix: string;
  readonly predicates: readonly { readonly row: Predicate; readonly armed: unknown }[];
}

export class ActiveWait {
  readonly result: Promise<WaitResult>;
  readonly #admitted: AdmittedRequest;
  readonly #target: WaitTarget;
  readonly #reading: WaitReading;
  readonly #registeredMs: number;
  #all: ArmedSet | undefined;
  #anyOf: readonly ArmedSet[] = [];
  #timeout: Timer | undefined;
  #due: Timer | undefined;
  #dueMs = Infinity;
  #isStarted = false;
  #isSettled = false;
  #resolve: (result: WaitResult) => void = () => undefined;
  #reject: (reason: unknown) => void = () => undefined;

  constructor(admitted: AdmittedRequest, target: WaitTarget, moment: ArmMoment) {
    this.#admitted = admitted;
    this.#target = target;
    this.#registeredMs = target.nowMs();
    this.#reading = new WaitReading({
      host: target.host,
      source: target.source,
      moment,
      request: admitted.request,
      regexes: admitted.regexes,
      cursorOf: (pane) => target.cursorOf(pane),
      onFound: () => this.#onFound(),
      onChanged: () => this.#check(),
      onFailed: (error) => this.#fail(error),
    });
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A caller that has left need not catch; whoever awaits `result` still gets the reason.
    this.result.catch(() => undefined);
  }

  /** Arms its predicates; from here on it settles exactly once. @param missed what it cannot see of what it asks for */
  begin(missed: StreamGap | undefined, signal: AbortSignal | undefined): void {
    const { request, regexes } = this.#admitted;
    const { host } = this.#target;
    const reading = this.#reading;
    host.metrics.numbers.wait_started_total++;
    if (missed !== undefined) reading.missed(missed);
    try {
      this.#all = request.all && this.#arm(request.all);
      this.#anyOf = request.anyOf.map((set) => this.#arm(set));
      reading.complete();
    } catch (error) {
      this.#fail(toAppError(error));
    }
    if (this.#isSettled) return;
    this.#target.add(reading);
    for (const regex of regexes.values()) regex.ready.catch((error: unknown) => this.#fail(error as AppError));
    this.#timeout = host.scheduler.at(this.#registeredMs + request.timeoutMs, () => this.#onTimeout());
    if (signal !== undefined) {
      const onAbort = (): void => this.cancel(signal.reason);
      // One caller may hold hundreds of waits with one signal. That is no leak: each removes its own listener.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", onAbort, { once: true });
      reading.onEnd(() => signal.removeEventListener("abort", onAbort));
    }
    this.#isStarted = true;
    this.#check();
  }

  cancel(reason: unknown): void {
    if (!this.#settle()) return;
    this.#target.host.metrics.numbers.wait_cancelled_total++;
    this.#reject(reason);
  }

  /** @throws AppError */
  #arm({ prefix, predicates }: CheckedSet): ArmedSet {
    const armed = predicates.map((predicate) => {
      const { row, checked } = predicate;
      return { row, armed: row.arm(checked, this.#reading, this.#admitted.known.get(predicate)) };
    });
    return { prefix, predicates: armed };
  }

  #onFound(): void {
    if (this.#isSettled) return;
    this.#target.noteMatch(this.#registeredMs);
    this.#check();
  }

  /** Checks whether it is over now, and when it will be if nothing more happens. */
  #check(): void {
    if (this.#isSettled || !this.#isStarted) return;
    const state = this.#state();
    const allDueMs = this.#all === undefined ? state.nowMs : dueMsOf(this.#all, state);
    if (allDueMs === undefined) return;
    let dueMs = allDueMs;
    if (this.#anyOf.length > 0) {
      const alternatives = this.#anyOf.map((set) => dueMsOf(set, state)).filter((ms) => ms !== undefined);
      if (alternatives.length === 0) return;
      dueMs = Math.max(allDueMs, Math.min(...alternatives));
    }
    if (dueMs <= state.nowMs) {
      this.#succeed(state);
      return;
    }
    // Armed once and not per chunk: when it fires, it checks how long it has been quiet and re-arms. Only what one of
    // several alternatives has found meanwhile can bring it forward.
    if (this.#due !== undefined && this.#dueMs <= dueMs) return;
    this.#due?.cancel();
    this.#dueMs = dueMs;
    this.#due = this.#target.host.scheduler.at(dueMs, () => {
      this.#due = undefined;
      this.#check();
    });
  }

  #fail(error: AppError): void {
    if (!this.#settle()) return;
    this.#target.host.metrics.numbers.wait_failed_total++;
    this.#reject(isCutShort(error) ? this.#whereItEnded(error) : error);
  }

  /** Adds where a new wait can begin, and what this one could not see. */
  #whereItEnded({ code, message, details, cause }: AppError): AppError {
    const position = formatPosition(this.#target.position());
    const gaps = this.#reading.gaps.map(formatGap);
    return new AppError(code, message, { details: { ...details, position, gaps }, cause });
  }

  #onTimeout(): void {
    const target = this.#target;
    const { screen } = this.#reading;
    // Output that came in time counts even when its evaluation was put off.
    target.catchUp();
    this.#check();
    if (this.#isSettled) return;
    // So does what RE2 has not judged of it, and what the screen shows now: both take a millisecond, an RE2 or a tmux that
    // does not respond gets no more than this.
    this.#timeout = target.host.scheduler.at(target.nowMs() + LAST_LOOK_MS, () => this.#expire());
    target.whenJudged(this.#reading, () => {
      if (screen === undefined) this.#expire();
      else target.screens.last(screen, () => this.#expire());
    });
  }

  #expire(): void {
    const { timeoutMs } = this.#admitted.request;
    if (!this.#settle()) return;
    this.#target.host.metrics.numbers.wait_timeouts_total++;
    const state = this.#state();
    const anyOf = this.#anyOf.length === 0 ? {} : { anyOf: this.#anyOf.map((set) => progressOf(set, state)) };
    const predicates = { ...(this.#all && progressOf(this.#all, state)), ...anyOf };
    const elapsedMs = Math.round(state.nowMs - this.#registeredMs);
    const { gaps, screen } = this.#reading;
    const matchedEcho = screen?.hasEchoMatched === true ? { matchedEcho: true } : {};
    const details = { predicates, elapsedMs, timeoutMs, gaps: gaps.map(formatGap), ...matchedEcho };
    this.#reject(new AppError("TIMEOUT", `timed out after ${timeoutMs / 1_000} s`, { details }));
  }

  #succeed(state: TargetState): void {
    const target = this.#target;
    this.#isSettled = true;
    const sets = this.#all === undefined ? this.#anyOf : [this.#all, ...this.#anyOf];
    const held = sets.filter((set) => (dueMsOf(set, state) ?? Infinity) <= state.nowMs);
    this.#resolve({
      matched: held.flatMap(({ prefix, predicates }) =>
        predicates.map(({ row, armed }) => this.#matchOf(prefix + row.name, row.found?.(armed))),
      ),
      position: target.position(),
      exit: target.source.exit,
      elapsedMs: state.nowMs - this.#registeredMs,
      gaps: this.#reading.gaps,
    });
    target.host.metrics.numbers.wait_matched_total++;
    this.#admitted.leave();
    // After whoever awaits the result: following a long quiet, freeing first would be a tenth of the wait's latency.
    queueMicrotask(() => this.#free());
  }

  #matchOf(predicate: string, found: FoundText | undefined): WaitMatch {
    if (found === undefined) return { predicate };
    if (found.from === undefined) return { predicate, text: found.text, on: found.on };
    const at = (outputSeq: number): Position => ({ epoch: this.#target.source.epoch, outputSeq });
    return { predicate, text: found.text, from: at(found.from), to: at(found.to) };
  }

  #state(): TargetState {
    const registeredMs = this.#registeredMs;
    const { isGone, lastOutputMs, source, exitedMs } = this.#target;
    // The exit of an earlier program that has been replaced does not count.
    const isOver = source.exit !== undefined || (exitedMs ?? -Infinity) >= registeredMs;
    const nowMs = this.#target.nowMs();
    return { nowMs, registeredMs, lastOutputMs, exitedMs: isOver ? exitedMs : undefined, isGone };
  }

  /** Frees everything it holds. False when it had settled before. */
  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#free();
    this.#admitted.leave();
    return true;
  }

  #free(): void {
    this.#timeout?.cancel();
    this.#due?.cancel();
    this.#reading.end();
    this.#target.remove(this.#reading);
    this.#admitted.free();
  }
}

/**
 * When the set will hold if nothing more happens: `nowMs` or earlier when it holds, undefined when something is
 * missing.
 */
function dueMsOf({ predicates }: ArmedSet, state: TargetState): number | undefined {
  let latestMs = -Infinity;
  for (const { row, armed } of predicates) {
    const dueMs = row.dueMs(armed, state);
    if (dueMs === undefined) return undefined;
    if (dueMs > latestMs) latestMs = dueMs;
  }
  return latestMs;
}

/** By the names of its predicates. */
const progressOf = ({ predicates }: ArmedSet, state: TargetState): Readonly<Record<string, unknown>> =>
  Object.fromEntries(predicates.map(({ row, armed }) => [row.name, row.progress(armed, state)]));
