/**
 * All waits of the process (seed 002 §8.3): admission, arming, and one place that ends them all. Nothing here polls and
 * nothing reads output: targets evaluate the stream as it comes, and one heap holds every deadline.
 *
 * A regex is compiled in its worker before anything is sent for it (`prepare`), and arming is synchronous, so a wait can be
 * armed in the very turn in which input is written and miss nothing of what it causes.
 */
import { type AppError, shuttingDown, toAppError } from "../../protocol/errors.ts";
import { trackerOf } from "../panes/vt/vtTracker.ts";
import type { OutputSource } from "../tmux/outputSource.ts";
import type { Clock } from "../time/clock.ts";
import { Scheduler } from "../time/scheduler.ts";
import { TurnBudget } from "../time/turnBudget.ts";
import { ActiveWait } from "./activeWait.ts";
import { armWait, startOf, type WaitStart } from "./armWait.ts";
import type { EchoWatch } from "./watches/echoWatch.ts";
import { needsPreparation, type Prepared } from "./prepared.ts";
import { RegexEngine } from "./regex/regexEngine.ts";
import { DEFAULT_WAIT_LIMITS, type WaitLimits } from "./waitLimits.ts";
import { WaitMetrics, type WaitMetricsSnapshot } from "./waitMetrics.ts";
import { checkPattern } from "./checkPattern.ts";
import type { WaitPattern } from "./waitPattern.ts";
import type { WaitHost } from "./waitHost.ts";
import { WaitIntake } from "./waitIntake.ts";
import { WaitShare } from "./waitShare.ts";
import { WaitTarget } from "./waitTarget.ts";
import type { WaitOptions, WaitRequest, WaitResult } from "./waitTypes.ts";

export interface WaitManagerOptions {
  readonly clock: Clock;
  readonly limits?: Partial<WaitLimits> | undefined;
  readonly metrics?: WaitMetrics | undefined;
  /** Refuses every regex with UNSUPPORTED_PATTERN_ENGINE. */
  readonly disableRegex?: boolean | undefined;
  /** A wait's own code threw: for the log; other waits are not affected. */
  readonly onListenerError?: ((error: unknown) => void) | undefined;
}

/** Sends, and calls `beforeWrite` in the turn in which the first byte is written (`InputOptions.beforeWrite`). */
export type Send = (beforeWrite: () => void) => Promise<unknown>;

export class WaitManager {
  readonly #host: WaitHost;
  readonly #intake: WaitIntake;
  readonly #targets = new Map<OutputSource, WaitTarget>();

  constructor(options: WaitManagerOptions) {
    const { clock, metrics = new WaitMetrics(), onListenerError: onError } = options;
    const limits = { ...DEFAULT_WAIT_LIMITS, ...options.limits };
    const scheduler = new Scheduler({ clock, onError });
    const budget = new TurnBudget({ clock, onTurn: (elapsedMs) => metrics.evalMs.observe(elapsedMs), onError });
    const parts = { clock, scheduler, budget, limits, metrics };
    this.#host = { ...parts, engine: new RegexEngine({ ...parts, isDisabled: options.disableRegex }) };
    this.#intake = new WaitIntake(this.#host);
  }

  /** @throws AppError (rejects) INVALID_ARGUMENT, RESOURCE_LIMIT, UNSUPPORTED_PATTERN_ENGINE, TIMEOUT, NOT_FOUND, CONNECTION_LOST */
  wait(source: OutputSource, request: WaitRequest, options: WaitOptions = {}): Promise<WaitResult> {
    return this.#wait(source, request, options, undefined);
  }

