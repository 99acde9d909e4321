/**
 * What a wait goes through before it is armed: its request is checked, it takes a place among the waits, its regexes
 * are compiled and its predicates prepared. A failure on the way releases all of it.
 */
import { AppError, shuttingDown } from "../../protocol/errors.ts";
import type { OutputSource } from "../tmux/outputSource.ts";
import { Admission } from "./admission.ts";
import { NOTHING_PREPARED, type Prepared, preparePredicates } from "./prepared.ts";
import type { CompiledRegex } from "./regex/compiledRegex.ts";
import type { WaitHost } from "./waitHost.ts";
import type { WaitLimits } from "./waitLimits.ts";
import { type CheckedRequest, checkRequest } from "./waitRequest.ts";
import type { WaitShare } from "./waitShare.ts";
import type { WaitRequest } from "./waitTypes.ts";

export class WaitIntake {
  readonly #host: WaitHost;
  readonly #admission: Admission;
  #closed = false;

  constructor(host: WaitHost) {
    this.#host = host;
    this.#admission = new Admission(host.limits, host.metrics.numbers);
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
    const { limits, metrics } = this.#host;
    try {
      return this.#enter(source, checkRequest(request, share?.limits ?? limits), share);
    } catch (error) {
      if (error instanceof AppError && error.code === "RESOURCE_LIMIT") metrics.numbers.wait_resource_limit_total++;
      throw error;
    }
  }

  #enter(source: OutputSource, request: CheckedRequest, share: WaitShare | undefined): Prepared {
    const hasRegex = request.regexes.length > 0;
    const release = share?.enter(source, hasRegex, this.#admission) ?? this.#admission.enter(source, hasRegex);
    const regexes: CompiledRegex[] = [];
    const prepared: Prepared = { request, regexes, predicates: NOTHING_PREPARED, release };
    try {
      for (const analysis of request.regexes) regexes.push(this.#host.engine.acquire(analysis));
      return prepared;
    } catch (error) {
      this.release(prepared);
      throw error;
    }
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

  /** Safe to call twice, as `free` is. */
  release(prepared: Prepared): void {
    this.free(prepared);
    prepared.release();
  }

  free({ regexes, predicates }: Prepared): void {
    // Others may share a regex: each user releases it once.
    for (const regex of regexes.splice(0)) this.#host.engine.release(regex);
    for (const known of predicates.values()) known[Symbol.dispose]?.();
  }
}
