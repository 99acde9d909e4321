/**
 * One wait's eye on the screen: the patterns that its stream has not shown, tried on the lines that are new since the
 * wait began (`screenView.ts`), without the echo of what was typed. Regexes go to RE2's worker like those of the
 * stream. That only the echo matched is noted, for the timeout's details.
 */
import type { Capture } from "../../tmux/io.ts";
import type { CompiledRegex } from "../regex/compiledRegex.ts";
import type { Latch } from "../text/patternWatch.ts";
import { MAX_JOB_BYTES, type RegexEngine, type RegexOutcome } from "../regex/regexEngine.ts";
import { ScreenEcho } from "./screenEcho.ts";
import { ScreenBeginning, type ScreenView, type Stretch } from "./screenView.ts";

/** One pattern of the wait. */
export interface ScreenPattern {
  readonly literal: Buffer | undefined;
  readonly regex: CompiledRegex | undefined;
  /** Of the stream as well. */
  readonly latch: Latch;
}

interface ScreenWatchOptions {
  readonly view: ScreenView;
  readonly patterns: readonly ScreenPattern[];
  /** What is typed after the beginning, when its echo must not count. */
  readonly typed: Uint8Array | undefined;
  readonly engine: RegexEngine;
  readonly maxMatchBytes: number;
}

/** Lines that show the echo and are tried by themselves at each capture: a typed line shows once or twice. */
const MAX_ECHO_LINES = 8;

export class ScreenWatch {
  readonly view: ScreenView;
  readonly #options: ScreenWatchOptions;
  /** Undefined until the screen of the beginning is known. */
  beginning: ScreenBeginning | undefined;
  #echo: ScreenEcho | undefined;
  #isOver = false;
  /** Judgements that RE2 has not given yet. */
  #jobs = 0;
  #whenJudged: (() => void) | undefined;
  /** The echo matched, and so far nothing else. */
  hasEchoMatched = false;

  constructor(options: ScreenWatchOptions) {
    this.#options = options;
    this.view = options.view;
  }

  /** Captures the screen in the turn in which the wait is armed: tmux executes that before it types anything. */
  begin(whenBegun: () => void): void {
    const begun = (capture: Capture): void => {
      this.beginning = new ScreenBeginning(capture);
      const { typed } = this.#options;
      if (typed !== undefined && typed.length > 0) this.#echo = new ScreenEcho(typed, this.beginning.prompt);
      whenBegun();
    };
    // Without a beginning nothing on the screen can be judged; whatever ends the pane ends the wait by itself.
    this.view.capture({ lines: 1, whole: true }).then(begun, () => undefined);
  }

  /** @param since output since the beginning, @param wraps by row */
  judge(now: Capture, since: string, wraps: readonly boolean[]): void {
    const { beginning } = this;
    if (this.#isOver || beginning === undefined) return;
    if (beginning.isOfAnotherSize(now)) {
      this.beginning = new ScreenBeginning(now);
      return;
    }
    const all = beginning.newStretches(now, since, wraps);
    const echoes = new Map<string, number>();
    const output = this.#echo === undefined ? all : all.flatMap((lines) => withoutEcho(lines, this.#echo!, echoes));
    for (const pattern of this.#options.patterns) {
      if (pattern.latch.match !== undefined) continue;
      for (const text of output.flatMap(pieces)) this.#search(pattern, text, 0, (match) => this.#found(pattern, match));
      for (const [line, at] of [...echoes].slice(-MAX_ECHO_LINES)) this.#searchEcho(pattern, line, at);
    }
  }

  /** Calls back once everything that was given to RE2 is judged. */
  whenJudged(done: () => void): void {
    this.#whenJudged = done;
    this.#checkJudged();
  }

  end(): void {
    this.#isOver = true;
    this.#whenJudged = undefined;
  }

  #found({ latch }: ScreenPattern, text: string): void {
    if (this.#isOver || latch.match !== undefined) return;
    latch.found({ text: cut(text, this.#options.maxMatchBytes), on: "screen" });
  }

  /** A match counts when it contains typed text: what precedes the echo is no reaction either, but nobody typed it. */
  #searchEcho(pattern: ScreenPattern, line: string, at: number): void {
    if (this.hasEchoMatched) return;
    this.#search(pattern, line, 0, (text, index) => {
      if (index + Array.from(text).length > at) this.hasEchoMatched = true;
      else if (at > 0) this.#search(pattern, line, at, () => (this.hasEchoMatched = true));
    });
  }

  #search(pattern: ScreenPattern, text: string, skip: number, onMatch: (text: string, index: number) => void): void {
    const { literal, regex } = pattern;
    const bytes = Buffer.from(text, "utf8");
    if (literal !== undefined) {
      const wanted = literal.toString("utf8");
      const at = text.indexOf(wanted, Array.from(text).slice(0, skip).join("").length);
      if (at >= 0) onMatch(wanted, Array.from(text.slice(0, at)).length);
    } else if (regex !== undefined) {
      this.#jobs += 1;
      this.#options.engine.run(regex, bytes, skip, (outcome: RegexOutcome) => {
        this.#jobs -= 1;
        // A failure of the regex itself is reported by the stream's own jobs and by its `ready`.
        if (outcome.kind === "match" && !this.#isOver) onMatch(outcome.text, outcome.index);
        this.#checkJudged();
      });
    }
  }

  #checkJudged(): void {
    if (this.#jobs > 0) return;
    const done = this.#whenJudged;
    this.#whenJudged = undefined;
    done?.();
  }
}

/** What is left of a stretch without the lines that show the echo; those are noted in `echoes`. */
function withoutEcho(lines: Stretch, echo: ScreenEcho, echoes: Map<string, number>): Stretch[] {
  const parts: string[][] = [[]];
  for (const line of lines) {
    const at = line === "" ? undefined : echo.echoAt(line);
    if (at === undefined) {
      parts.at(-1)?.push(line);
      continue;
    }
    echoes.set(line, at);
    parts.push([]);
  }
  return parts.filter((part) => part.length > 0);
}

/** A stretch as text for RE2, cut between lines where it is long. */
function pieces(lines: Stretch): string[] {
  const texts: string[] = [];
  let length = 0;
  for (const line of lines) {
    const bytes = Buffer.byteLength(line) + 1;
    if (texts.length === 0 || length + bytes > MAX_JOB_BYTES) {
      texts.push(line);
      length = bytes;
    } else {
      texts.push(`${texts.pop() ?? ""}\n${line}`);
      length += bytes;
    }
  }
  return texts;
}

/** Whole characters only. */
const cut = (text: string, maxBytes: number): string =>
  text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(maxBytes)).read);
