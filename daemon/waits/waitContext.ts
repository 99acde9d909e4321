/** What the predicates of one set work with while their wait is armed. */
import { AppError } from "../../protocol/errors.ts";
import { type Gap, gapWithin } from "../../protocol/position.ts";
import type { OutputSource } from "../tmux/outputSource.ts";
import { type MarkHandlers, scanMarks } from "../panes/vt/streamMarks.ts";
import { trackerOf } from "../panes/vt/vtTracker.ts";
import type { Clock } from "../time/clock.ts";
import type { Scheduler } from "../time/scheduler.ts";
import type { ActiveWait } from "./activeWait.ts";
import type { CompiledRegex } from "./regex/compiledRegex.ts";
import type { FoundText, WatchOwner } from "./text/patternWatch.ts";
import { LiteralWatch } from "./literal/literalWatch.ts";
import { PromptWatch } from "./text/promptWatch.ts";
import { RegexWatch } from "./regex/regexMatcher.ts";
import type { PredicateSet, PreparedPredicates } from "./predicateSet.ts";
import type { ArmContext, ArmMoment } from "./predicates/predicate.ts";
import type { RegexAnalysis } from "./regex/regexAnalysis.ts";
import type { RegexEngine } from "./regex/regexEngine.ts";
import type { ScreenPattern } from "./screen/screenWatch.ts";
import type { WaitLimits } from "./waitLimits.ts";
import type { WaitPane } from "./waitPane.ts";
import type { CheckedPattern } from "./waitPattern.ts";
import type { CheckedRequest } from "./waitRequest.ts";

/** The same for all waits. */
export interface WaitHost {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly engine: RegexEngine;
  readonly limits: WaitLimits;
}

/** A checked request with what was prepared for it. */
export interface ReadyRequest {
  readonly request: CheckedRequest;
  /** In the order of `request.regexes`. */
  readonly regexes: readonly CompiledRegex[];
  readonly predicates: PreparedPredicates;
}

/** Read before the start, so that a string cut by it is recognised. */
const LEAD_BYTES = 16_384;

export class WaitContext implements ArmContext {
  readonly source: OutputSource;
  readonly limits: WaitLimits;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly moment: ArmMoment;
  readonly pane: WaitPane | undefined;
  readonly #engine: RegexEngine;
  readonly #ready: ReadyRequest;
  readonly #wait: ActiveWait;
  readonly #set: PredicateSet;
  readonly #patterns: ScreenPattern[];

  /** @param patterns collects those that are tried on the screen as well */
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
    this.#engine = host.engine;
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

  readPattern(pattern: CheckedPattern, owner: WatchOwner, isFound: () => boolean): void {
    const { watches } = this.#wait;
    const { start } = this.moment;
    const literal = pattern.kind === "literal" ? pattern.bytes : undefined;
    const regex = pattern.kind === "regex" ? this.#compiled(pattern.analysis) : undefined;
    if (literal !== undefined) {
      watches.add({ kind: "literal", watch: new LiteralWatch(owner, literal, start, this.limits.maxMatchBytes) });
    } else if (regex !== undefined) {
      watches.add({ kind: "regex", watch: new RegexWatch(owner, start), regex });
    }
    if (this.#ready.request.screen === undefined) return;
    this.#patterns.push({ literal, regex, isFound, found: (match) => owner.found(match) });
  }

  readPrompt(owner: WatchOwner): void {
    const { head, isForSend } = this.moment;
    // The prompt that counts is the one at the end of the output: earlier ones do not matter.
    const watch = new PromptWatch(owner, head, isForSend, this.limits.maxMatchBytes);
    this.#wait.watches.add({ kind: "prompt", watch });
  }

  search(pattern: CheckedPattern, text: string, found: (match: string) => void): void {
    if (pattern.kind === "literal") {
      const wanted = pattern.bytes.toString("utf8");
      if (text.includes(wanted)) found(wanted);
      return;
    }
    this.#engine.run(this.#compiled(pattern.analysis), Buffer.from(text, "utf8"), 0, (outcome) => {
      if (outcome.kind === "match") found(outcome.text);
      else if (outcome.kind === "failed") this.#wait.fail(outcome.error);
    });
  }

  hear({ mark, bell }: MarkHandlers, owner: WatchOwner): void {
    const { source } = this;
    const { start } = this.moment;
    const head = source.outputSeq;
    this.onEnd(trackerOf(source).follow({ mark, bell, gap: (gap) => owner.missed(gap) }));
    if (start >= head) return;
    scanMarks(source, Math.max(source.tailSeq, start - LEAD_BYTES), head, {
      mark: mark && ((heard, from, to) => void (from >= start && mark(heard, from, to))),
      bell: bell && ((at) => void (at >= start && bell(at))),
    });
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

  #compiled(analysis: RegexAnalysis): CompiledRegex {
    const { request, regexes } = this.#ready;
    const regex = regexes[request.regexes.indexOf(analysis)];
    if (regex === undefined) throw new AppError("INTERNAL_ERROR", "a regex was not compiled");
    return regex;
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
