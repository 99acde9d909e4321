/**
 * All waits of the process (seed 002 §8.3): admission, arming, and one place that ends them all. Nothing here polls and
 * nothing reads output: targets evaluate the stream as it comes, and one heap holds every deadline.
 *
 * A regex is compiled in its worker before anything is sent for it (`prepare`), and arming is synchronous, so a wait can be
 * armed in the very turn in which input is written and miss nothing of what it causes.
 */
import { AppError, shuttingDown } from "../../protocol/errors.ts";
import { gapWithin, type StreamGap } from "../../protocol/position.ts";
import { tailStart } from "../panes/tailStart.ts";
import { trackerOf } from "../panes/vt/vtTracker.ts";
import type { Clock } from "../time/clock.ts";
import { Scheduler } from "../time/scheduler.ts";
import { TurnBudget } from "../time/turnBudget.ts";
import type { OutputSource } from "../tmux/outputSource.ts";
import { ActiveWait } from "./activeWait.ts";
import { Admission, AdmittedRequest } from "./admission.ts";
import { RegexEngine } from "./regex/regexEngine.ts";
import { type WaitHost, WaitMetrics, type WaitMetricsSnapshot } from "./waitHost.ts";
import { DEFAULT_WAIT_LIMITS, type WaitLimits } from "./waitLimits.ts";
import type { WaitPattern } from "./waitPattern.ts";
import {
  checkPattern,
  checkRequest,
  type WaitFrom,
  type WaitOptions,
  type WaitRequest,
  type WaitResult,
} from "./waitRequest.ts";
import { WaitTarget } from "./waitTarget.ts";

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
  readonly #engine: RegexEngine;
  readonly #admission: Admission;
  readonly #targets = new Map<OutputSource, WaitTarget>();
  #closed = false;

  constructor(options: WaitManagerOptions) {
    const { clock, metrics = new WaitMetrics(), onListenerError: onError } = options;
    const limits = { ...DEFAULT_WAIT_LIMITS, ...options.limits };
    const scheduler = new Scheduler({ clock, onError });
    const budget = new TurnBudget({ clock, onTurn: (elapsedMs) => metrics.evalMs.observe(elapsedMs), onError });
    this.#host = { clock, scheduler, budget, limits, metrics };
    this.#engine = new RegexEngine({ ...this.#host, isDisabled: options.disableRegex });
    this.#admission = new Admission(limits, metrics.numbers);
  }

  /**
   * @param share whose place it takes
   * @throws AppError (rejects) INVALID_ARGUMENT, RESOURCE_LIMIT, UNSUPPORTED_PATTERN_ENGINE, TIMEOUT, NOT_FOUND, CONNECTION_LOST
   */
  wait(
    source: OutputSource,
    request: WaitRequest,
    options: WaitOptions = {},
    share = this.#admission,
  ): Promise<WaitResult> {
    try {
      const admitted = this.#admit(source, request, share);
      const arm = (): Promise<WaitResult> => this.#arm(source, admitted, options, undefined).result;
      return admitted.needsPreparation ? admitted.prepare(options.signal).then(arm) : arm();
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Waits with limits of their own; where these exceed the process's, the process's are raised to them. */
  share(bounds: Partial<WaitLimits>, disableRegex = false): Pick<WaitManager, "wait"> {
    const share = this.#admission.share({ ...this.#host.limits, ...bounds }, disableRegex);
    return { wait: (source, request, options) => this.wait(source, request, options, share) };
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
    const admitted = this.#admit(source, request);
    await admitted.prepare(options.signal);
    const isShell = await isShellReading(source, request);
    // The fallback for a sender that never calls back: the wait then begins before the send.
    const before = source.outputSeq;
    let armed: ActiveWait | undefined;
    try {
      options.signal?.throwIfAborted();
      await send(() => {
        armed ??= this.#arm(source, admitted, options, { isShell });
      });
      armed ??= this.#arm(source, admitted, options, { isShell }, before);
    } catch (error) {
      if (armed === undefined) admitted.release();
      else armed.cancel(error);
      throw error;
    }
    return armed.result;
  }

  /** Whether a pattern would be accepted. @throws AppError (rejects) INVALID_ARGUMENT, RESOURCE_LIMIT, UNSUPPORTED_PATTERN_ENGINE */
  async checkPattern(pattern: WaitPattern): Promise<void> {
    const checked = checkPattern(pattern, this.#host.limits);
    if (checked.kind === "literal") return;
    const regex = this.#engine.acquire(checked.analysis);
    try {
      await regex.ready;
    } finally {
      regex.release();
    }
  }

  metrics(): WaitMetricsSnapshot {
    const { metrics, budget } = this.#host;
    metrics.numbers.wait_backlog_depth = budget.backlog;
    return metrics.snapshot();
  }

  /** Ends every wait with SHUTTING_DOWN. Safe to call twice. */
  close(): void {
    this.#closed = true;
    for (const target of this.#targets.values()) target.abandon(shuttingDown());
    this.#engine.close();
    this.#host.scheduler.close();
  }

  /** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT, UNSUPPORTED_PATTERN_ENGINE, SHUTTING_DOWN */
  #admit(source: OutputSource, request: WaitRequest, share = this.#admission): AdmittedRequest {
    if (this.#closed) throw shuttingDown();
    try {
      const checked = checkRequest(request, share.limits);
      const leave = share.enter(source, checked.regexes.length > 0);
      return new AdmittedRequest(checked, leave, this.#engine);
    } catch (error) {
      const { metrics } = this.#host;
      if (error instanceof AppError && error.code === "RESOURCE_LIMIT") metrics.numbers.wait_resource_limit_total++;
      throw error;
    }
  }

  /** @param send something is typed after this @param head where the wait begins */
  #arm(
    source: OutputSource,
    admitted: AdmittedRequest,
    { signal }: WaitOptions,
    send: { readonly isShell: boolean } | undefined,
    head = source.outputSeq,
  ): ActiveWait {
    const { from, excludeEcho } = admitted.request;
    let begins: WaitStart;
    try {
      if (this.#closed) throw shuttingDown();
      signal?.throwIfAborted();
      begins = startOf(source, from, head);
    } catch (error) {
      admitted.release();
      throw error;
    }
    const isForSend = send !== undefined || excludeEcho !== undefined;
    const moment = { isForSend, isShell: send?.isShell === true, head, start: begins.start };
    const wait = new ActiveWait(admitted, this.#targetOf(source), moment);
    wait.begin(begins.missed, signal);
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

interface WaitStart {
  readonly start: number;
  readonly missed?: StreamGap | undefined;
}

/** Where a request begins to read, and what it has missed before that. @throws AppError INVALID_ARGUMENT */
function startOf(source: OutputSource, from: WaitFrom, head: number): WaitStart {
  switch (from.kind) {
    case "now":
      return { start: head };
    case "tail":
      return { start: tailStart(source, from.lines) };
    case "position": {
      const { epoch, outputSeq } = from.position;
      if (epoch !== source.epoch) {
        // This whole epoch is later than that position; the output in between is lost.
        const to = { epoch: source.epoch, outputSeq: source.tailSeq };
        return { start: source.tailSeq, missed: { from: from.position, to, reason: "epoch" } };
      }
      if (outputSeq <= source.outputSeq) {
        const slice = source.read(outputSeq, 1);
        if (slice.kind !== "gap") return { start: outputSeq };
        return { start: slice.gap.to, missed: gapWithin(epoch, slice.gap) };
      }
      throw new AppError(
        "INVALID_ARGUMENT",
        "the position is ahead of the output; use one that a capture or a wait gave",
        { details: { position: outputSeq, head: source.outputSeq } },
      );
    }
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
