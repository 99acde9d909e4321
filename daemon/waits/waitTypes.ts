/**
 * What a wait asks for and what it answers: the one contract behind every surface (seed 002 §8.3).
 *
 * Text is plain text: escape sequences dropped, CR LF one LF, invalid bytes U+FFFD (`protocol/text/ansi.ts`). A wait sees
 * only text after its start, and its start counts as the beginning of a line. Pattern, exit and prompt latch; `stable` is a
 * level and must hold when the wait ends.
 */
import type { AppError } from "../../protocol/errors.ts";
import type { Position, StreamGap } from "../../protocol/position.ts";
import type { ExitStatus } from "../panes/outputSource.ts";
import type { ScreenView } from "./screenView.ts";

export type WaitPattern =
  /** The text itself, case-sensitive. A line end is `\n`. */
  | { readonly kind: "literal"; readonly text: string }
  /**
   * RE2 syntax (no look-around, no back-references). `.` does not cross lines unless `dotAll`; `^ $` hold at every line
   * unless `multiline` is false: then `^` holds at the wait's start only and `$` at the end of the output so far. A match
   * is at most `regexWindowBytes` long. One that rests on the end of output (`$`, `\b`, `\z`) must stay there for
   * `settleMs` unless the line has ended, so that half a word is not taken for a whole one.
   */
  | {
      readonly kind: "regex";
      readonly text: string;
      readonly ignoreCase?: boolean | undefined;
      readonly multiline?: boolean | undefined;
      readonly dotAll?: boolean | undefined;
    };

/** A predicate that something else decides, for instance readiness. */
export interface ExternalPredicate {
  /** Its name in results and progress. */
  readonly name: string;
  /** True once is true for good; a level must hold when the wait ends. */
  readonly latching: boolean;
  /** Reports now, if it is known, and at every change. Returns the unsubscribe function. */
  observe(report: (satisfied: boolean) => void): () => void;
}

/** All that are given must hold together. */
export interface WaitPredicates {
  readonly pattern?: WaitPattern | undefined;
  /**
   * No output for this many seconds, counted from registration at the earliest. With `exit` in the same set, counted from
   * the later of the exit and the last output.
   */
  readonly stableSec?: number | undefined;
  /** The program has ended; one that ended before counts. */
  readonly exit?: boolean | undefined;
  /**
   * The output ends in what looks like a shell prompt: `$`, `#`, `>` or `%`, blanks after it allowed, and nothing more for
   * `settleMs`. A shell that has just switched bracketed paste on (`?2004h`) is believed at once, whatever its prompt.
   *
   * Best effort, with false positives: a question that ends in `>`, a progress line that stops at `#`, a quoted mail, a
   * password prompt of `su` ending in `#`, a program that prints `$ ` and thinks. `50%` is not taken for one (a digit
   * before `%`). Never let a destructive step depend on it alone: add a pattern, or `exit`.
   */
  readonly prompt?: boolean | undefined;
  /** The pane itself is gone. Without this predicate that ends the wait with NOT_FOUND. */
  readonly gone?: boolean | undefined;
  readonly external?: readonly ExternalPredicate[] | undefined;
}

/** Where a pattern begins to look. Only patterns: `stable` always counts from registration. */
export type WaitFrom =
  | { readonly kind: "now" }
  /** The last lines of retained output; an unfinished line counts as one. */
  | { readonly kind: "tail"; readonly lines: number }
  | { readonly kind: "position"; readonly position: Position };

export interface WaitRequest extends WaitPredicates {
  /** At least one of these sets must hold as well. */
  readonly anyOf?: readonly WaitPredicates[] | undefined;
  /** Default: now. */
  readonly from?: WaitFrom | undefined;
  /** Default: `defaultTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /** What is typed after the wait is armed: its echo never satisfies a pattern or a prompt (`echoMask.ts` says how). */
  readonly excludeEcho?: Uint8Array | undefined;
  /**
   * Patterns are also tried on the pane's screen, as people see it: when output pauses and once before the time is over, on
   * the rows that have changed since the wait was armed, blanks at their ends gone, wrapped rows joined. The stream is
   * matched as ever. A TIMEOUT says in `details.matchedEcho` whether the echo on the screen matched a pattern.
   */
  readonly screen?: ScreenView | undefined;
}

export interface WaitMatch {
  /** `pattern`, `stable`, `exit`, `prompt`, `gone` or an external name; within an alternative `anyOf[1].pattern`. */
  readonly predicate: string;
  /** The matched text, cut to `maxMatchBytes`. For patterns and prompts. */
  readonly text?: string | undefined;
  /** The screen showed it and the stream did not; it then has no positions. */
  readonly on?: "screen" | undefined;
  /**
   * The first byte of the match's first character, and one past the last byte of its last. Escape sequences inside count
   * in, those around do not; the LF of a CR LF is both bytes.
   */
  readonly from?: Position | undefined;
  readonly to?: Position | undefined;
}

export interface WaitResult {
  /** The predicates that held when the wait ended. */
  readonly matched: readonly WaitMatch[];
  /** The source's head when it ended. */
  readonly position: Position;
  /** The program's end, when it is known. */
  readonly exit?: ExitStatus | undefined;
  readonly elapsedMs: number;
  /** Output this wait could not see. A pattern never matches across a gap. */
  readonly gaps: readonly StreamGap[];
}

/** Progress of one set, as in `details.predicates` of a TIMEOUT. */
export interface PredicateProgress {
  pattern?: boolean;
  stable?: { readonly satisfied: boolean; readonly quietMs: number };
  exit?: boolean;
  prompt?: boolean;
  gone?: boolean;
  [external: string]: unknown;
}

export interface ArmedWait {
  /** Never rejected unhandled: a caller that stops caring need not catch it. */
  readonly result: Promise<WaitResult>;
  /** Where patterns begin to look. */
  readonly start: Position;
  /** Frees the wait at once; the result rejects with `reason`. Safe to call twice. */
  cancel(reason?: AppError): void;
}

export interface WaitOptions {
  /** Frees the wait at once; the result rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}
