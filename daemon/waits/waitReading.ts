/**
 * What one wait reads of its source, and from where. While the wait is armed its predicates say what they look for: in the
 * plain text, on the screen, among titles and bells. Then its target reads that, until the wait is over.
 */
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { gapWithin, type StreamGap } from "../../protocol/position.ts";
import { type MarkHandlers, scanMarks } from "../panes/vt/streamMarks.ts";
import { trackerOf } from "../panes/vt/vtTracker.ts";
import type { ReadinessWatcher } from "../readiness/readiness.ts";
import type { OutputSource } from "../tmux/outputSource.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";
import type { RegexAnalysis } from "./regex/regexAnalysis.ts";
import type { CompiledRegex } from "./regex/regexEngine.ts";
import type { CursorWatch } from "./screen/cursorWatch.ts";
import type { ScreenView } from "./screen/screenView.ts";
import { ScreenWatch } from "./screen/screenWatch.ts";
import { EchoWatch } from "./text/echoWatch.ts";
import { Latch, LiteralWatch, PromptWatch, RegexWatch, type TextWatch } from "./text/textWatch.ts";
import type { WaitHost } from "./waitHost.ts";
import { LEAD_BYTES } from "./waitLimits.ts";
import type { CheckedPattern } from "./waitPattern.ts";

/** The pane whose output a wait reads: predicates ask its server for what the output does not show. */
export interface WaitPane {
  readonly server: TmuxServer;
  readonly id: PaneId;
  /** Absent: readiness is not reported. */
  readonly readiness: ReadinessWatcher | undefined;
}

/** What a request says about reading, whatever its predicates are. */
export interface ReadRequest {
  /** What is typed after the wait is armed: its echo never satisfies a pattern or a prompt (`echoMask.ts` says how). */
  readonly excludeEcho?: Uint8Array | undefined;
  /** The same with the keys, as bytes: whether a shell's editor ends by it. Default: `excludeEcho`. */
  readonly sends?: Uint8Array | undefined;
  /**
   * Patterns are also tried on the pane's screen, as people see it: when output pauses and once before the time is
   * over, on the rows that have changed since the wait was armed, trailing blanks dropped, wrapped rows joined. The
   * stream is matched as always. A TIMEOUT says in `details.matchedEcho` whether the echo on the screen matched a
   * pattern.
   */
  readonly screen?: ScreenView | undefined;
  /** The pane whose output is read; some predicates query it for more. */
  readonly pane?: WaitPane | undefined;
}

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

interface WaitReadingOptions {
  readonly host: WaitHost;
  readonly source: OutputSource;
  readonly moment: ArmMoment;
  readonly request: ReadRequest;
  readonly regexes: ReadonlyMap<RegexAnalysis, CompiledRegex>;
  readonly cursorOf: (pane: WaitPane) => CursorWatch;
  /** Output decided a predicate. */
  readonly onFound: () => void;
  /** Something that a predicate's `dueMs` depends on has changed. */
  readonly onChanged: () => void;
  readonly onFailed: (error: AppError) => void;
}

/** Gaps kept for a result; more would tell the caller nothing new. */
const MAX_GAPS = 32;
/** Texts that RE2 has not judged yet, per pattern; of those that come meanwhile it gets the newest. */
const MAX_SEARCHES = 64;
const NOTHING = new Uint8Array(0);

/** Calls back with what matched. @param skipped more texts came than could be judged, and this is not the newest */
type TextSearch = (text: string, found: (match: string) => void, skipped: () => void) => void;

export class WaitReading {
  readonly host: WaitHost;
  readonly source: OutputSource;
  readonly moment: ArmMoment;
  readonly pane: WaitPane | undefined;
  readonly cursorOf: (pane: WaitPane) => CursorWatch;
  readonly changed: () => void;
  readonly failed: (error: AppError) => void;
  /** On the text. */
  readonly watches = new Set<TextWatch>();
  /** On the screen, when that counts. */
  screen: ScreenWatch | undefined;
  echo: EchoWatch | undefined;
  /** What it could not see. */
  readonly gaps: StreamGap[] = [];
  readonly #options: WaitReadingOptions;
  readonly #cleanUps: (() => void)[] = [];
  #isOver = false;

  constructor(options: WaitReadingOptions) {
    this.#options = options;
    this.host = options.host;
    this.source = options.source;
    this.moment = options.moment;
    this.pane = options.request.pane;
    this.cursorOf = options.cursorOf;
    this.changed = options.onChanged;
    this.failed = options.onFailed;
  }

