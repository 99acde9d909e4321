/**
 * What a wait or a subscriber reads: sequenced bytes with reported gaps and an end. A pane's stream is one; any other
 * stream of text (an agent session's) can be another.
 */
import type { AppError } from "../../protocol/errors.ts";
import type { Gap, Position } from "../../protocol/position.ts";
import type { InputPart } from "./io.ts";

/** How a pane's program ended (tmux `pane_dead_status`, `pane_dead_signal`). Both absent when tmux does not know. */
export interface ExitStatus {
  readonly exitCode?: number | undefined;
  readonly signal?: number | undefined;
}

/** What our control clients wait for: that nothing comes or goes on a tmux that attaching could end now. */
export interface Waiting {
  readonly for: "calm";
  readonly sinceUnixMs: number;
}

export type OutputSlice =
  /** `bytes` is a view that is valid until the turn ends: copy what must outlive it. Never empty. */
  | { readonly kind: "bytes"; readonly from: number; readonly to: number; readonly bytes: Uint8Array }
  /** Nothing readable from here until `to`: continue from there. */
  | { readonly kind: "gap"; readonly gap: Gap }
  /** Everything up to `at` has been read. */
  | { readonly kind: "end"; readonly at: number };

/** Synchronous callbacks; whatever one throws is logged and counted, and affects no other listener. */
export interface OutputListener {
  /** Bytes `[from, to)` have arrived: once per source and turn. */
  advanced(from: number, to: number): void;
  /** A gap appeared at the head of the stream. */
  gap(gap: Gap): void;
  /** Our input, once tmux has taken it. */
  typed?(parts: readonly InputPart[]): void;
  /** The program has ended; the source stays readable. */
  exited(status: ExitStatus): void;
  /** The source is gone; nothing follows. `NOT_FOUND` when the pane went, `CONNECTION_LOST` when tmux did. */
  closed(error: AppError): void;
}

export interface OutputSource {
  /** Unique among live sources, for instance `%5`. */
  readonly id: string;
  readonly epoch: string;
  /** The head: bytes received so far in this epoch. */
  readonly outputSeq: number;
  /** The oldest byte still readable. */
  readonly tailSeq: number;
  /** Set once the program has ended. */
  readonly exit: ExitStatus | undefined;
  /** What its connection waits for before anything can come, if it does; a gap tells the end of that. */
  readonly waiting?: Waiting | undefined;
  /** At most `maxBytes` from `from`; a position outside `[tailSeq, outputSeq]` gives a gap or the end, never throws. */
  read(from: number, maxBytes?: number): OutputSlice;
  /** Returns the unsubscribe function, safe to call twice. */
  subscribe(listener: OutputListener): () => void;
}

export interface OutputOptions {
  /**
   * For somebody who only wants to know that something was written: nobody attaches to a guest's session for it. All
   * that comes is a gap, within some two seconds of the output; positions mean nothing to anybody else. Elsewhere the
   * same as otherwise.
   */
  readonly unfollowed?: boolean | undefined;
}

/** Where a source's head is now. */
export const headOf = (source: OutputSource): Position => ({ epoch: source.epoch, outputSeq: source.outputSeq });

/** What is retained between two positions, oldest first, gaps included. */
export function* slicesOf(
  source: OutputSource,
  from: number,
  to = Number.POSITIVE_INFINITY,
): Generator<Exclude<OutputSlice, { readonly kind: "end" }>> {
  for (let at = from; at < to;) {
    const slice = source.read(at, to - at);
    if (slice.kind === "end") return;
    yield slice;
    at = slice.kind === "bytes" ? slice.to : slice.gap.to;
  }
}
