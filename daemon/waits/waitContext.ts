/** What the predicates of one set get to work with while their wait is armed. */
import { AppError } from "../../protocol/errors.ts";
import { type Gap, gapWithin } from "../../protocol/position.ts";
import type { OutputSource } from "../tmux/outputSource.ts";
import type { Clock } from "../time/clock.ts";
import type { Scheduler } from "../time/scheduler.ts";
import type { ActiveWait } from "./activeWait.ts";
import type { CompiledRegex } from "./regex/compiledRegex.ts";
import type { FoundText, WatchOwner } from "./text/patternWatch.ts";
import type { PredicateSet, PreparedPredicates } from "./predicateSet.ts";
import type { ArmContext, ArmMoment } from "./predicates/predicate.ts";
import type { RegexAnalysis } from "./regex/regexAnalysis.ts";
import type { RegexEngine } from "./regex/regexEngine.ts";
import type { ScreenPattern } from "./screen/screenWatch.ts";
import type { TextWatch } from "./text/textStream.ts";
import type { WaitLimits } from "./waitLimits.ts";
import type { WaitPane } from "./waitPane.ts";
import type { CheckedRequest } from "./waitRequest.ts";

/** The same for all waits. */
export interface WaitHost {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly engine: RegexEngine;
  readonly limits: WaitLimits;
}

/** A checked request with what was made ready for it. */
export interface ReadyRequest {
  readonly request: CheckedRequest;
  /** In the order of `request.regexes`. */
  readonly regexes: readonly CompiledRegex[];
  readonly predicates: PreparedPredicates;
}

export class WaitContext implements ArmContext {
  readonly source: OutputSource;
  readonly limits: WaitLimits;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly engine: RegexEngine;
  readonly moment: ArmMoment;
  readonly pane: WaitPane | undefined;
  readonly #ready: ReadyRequest;
  readonly #wait: ActiveWait;
  readonly #set: PredicateSet;
  readonly #patterns: ScreenPattern[];

  /** @param patterns takes those that look at the screen as well */
  constructor(
    host: WaitHost,
    source: OutputSource,
    ready: ReadyRequest,
    moment: ArmMoment,
    wait: ActiveWait,
    set: PredicateSet,
    patterns: ScreenPattern[],
  ) {
    this.source = source;
    this.limits = host.limits;
    this.scheduler = host.scheduler;
    this.engine = host.engine;
    this.moment = moment;
    this.pane = ready.request.pane;
    this.clock = host.clock;
    this.#ready = ready;
    this.#wait = wait;
    this.#set = set;
    this.#patterns = patterns;
  }

  isWith(name: string): boolean {
    return this.#set.asksFor(name);
  }

  compiled(analysis: RegexAnalysis): CompiledRegex {
    const { request, regexes } = this.#ready;
    const regex = regexes[request.regexes.indexOf(analysis)];
    if (regex === undefined) throw new AppError("INTERNAL_ERROR", "a regex was not compiled");
    return regex;
  }

  readText(watch: TextWatch): void {
    this.#wait.watches.add(watch);
  }

  readScreen(pattern: ScreenPattern): void {
    this.#patterns.push(pattern);
  }

  owner(take: (found: FoundText) => void): WatchOwner {
    const wait = this.#wait;
    const { epoch } = this.source;
    return {
      found: (found: FoundText) => wait.found(() => take(found)),
      missed: (gap: Gap) => wait.onMissed(gapWithin(epoch, gap)),
      failed: (error: AppError) => wait.fail(error),
    };
  }

  changed(): void {
    this.#wait.check();
  }

  fail(error: AppError): void {
    this.#wait.fail(error);
  }

  onEnd(cleanUp: () => void): void {
    this.#wait.onEnd(cleanUp);
  }
}
