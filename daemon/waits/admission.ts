/**
 * Who may still wait: the limits of seed 002 §8.3, counted from admission until the wait is over, and what an admitted
 * request holds meanwhile.
 */
import { setMaxListeners } from "node:events";
import { AppError } from "../../protocol/errors.ts";
import { untilAborted } from "../time/within.ts";
import type { RegexAnalysis } from "./regex/regexAnalysis.ts";
import { type CompiledRegex, type RegexEngine, regexUnavailable } from "./regex/regexEngine.ts";
import type { WaitMetrics } from "./waitHost.ts";
import type { WaitLimits } from "./waitLimits.ts";
import type { CheckedPredicate, CheckedRequest } from "./waitRequest.ts";

interface Count {
  waits: number;
  regexes: number;
}

type ActiveWaits = Pick<WaitMetrics["numbers"], "wait_active" | "wait_active_regex">;

const RAISED = ["maxGlobal", "maxPerTarget", "maxRegexPerTarget", "maxPatternBytes"] as const;
type Raisable = Omit<WaitLimits, (typeof RAISED)[number]> & Record<(typeof RAISED)[number], number>;

/** Of the process, or of one surface: its share has limits of its own, counted separately, within those of the process. */
export class Admission {
  /** Of the process: the object that all of the waits have, so that text is kept for the longest pattern of any share. */
  readonly limits: Raisable;
  /** In all. */
  readonly #active: ActiveWaits;
  readonly #process: Admission | undefined;
  readonly #refusesRegex: boolean;
  readonly #byTarget = new Map<object, Count>();

  constructor(limits: Raisable, active: ActiveWaits, process?: Admission, refusesRegex = false) {
    this.limits = limits;
    this.#active = active;
    this.#process = process;
    this.#refusesRegex = refusesRegex;
  }

  /** A surface's share; where its limits exceed the process's, the process's are raised to them. */
  share(limits: WaitLimits, refusesRegex: boolean): Admission {
    for (const name of RAISED) this.limits[name] = Math.max(this.limits[name], limits[name]);
    return new Admission(limits, { wait_active: 0, wait_active_regex: 0 }, this, refusesRegex);
  }

  /**
   * Takes a place and returns its release, safe to call twice. Nothing is taken when it fails. @throws AppError
   * RESOURCE_LIMIT, UNSUPPORTED_PATTERN_ENGINE
   */
  enter(target: object, hasRegex: boolean): () => void {
    if (hasRegex && this.#refusesRegex) throw regexUnavailable("they are switched off here");
    const active = this.#active;
    const count = this.#byTarget.get(target) ?? { waits: 0, regexes: 0 };
    this.#check(count, hasRegex);
    const leaveProcess = this.#process?.enter(target, hasRegex);
    this.#byTarget.set(target, count);
    const regexes = Number(hasRegex);
    active.wait_active++;
    active.wait_active_regex += regexes;
    count.waits++;
    count.regexes += regexes;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      leaveProcess?.();
      active.wait_active--;
      active.wait_active_regex -= regexes;
      count.waits--;
      count.regexes -= regexes;
      if (count.waits === 0) this.#byTarget.delete(target);
    };
  }

  #check(count: Count, hasRegex: boolean): void {
    const { maxGlobal, maxPerTarget, maxRegexPerTarget, regexSoftLimit } = this.limits;
    const active = this.#active.wait_active;
    requireRoom("WAIT_MAX_GLOBAL", active, maxGlobal, "too many waits in this daemon");
    requireRoom("WAIT_MAX_PER_TARGET", count.waits, maxPerTarget, "too many waits on this target");
    if (!hasRegex) return;
    requireRoom("WAIT_MAX_REGEX_PER_TARGET", count.regexes, maxRegexPerTarget, "too many regexes on this target");
    // Overload: literals, which cost a hundredth, keep the places above these thresholds (seed 002 §8.3).
    const soft = (max: number): number => Math.max(1, Math.floor(max * regexSoftLimit));
    const busy = "too busy for another regex";
    requireRoom("WAIT_MAX_GLOBAL for regexes", active, soft(maxGlobal), busy, "wait for a literal, or ");
    requireRoom("WAIT_MAX_PER_TARGET for regexes", count.waits, soft(maxPerTarget), busy, "wait for a literal, or ");
  }
}

/** @throws AppError RESOURCE_LIMIT */
function requireRoom(limit: string, value: number, max: number, what: string, instead = ""): void {
  if (value < max) return;
  const message = `${what} (limit ${max}): ${instead}try again when a wait has ended`;
  throw new AppError("RESOURCE_LIMIT", message, { details: { limit, value, max } });
}

const NO_REGEXES: ReadonlyMap<RegexAnalysis, CompiledRegex> = new Map();
const NOTHING_KNOWN: ReadonlyMap<CheckedPredicate, Partial<Disposable>> = new Map();

/** A request with its place among the waits, its regexes, and what its predicates have to know before anything is typed. */
export class AdmittedRequest {
  readonly request: CheckedRequest;
  /** Gives the place back. */
  readonly leave: () => void;
  regexes = NO_REGEXES;
  /** What `Predicate.prepare` returned. */
  known = NOTHING_KNOWN;

  /** @throws AppError as `RegexEngine.acquire`; the place is given back then */
  constructor(request: CheckedRequest, leave: () => void, engine: RegexEngine) {
    this.request = request;
    this.leave = leave;
    if (request.regexes.length === 0) return;
    const regexes = new Map<RegexAnalysis, CompiledRegex>();
    this.regexes = regexes;
    try {
      for (const analysis of request.regexes) regexes.set(analysis, engine.acquire(analysis));
    } catch (error) {
      this.release();
      throw error;
    }
  }

  get needsPreparation(): boolean {
    return this.#toPrepare().length > 0;
  }

  /** Compiles its regexes and prepares its predicates. A failure or an abort releases all. @throws AppError (rejects) */
  async prepare(signal: AbortSignal | undefined): Promise<void> {
    const known = new Map<CheckedPredicate, Partial<Disposable>>();
    this.known = known;
    // One caller may hold hundreds of waits with one signal.
    if (signal !== undefined) setMaxListeners(0, signal);
    try {
      await untilAborted<void>(signal, (resolve, reject) => {
        this.#prepare(known).then(resolve, reject);
        return () => undefined;
      });
    } catch (error) {
      this.release();
      throw error;
    }
  }

  async #prepare(known: Map<CheckedPredicate, Partial<Disposable>>): Promise<void> {
    for (const regex of this.regexes.values()) await regex.ready;
    for (const predicate of this.#toPrepare()) {
      const prepared = await predicate.row.prepare?.(predicate.checked, this.request.pane!);
      if (this.known !== known) {
        // The caller has left while it was prepared.
        prepared?.[Symbol.dispose]?.();
        return;
      }
      if (prepared !== undefined) known.set(predicate, prepared);
    }
  }

  /** Safe to call twice, as `free` and `leave` are. */
  release(): void {
    this.free();
    this.leave();
  }

  free(): void {
    const { regexes, known } = this;
    // Others may share a regex: each user releases it once.
    this.regexes = NO_REGEXES;
    this.known = NOTHING_KNOWN;
    for (const regex of regexes.values()) regex.release();
    for (const prepared of known.values()) prepared[Symbol.dispose]?.();
  }

  #toPrepare(): readonly CheckedPredicate[] {
    const { sets, pane } = this.request;
    if (pane === undefined) return [];
    return sets.flatMap(({ predicates }) => predicates.filter(({ row }) => row.prepare !== undefined));
  }
}
