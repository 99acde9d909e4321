/** Positions in a pane's output: `epoch:outputSeq`, a byte offset that is valid within one epoch only. */
import { invalidArgument } from "./errors.ts";

export interface Position {
  /** Identifies one uninterrupted connection to tmux; changes with each new one. Letters and digits. */
  readonly epoch: string;
  /** Bytes of the pane's output received in this epoch before this point. */
  readonly outputSeq: number;
}

/** Why bytes are missing between two positions. */
export type GapReason =
  /** the bytes left the ring before they were read */
  | "evicted"
  /** tmux paused the pane and dropped data (`%pause`); how much is unknown */
  | "paused"
  /** the position belongs to another epoch */
  | "epoch";

/** A gap: bytes from `from` (inclusive) to `to` (exclusive) are not available. */
export interface Gap {
  readonly from: number;
  readonly to: number;
  readonly reason: GapReason;
}

/** A gap whose ends may be in different epochs. */
export interface StreamGap {
  readonly from: Position;
  readonly to: Position;
  readonly reason: GapReason;
}

export const gapWithin = (epoch: string, { from, to, reason }: Gap): StreamGap => ({
  from: { epoch, outputSeq: from },
  to: { epoch, outputSeq: to },
  reason,
});

export const formatGap = ({ from, to, reason }: StreamGap) => ({
  from: formatPosition(from),
  to: formatPosition(to),
  reason,
});

export const formatPosition = (position: Position): string => `${position.epoch}:${position.outputSeq}`;

/** @throws AppError INVALID_ARGUMENT if the text is not a position. */
export function parsePosition(text: string): Position {
  const match = /^([0-9A-Za-z]{1,32}):(\d{1,16})$/.exec(text);
  const outputSeq = Number(match?.[2]);
  if (match?.[1] === undefined || !Number.isSafeInteger(outputSeq)) {
    throw invalidArgument("a position must be `epoch:outputSeq`, from a capture or a stream frame");
  }
  return { epoch: match[1], outputSeq };
}
