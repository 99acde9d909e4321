/**
 * All waits of the process (seed 002 §8.3): admission, arming, and one place that ends them all. Nothing here polls and
 * nothing reads output: targets evaluate the stream as it comes, and one heap holds every deadline.
 *
 * A regex is compiled in its worker before anything is sent for it (`prepare`), and arming is synchronous, so a wait can be
 * armed in the very turn in which input is written and miss nothing of what it causes.
 */
import { AppError, shuttingDown, toAppError } from "../../protocol/errors.ts";
import { headOf, type OutputSource } from "../tmux/outputSource.ts";
import type { Clock } from "../time/clock.ts";
import { Scheduler } from "../time/scheduler.ts";
import { TurnBudget } from "../time/turnBudget.ts";
import { ActiveWait } from "./activeWait.ts";
import { armWait, startOf, type WaitStart } from "./armWait.ts";
import type { EchoWatch } from "./echo/echoWatch.ts";
import { needsPreparation, type Prepared } from "./prepared.ts";
import { RegexEngine } from "./regex/regexEngine.ts";
import { DEFAULT_WAIT_LIMITS, type WaitLimits } from "./waitLimits.ts";
import { WaitMetrics, type WaitMetricsSnapshot } from "./waitMetrics.ts";
import { checkPattern } from "./checkPattern.ts";
import type { WaitPattern } from "./waitPattern.ts";
import type { WaitHost } from "./waitContext.ts";
import { WaitIntake } from "./waitIntake.ts";
import { WaitShare } from "./waitShare.ts";
import { WaitTarget } from "./waitTarget.ts";
import type { ArmedWait, WaitOptions, WaitRequest, WaitResult } from "./waitTypes.ts";

export interface WaitManagerOptions {
  readonly clock: Clock;
  readonly limits?: Partial<WaitLimits> | undefined;
  readonly metrics?: WaitMetrics | undefined;
  /** Refuses every regex with UNSUPPORTED_PATTERN_ENGINE. */
  readonly disableRegex?: boolean | undefined;
  /** A wait's own code threw: for the log; other waits are not affected. */
  readonly onListenerError?: ((error: unknown) => void) | undefined;
}

/** A checked request with a place among the waits and its regexes compiled: arming it can no longer fail. */
interface PreparedWait {
  /** Once. Patterns read from this moment on, or from where the request says. */
  arm(options?: WaitOptions): ArmedWait;
  /** Releases the place when it is not armed after all. Safe to call at any time. */
  release(): void;
}

/** Sends, and calls `beforeWrite` in the turn in which the first byte is written (`InputOptions.beforeWrite`). */
export type Send = (beforeWrite: () => void) => Promise<unknown>;

export class WaitManager {
  readonly limits: WaitLimits;
  readonly #clock: Clock;
  readonly #scheduler: Scheduler;
  readonly #budget: TurnBudget;
  readonly #engine: RegexEngine;
  readonly #metrics: WaitMetrics;
  readonly #intake: WaitIntake;
  readonly #host: WaitHost;
  readonly #targets = new Map<OutputSource, WaitTarget>();
  #closed = false;

