/**
 * What a wait goes through before it is armed: its request is checked, it takes a place among the waits, its regexes
 * are compiled and its predicates prepared. A failure on the way releases all of it.
 */
import { AppError, shuttingDown } from "../../protocol/errors.ts";
import type { OutputSource } from "../tmux/outputSource.ts";
import { Admission } from "./admission.ts";
import { NOTHING_PREPARED, type Prepared, preparePredicates } from "./prepared.ts";
import type { CompiledRegex } from "./regex/compiledRegex.ts";
import type { RegexEngine } from "./regex/regexEngine.ts";
import type { WaitLimits } from "./waitLimits.ts";
import type { WaitMetrics } from "./waitMetrics.ts";
import { checkRequest } from "./waitRequest.ts";
import type { WaitShare } from "./waitShare.ts";
import type { WaitRequest } from "./waitTypes.ts";

interface WaitIntakeOptions {
  readonly limits: WaitLimits;
  readonly metrics: WaitMetrics;
  readonly engine: RegexEngine;
}

export class WaitIntake {
  readonly #options: WaitIntakeOptions;
  readonly #admission: Admission;
  #closed = false;

  constructor(options: WaitIntakeOptions) {
    this.#options = options;
    this.#admission = new Admission(options.limits, options.metrics);
  }

  /** The process's bounds become at least these. */
  raise(limits: WaitLimits): void {
    this.#admission.raise(limits);
  }

  close(): void {
    this.#closed = true;
  }

  /** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT, UNSUPPORTED_PATTERN_ENGINE, SHUTTING_DOWN */
  admit(source: OutputSource, request: WaitRequest, share?: WaitShare): Prepared {
    if (this.#closed) throw shuttingDown();
    const checked = this.#counted(() => checkRequest(request, share?.limits ?? this.#options.limits));
    const hasRegex = checked.regexes.length > 0;
    const release = share?.enter(source, hasRegex, this.#admission) ?? this.#admission.enter(source, hasRegex);
    const regexes: CompiledRegex[] = [];
    const prepared: Prepared = { request: checked, regexes, predicates: NOTHING_PREPARED, release };
    try {
      for (const analysis of checked.regexes) regexes.push(this.#counted(() => this.#options.engine.acquire(analysis)));
    } catch (error) {
      this.release(prepared);
      throw error;
    }
    return prepared;
  }

  async prepare(prepared: Prepared): Promise<Prepared> {
    try {
      for (const regex of prepared.regexes) await regex.ready;
      await preparePredicates(prepared);
    } catch (error) {
      this.release(prepared);
      throw error;
    }
    if (this.#closed) {
      this.release(prepared);
      throw shuttingDown();
    }
    return prepared;
  }

  release(prepared: Prepared): void {
    this.free(prepared);
    prepared.release();
  }

  free({ regexes, predicates }: Prepared): void {
    for (const regex of regexes) this.#options.engine.release(regex);
    for (const known of predicates.values()) known[Symbol.dispose]?.();
  }

  /** Limits hit in the checks count as refusals, like those of admission. */
  #counted<Result>(check: () => Result): Result {
    try {
      return check();
    } catch (error) {
      if (error instanceof AppError && error.code === "RESOURCE_LIMIT")
        this.#options.metrics.numbers.wait_resource_limit_total++;
      throw error;
    }
  }
}
