/** What the predicates of one set work with while their wait is armed. */
import { AppError } from "../../protocol/errors.ts";
import { gapWithin, type StreamGap } from "../../protocol/position.ts";
import type { OutputSource } from "../tmux/outputSource.ts";
import { type MarkHandlers, scanMarks } from "../panes/vt/streamMarks.ts";
import { trackerOf } from "../panes/vt/vtTracker.ts";
import type { CompiledRegex } from "./regex/compiledRegex.ts";
import type { Latch } from "./text/patternWatch.ts";
import { LiteralWatch } from "./literal/literalWatch.ts";
import { PromptWatch } from "./text/promptWatch.ts";
import { RegexWatch } from "./regex/regexMatcher.ts";
import type { RegexAnalysis } from "./regex/regexAnalysis.ts";
import type { ScreenView } from "./screen/screenView.ts";
import type { ScreenPattern } from "./screen/screenWatch.ts";
import type { WaitHost } from "./waitHost.ts";
import { LEAD_BYTES } from "./waitLimits.ts";
import type { WaitPane } from "./waitPane.ts";
import type { CheckedPattern } from "./waitPattern.ts";
import type { TargetWait, WaitTarget } from "./waitTarget.ts";

export interface ArmMoment {
  /** Something is typed after this: what holds now does not count. */
  readonly isForSend: boolean;
  /** A shell at its prompt reads from the pane. */
  readonly isShell: boolean;
  /** The source position at which the wait is armed. */
  readonly head: number;
  /** Where its patterns begin to read. */
  readonly start: number;
}

/** An `ActiveWait`, for its predicates. */
interface ArmedWait extends Omit<TargetWait, "screen"> {
  readonly target: WaitTarget;
  found(take: () => void): void;
  onMissed(gap: StreamGap): void;
  onEnd(cleanUp: () => void): void;
}

/** Of a `PredicateSet`. */
interface Companions {
  asksFor(name: string): boolean;
}

/** Of a `Prepared`. */
interface PreparedPatterns {
  readonly request: {
    readonly pane?: WaitPane | undefined;
    readonly screen?: ScreenView | undefined;
    readonly regexes: readonly RegexAnalysis[];
  };
  readonly regexes: readonly CompiledRegex[];
}

export class WaitContext {
  readonly host: WaitHost;
  readonly source: OutputSource;
  readonly moment: ArmMoment;
  readonly pane: WaitPane | undefined;
  readonly #prepared: PreparedPatterns;
  readonly #wait: ArmedWait;
  readonly #set: Companions;
  readonly #patterns: ScreenPattern[];

  /** @param patterns collects those that are tried on the screen as well */
  constructor(
    wait: ArmedWait,
    set: Companions,
    prepared: PreparedPatterns,
    moment: ArmMoment,
    patterns: ScreenPattern[],
  ) {
    this.host = wait.target.host;
    this.source = wait.target.source;
    this.moment = moment;
    this.pane = prepared.request.pane;
    this.#prepared = prepared;
    this.#wait = wait;
    this.#set = set;
    this.#patterns = patterns;
  }

  /** Whether this predicate must hold together with ours. */
  isWith(name: string): boolean {
    return this.#set.asksFor(name);
  }

  /**
   * Looks for it in the plain text of the output, the echo of what is typed left out, and on the screen if the request
   * asks for that, until it is found.
   */
  readPattern(pattern: CheckedPattern, latch: Latch): void {
    const { watches } = this.#wait;
    const { start } = this.moment;
    const literal = pattern.kind === "literal" ? pattern.bytes : undefined;
    const regex = pattern.kind === "regex" ? this.#compiled(pattern.analysis) : undefined;
    if (literal !== undefined) {
      const { maxMatchBytes } = this.host.limits;
      watches.add({ kind: "literal", watch: new LiteralWatch(latch, literal, start, maxMatchBytes) });
    } else if (regex !== undefined) {
      watches.add({ kind: "regex", watch: new RegexWatch(latch, start), regex });
    }
    if (this.#prepared.request.screen !== undefined) this.#patterns.push({ literal, regex, latch });
  }

  /** Looks for a prompt at the end of the output. */
  readPrompt(latch: Latch): void {
    const { head, isForSend } = this.moment;
    // The prompt that counts is the one at the end of the output: earlier ones do not matter.
    const watch = new PromptWatch(latch, head, isForSend, this.host.limits.maxMatchBytes);
    this.#wait.watches.add({ kind: "prompt", watch });
  }

  /** Looks for it in a text; calls back with what matched, in this turn or once RE2 has judged. */
  search(pattern: CheckedPattern, text: string, found: (match: string) => void): void {
    if (pattern.kind === "literal") {
      const wanted = pattern.bytes.toString("utf8");
      if (text.includes(wanted)) found(wanted);
      return;
    }
    this.host.engine.run(this.#compiled(pattern.analysis), Buffer.from(text, "utf8"), 0, (outcome) => {
      if (outcome.kind === "match") found(outcome.text);
      else if (outcome.kind === "failed") this.#wait.fail(outcome.error);
    });
  }

  /** Reads what is retained from the wait's start on, then what comes, until the wait is over. */
  hear({ mark, bell }: MarkHandlers, latch: Latch): void {
    const { source } = this;
    const { start } = this.moment;
    const head = source.outputSeq;
    this.onEnd(trackerOf(source).follow({ mark, bell, gap: (gap) => latch.missed(gap) }));
    if (start >= head) return;
    scanMarks(source, Math.max(source.tailSeq, start - LEAD_BYTES), head, {
      mark: mark && ((heard, from, to) => void (from >= start && mark(heard, from, to))),
      bell: bell && ((at) => void (at >= start && bell(at))),
    });
  }

  /** For a predicate that latches: what a watch reports to, and what was found first. */
  latch(): Latch {
    const wait = this.#wait;
    const { epoch } = this.source;
    const latch: Latch = {
      match: undefined,
      found: (found) => wait.found(() => (latch.match ??= found)),
      missed: (gap) => wait.onMissed(gapWithin(epoch, gap)),
      failed: (error) => wait.fail(error),
    };
    return latch;
  }

  /** Something that `dueMs` depends on has changed. */
  changed(): void {
    this.#wait.check();
  }

  /** Called once, when the wait is over. */
  onEnd(cleanUp: () => void): void {
    this.#wait.onEnd(cleanUp);
  }

  #compiled(analysis: RegexAnalysis): CompiledRegex {
    const { request, regexes } = this.#prepared;
    const regex = regexes[request.regexes.indexOf(analysis)];
    if (regex === undefined) throw new AppError("INTERNAL_ERROR", "a regex was not compiled");
    return regex;
  }
}
