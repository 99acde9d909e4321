/**
 * One wait's eye on a stream of text: which part of it is its own, and what it reports to. Identical waits share a matcher;
 * what differs is here. Text before `start` does not exist for the wait, and no match reaches across it: it moves
 * forward past an echo or a gap. Text from `visibleTo` on is not shown yet, because it may turn out to be the echo of
 * what was typed.
 */
import type { AppError } from "../../../protocol/errors.ts";
import type { Gap } from "../../../protocol/position.ts";
import type { PlacedText } from "./textPiece.ts";

interface FoundInStream {
  /** Undefined for what is not text. */
  readonly text?: string | undefined;
  /** Source positions, see `WaitMatch`. */
  readonly from: number;
  readonly to: number;
}

/** What the screen or tmux shows has no place in the stream. */
interface FoundElsewhere {
  readonly text: string;
  readonly on?: "screen" | undefined;
  readonly from?: undefined;
}

export type FoundText = FoundInStream | FoundElsewhere;

/** What the watches of one predicate report to. */
export interface Latch {
  /** What was found first. */
  match: FoundText | undefined;
  found(match: FoundText): void;
  /** Output this watch could not see. */
  missed(gap: Gap): void;
  failed(error: AppError): void;
}

export interface PatternWatch {
  start: number;
  visibleTo: number;
  readonly latch: Latch;
}

/** What was found, in the words of a result. */
export function foundText(text: PlacedText, from: number, to: number, maxBytes: number): FoundInStream {
  // A cut inside a character would end in U+FFFD: back up to where it begins.
  let end = Math.min(to, from + maxBytes);
  while (end > from && end < to && (text.byteAt(end) & 0xc0) === 0x80) end--;
  return {
    text: text.view(from, end).toString("utf8"),
    from: text.sourceOf(from),
    to: Math.max(text.sourceOf(from), text.sourceEndOf(to)),
  };
}