  constructor(options: WaitManagerOptions) {
    const { clock, onListenerError: onError } = options;
    this.#clock = clock;
    this.limits = { ...DEFAULT_WAIT_LIMITS, ...options.limits };
    this.#metrics = options.metrics ?? new WaitMetrics();
    this.#scheduler = new Scheduler({ clock, onError });
    const metrics = this.#metrics;
    const onTurn = (elapsedMs: number): void => metrics.evalMs.observe(elapsedMs);
    this.#budget = new TurnBudget({ clock, budgetMs: this.limits.turnBudgetMs, onTurn, onError });
    const { limits } = this;
    this.#engine = new RegexEngine({
      clock,
      scheduler: this.#scheduler,
      budget: this.#budget,
      limits,
      metrics,
      isDisabled: options.disableRegex,
    });
    this.#intake = new WaitIntake({ limits, metrics, engine: this.#engine });
    this.#host = { clock, scheduler: this.#scheduler, engine: this.#engine, limits };
  }

  /** @throws AppError (rejects) INVALID_ARGUMENT, RESOURCE_LIMIT, UNSUPPORTED_PATTERN_ENGINE, TIMEOUT, NOT_FOUND, CONNECTION_LOST */
  wait(source: OutputSource, request: WaitRequest, options: WaitOptions = {}): Promise<WaitResult> {
    return this.#wait(source, request, options, undefined);
  }

  /** A share with these limits; where they exceed the process's, the process's are raised to them. */
  share(bounds: Partial<WaitLimits>, disableRegex = false): Pick<WaitManager, "wait"> {
    const onRefused = (): void => void this.#metrics.numbers.wait_resource_limit_total++;
    const share = new WaitShare({ limits: { ...this.limits, ...bounds }, disableRegex, onRefused });
    this.#intake.raise(share.limits);
    return { wait: (source, request, options) => this.#wait(source, request, options ?? {}, share) };
  }

  #wait(
    source: OutputSource,
    request: WaitRequest,
    options: WaitOptions,
    share: WaitShare | undefined,
  ): Promise<WaitResult> {
    try {
      const admitted = this.#intake.admit(source, request, share);
      const arm = (prepared: Prepared) => this.#arm(source, prepared, options, false, undefined).result;
      return needsPreparation(admitted.request) ? this.#intake.prepare(admitted).then(arm) : arm(admitted);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Registers a wait in this turn. A regex that RE2 refuses rejects the result; use `prepare` when nothing may be sent
   * then, or when a predicate has to know something about the pane first.
   * @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT, UNSUPPORTED_PATTERN_ENGINE
   */
  arm(source: OutputSource, request: WaitRequest, options: WaitOptions = {}): ArmedWait {
    return this.#arm(source, this.#intake.admit(source, request), options, false, undefined);
  }

  /** Checks, takes a place and compiles. @throws AppError (rejects) as `arm`, and what RE2 says about a regex. */
  async prepare(source: OutputSource, request: WaitRequest): Promise<PreparedWait> {
    const prepared = await this.#intake.prepare(this.#intake.admit(source, request));
    let isDone = false;
    return {
      arm: (options = {}) => {
        if (isDone) throw new AppError("INTERNAL_ERROR", "a prepared wait is armed once");
        isDone = true;
        return this.#arm(source, prepared, options, true, undefined);
      },
      release: () => {
        if (isDone) return;
        isDone = true;
        this.#intake.release(prepared);
      },
    };
  }

  /**
   * Compiles, sends and waits. The wait is armed when `send` calls `beforeWrite`; when the send fails, its error is thrown
   * and the wait is freed. The timeout counts from arming.
   */
  async sendAndWait(
    source: OutputSource,
    request: WaitRequest,
    send: Send,
    options: WaitOptions = {},
  ): Promise<WaitResult> {
    options.signal?.throwIfAborted();
    const prepared = await this.#intake.prepare(this.#intake.admit(source, request));
    // The fallback for a sender that never calls back: the wait then begins before the send.
    const before = source.outputSeq;
    let armed: ArmedWait | undefined;
    try {
      options.signal?.throwIfAborted();
      await send(() => {
        armed ??= this.#arm(source, prepared, options, true, undefined);
      });
      armed ??= this.#arm(source, prepared, options, true, before);
    } catch (error) {
      if (armed === undefined) this.#intake.release(prepared);
      else armed.cancel();
      throw error;
    }
    return armed.result;
  }

  /** Whether a pattern would be accepted. @throws AppError (rejects) INVALID_ARGUMENT, RESOURCE_LIMIT, UNSUPPORTED_PATTERN_ENGINE */
  async checkPattern(pattern: WaitPattern): Promise<void> {
    const checked = checkPattern(pattern, this.limits);
    if (checked.kind === "literal") return;
    const regex = this.#engine.acquire(checked.analysis);
    try {
      await regex.ready;
    } finally {
      this.#engine.release(regex);
    }
  }

  metrics(): WaitMetricsSnapshot {
    this.#metrics.numbers.wait_backlog_depth = this.#budget.backlog;
    return this.#metrics.snapshot();
  }

  /** Ends every wait with SHUTTING_DOWN. Safe to call twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#intake.close();
    for (const target of this.#targets.values()) target.abandon(shuttingDown());
    this.#engine.close();
    this.#scheduler.close();
  }

  /** @param before where the wait begins instead of here; @param isForSend something is typed after this */
  #arm(
    source: OutputSource,
    prepared: Prepared,
    options: WaitOptions,
    isForSend: boolean,
    before: number | undefined,
  ): ArmedWait {
    const { request, regexes, release } = prepared;
    if (options.signal?.aborted === true) {
      this.#intake.release(prepared);
      throw options.signal.reason;
    }
    const head = before ?? source.outputSeq;
    let from: WaitStart;
    try {
      from = startOf(source, request.from, head);
    } catch (error) {
      this.#intake.release(prepared);
      throw error;
    }
    const { start } = from;
    const target = this.#targetOf(source);
    const onFreed = (): void => this.#intake.free(prepared);
    const wait = new ActiveWait({ request, target, metrics: this.#metrics, onSettled: release, onFreed });
    this.#metrics.numbers.wait_started_total++;
    if (from.missed !== undefined) wait.onMissed(from.missed);
    const moment = { isForSend: isForSend || request.excludeEcho !== undefined, head, start };
    let echo: EchoWatch | undefined;
    try {
      echo = armWait(wait, this.#host, source, prepared, moment);
    } catch (error) {
      wait.fail(toAppError(error));
    }
    if (!wait.isSettled) target.add(wait, start, echo);
    for (const regex of regexes) regex.ready.catch((error: unknown) => wait.fail(error as AppError));
    wait.start(options.signal);
    const cancelled = (): AppError => new AppError("CANCELLED", "the caller has left");
    return {
      result: wait.result,
      start: { ...headOf(source), outputSeq: start },
      cancel: (reason) => wait.cancel(reason ?? cancelled()),
    };
  }

  #targetOf(source: OutputSource): WaitTarget {
    let target = this.#targets.get(source);
    if (target === undefined) {
      target = new WaitTarget({
        source,
        clock: this.#clock,
        scheduler: this.#scheduler,
        budget: this.#budget,
        engine: this.#engine,
        limits: this.limits,
        metrics: this.#metrics,
        onEmpty: () => this.#targets.delete(source),
      });
      this.#targets.set(source, target);
    }
    return target;
  }
}