  /** For a predicate that latches. */
  latch(): Latch {
    const { epoch } = this.source;
    return new Latch(this.#options.onFound, (gap) => this.missed(gapWithin(epoch, gap)), this.failed);
  }

  /**
   * Looks for it in the plain text of the output, the echo of what is typed left out, and on the screen if the request
   * asks for that, until it is found.
   */
  readPattern(pattern: CheckedPattern, latch: Latch): void {
    const { start } = this.moment;
    if (pattern.kind === "literal") {
      this.watches.add(new LiteralWatch(latch, pattern.bytes, start, this.host.limits.maxMatchBytes));
    } else {
      this.watches.add(new RegexWatch(latch, this.#compiled(pattern.analysis), start));
    }
  }

  /** Looks for a prompt at the end of the output. */
  readPrompt(latch: Latch): void {
    const { head, isForSend } = this.moment;
    // The prompt that counts is the one at the end of the output: earlier ones do not matter.
    this.watches.add(new PromptWatch(latch, head, isForSend, this.host.limits.maxMatchBytes));
  }

  /** For texts that come one by one, such as titles: each is judged in this turn, or once RE2 has time for it. */
  searcher(pattern: CheckedPattern): TextSearch {
    if (pattern.kind === "literal") {
      const wanted = pattern.bytes.toString("utf8");
      return (text, found) => void (text.includes(wanted) && found(wanted));
    }
    const regex = this.#compiled(pattern.analysis);
    let underWay = 0;
    let newest: { readonly run: () => void; readonly skipped: () => void } | undefined;
    return (text, found, skipped) => {
      const run = (): void => {
        underWay += 1;
        regex.run(Buffer.from(text, "utf8"), 0, (outcome) => {
          underWay -= 1;
          if (outcome.kind === "match") found(outcome.text);
          else if (outcome.kind === "failed") this.failed(outcome.error);
          const next = newest;
          newest = undefined;
          if (!this.#isOver) next?.run();
        });
      };
      if (underWay < MAX_SEARCHES) {
        run();
        return;
      }
      newest?.skipped();
      newest = { run, skipped };
    };
  }

  /** Reads what is retained from the wait's start on, then what comes, until the wait is over. */
  watchMarks({ mark, bell }: MarkHandlers, latch: Latch): void {
    const { source } = this;
    const { start, isForSend } = this.moment;
    const head = source.outputSeq;
    // What had begun when something was typed is no response to it.
    const since = isForSend ? start : -Infinity;
    const after = (least: number): MarkHandlers => ({
      mark: mark && ((seen, from, to) => void (from >= least && mark(seen, from, to))),
      bell: bell && ((at) => void (at >= least && bell(at))),
      gap: (lost) => void (lost.to > start && latch.missed({ ...lost, from: Math.max(lost.from, start) })),
    });
    this.onEnd(trackerOf(source).follow(after(since)));
    if (start < head) scanMarks(source, start - LEAD_BYTES, head, after(start));
  }

  /** Every predicate has said what it looks for. */
  complete(): void {
    const { moment, host, watches, source } = this;
    const { screen: view, excludeEcho: typed, sends = typed } = this.#options.request;
    const { maxMatchBytes, echoWindowBytes: windowBytes } = host.limits;
    if (sends !== undefined) {
      this.echo = EchoWatch.of(source, watches, { ...moment, typed: typed ?? NOTHING, sends, windowBytes });
    }
    if (view === undefined) return;
    const patterns = [...watches].filter((watch) => watch.kind !== "prompt");
    if (patterns.length === 0) return;
    this.screen = new ScreenWatch({ view, patterns, typed, maxMatchBytes });
    this.screen.echo = this.echo;
  }

  missed(gap: StreamGap): void {
    if (this.gaps.length >= MAX_GAPS) return;
    // Each of its watches reports the same gap.
    const isSame = ({ from, to }: StreamGap): boolean =>
      from.outputSeq === gap.from.outputSeq && to.outputSeq === gap.to.outputSeq;
    if (this.gaps.some(isSame)) return;
    this.gaps.push(gap);
    this.host.metrics.numbers.wait_gaps_total++;
  }

  /** Called once, when the wait is over. */
  onEnd(cleanUp: () => void): void {
    this.#cleanUps.push(cleanUp);
  }

  end(): void {
    this.#isOver = true;
    for (const cleanUp of this.#cleanUps) cleanUp();
  }

  #compiled(analysis: RegexAnalysis): CompiledRegex {
    const regex = this.#options.regexes.get(analysis);
    if (regex === undefined) throw new AppError("INTERNAL_ERROR", "a regex was not compiled");
    return regex;
  }
}