  /** A share with these limits; where they exceed the process's, the process's are raised to them. */
  share(bounds: Partial<WaitLimits>, disableRegex = false): Pick<WaitManager, "wait"> {
    const share = new WaitShare({ ...this.#host.limits, ...bounds }, disableRegex);
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
      const arm = (prepared: Prepared) => this.#arm(source, prepared, options, undefined).result;
      return needsPreparation(admitted.request) ? this.#intake.prepare(admitted).then(arm) : arm(admitted);
    } catch (error) {
      return Promise.reject(error);
    }
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
    const isShell = await isShellReading(source, request);
    // The fallback for a sender that never calls back: the wait then begins before the send.
    const before = source.outputSeq;
    let armed: ActiveWait | undefined;
    try {
      options.signal?.throwIfAborted();
      await send(() => {
        armed ??= this.#arm(source, prepared, options, { isShell });
      });
      armed ??= this.#arm(source, prepared, options, { isShell }, before);
    } catch (error) {
      if (armed === undefined) this.#intake.release(prepared);
      else armed.cancel(error);
      throw error;
    }
    return armed.result;
  }

  /** Whether a pattern would be accepted. @throws AppError (rejects) INVALID_ARGUMENT, RESOURCE_LIMIT, UNSUPPORTED_PATTERN_ENGINE */
  async checkPattern(pattern: WaitPattern): Promise<void> {
    const { engine, limits } = this.#host;
    const checked = checkPattern(pattern, limits);
    if (checked.kind === "literal") return;
    const regex = engine.acquire(checked.analysis);
    try {
      await regex.ready;
    } finally {
      engine.release(regex);
    }
  }

  metrics(): WaitMetricsSnapshot {
    const { metrics, budget } = this.#host;
    metrics.numbers.wait_backlog_depth = budget.backlog;
    return metrics.snapshot();
  }

  /** Ends every wait with SHUTTING_DOWN. Safe to call twice. */
  close(): void {
    this.#intake.close();
    for (const target of this.#targets.values()) target.abandon(shuttingDown());
    this.#host.engine.close();
    this.#host.scheduler.close();
  }

  /** @param send something is typed after this @param head where the wait begins */
  #arm(
    source: OutputSource,
    prepared: Prepared,
    { signal }: WaitOptions,
    send: { readonly isShell: boolean } | undefined,
    head = source.outputSeq,
  ): ActiveWait {
    const { request, regexes, release } = prepared;
    let from: WaitStart;
    try {
      signal?.throwIfAborted();
      from = startOf(source, request.from, head);
    } catch (error) {
      this.#intake.release(prepared);
      throw error;
    }
    const { start, missed } = from;
    const target = this.#targetOf(source);
    const wait = new ActiveWait({ request, target, onSettled: release, onFreed: () => this.#intake.free(prepared) });
    this.#host.metrics.numbers.wait_started_total++;
    if (missed !== undefined) wait.onMissed(missed);
    let echo: EchoWatch | undefined;
    try {
      const isForSend = send !== undefined || request.excludeEcho !== undefined;
      echo = armWait(wait, prepared, { isForSend, isShell: send?.isShell === true, head, start });
    } catch (error) {
      wait.fail(toAppError(error));
    }
    if (!wait.isSettled) target.add(wait, start, echo);
    for (const regex of regexes) regex.ready.catch((error: unknown) => wait.fail(error as AppError));
    wait.start(signal);
    return wait;
  }

  #targetOf(source: OutputSource): WaitTarget {
    let target = this.#targets.get(source);
    if (target === undefined) {
      target = new WaitTarget(this.#host, source, () => this.#targets.delete(source));
      this.#targets.set(source, target);
    }
    return target;
  }
}

/**
 * A shell at its prompt reads from the pane, and a line editor has announced itself. An agent's box looks alike in the
 * stream, and never ends.
 */
async function isShellReading(
  source: OutputSource,
  { pane, sends, excludeEcho = sends }: WaitRequest,
): Promise<boolean> {
  if (pane === undefined || excludeEcho === undefined) return false;
  if (trackerOf(source).readOn().bracketedPaste !== true) return false;
  // A pane that is gone is told by what is sent to it.
  const asked = await pane.server.foreground(pane.id, { atNoCost: true }).catch(() => undefined);
  // It leads a group of its own; what else is in it draws the prompt.
  return asked?.processes?.[0]?.isInteractiveShell === true;
}
