/**
 * What a wait asks for and what it returns: the one contract behind every surface (seed 002 §8.3).
 *
 * Text is plain text: escape sequences dropped, CR LF one LF, invalid bytes U+FFFD (`ansi.ts`). A wait sees only text
 * after its start, and its start counts as the beginning of a line. A predicate that latches stays true; a level must
 * hold when the wait ends.
 */
import type { InferOutput } from "valibot";
import type { Position, StreamGap } from "../../protocol/position.ts";
import type { ExitStatus } from "../tmux/outputSource.ts";
import type { PREDICATES } from "./predicates/predicateTable.ts";
import type { ScreenView } from "./screen/screenView.ts";
import type { WaitPane } from "./waitPane.ts";

/** By field; all that are given must hold together. Each is documented in its file in `predicates/`. */
export type WaitPredicates = {
  readonly [Row in (typeof PREDICATES)[number] as Row["field"]]?: InferOutput<Row["schema"]> | undefined;
};

/** Where a pattern begins to read. Only patterns: `stable` always counts from registration. */
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

export interface WaitMatch {
  /** A name of `PREDICATES`; within an alternative `anyOf[1].pattern`. */
  readonly predicate: string;
  /** The matched text, cut to `maxMatchBytes`. For patterns and prompts. */
  readonly text?: string | undefined;
  /** The screen showed it and the stream did not; it then has no positions. */
  readonly on?: "screen" | undefined;
  /**
   * The first byte of the match's first character, and one past the last byte of its last. Escape sequences inside are
   * included, those around it are not; the LF of a CR LF is both bytes.
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

/** Progress of one set by the names of its predicates, as in `details.predicates` of a TIMEOUT. */
export type PredicateProgress = Readonly<Record<string, unknown>>;

export interface WaitOptions {
  /** Frees the wait at once; the result rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}
