/**
 * The source that waits and subscribers read: sequenced bytes with reported gaps and an end. A pane's stream is one; any other
 * stream of text, such as an agent session's, can be one too.
 */
import type { AppError } from "../../protocol/errors.ts";
import type { Gap, Position } from "../../protocol/position.ts";
import type { InputPart } from "./io.ts";

/** How a pane's program ended (tmux `pane_dead_status`, `pane_dead_signal`). Both are absent if tmux does not know. */
export interface ExitStatus {
  readonly exitCode?: number | undefined;
  readonly signal?: number | undefined;
}

/** As shells report it: 128 plus the signal's number for a program that a signal ended. */
export const shellStatusOf = ({ exitCode, signal }: ExitStatus = {}): number | undefined =>
  exitCode ?? (signal === undefined ? undefined : 128 + signal);

/** Our control clients wait for sessions and clients to stop changing, because attaching now could crash tmux. */
export interface Waiting {
  readonly for: "calm";
  readonly sinceUnixMs: number;
}

export type OutputSlice =
  /** `bytes` is a view that is valid until the end of the turn, and never empty; copy what must outlive the turn. */
  | { readonly kind: "bytes"; readonly from: number; readonly to: number; readonly bytes: Uint8Array }
  /** Nothing is readable before the gap's end; continue from there. */
  | { readonly kind: "gap"; readonly gap: Gap }
  /** Everything up to `at` has been read. */
  | { readonly kind: "end"; readonly at: number };

/** Synchronous callbacks; an error in one is logged and affects no other listener. */
export interface OutputListener {
  /** Bytes `[from, to)` have arrived: once per source and turn. */
  advanced(from: number, to: number): void;
  /** A gap appeared at the head of the stream. */
  gap(gap: Gap): void;
  /** Called with our input, once tmux has taken it. */
  typed?(parts: readonly InputPart[]): void;
  /** Called when the program has ended; the source stays readable. */
  exited(status: ExitStatus): void;
  /** Called when the source is gone; nothing follows. `NOT_FOUND` if the pane is gone, `CONNECTION_LOST` if tmux is. */
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
  /** When the newest output came, by the server's clock; undefined if none has come yet, or that is not known. */
  readonly lastOutputMs?: number | undefined;
  /** Set while no output can arrive because its connection waits; a gap follows when it begins. */
  readonly waiting?: Waiting | undefined;
  /** Reads at most `maxBytes` from `from`; a position outside `[tailSeq, outputSeq]` gives a gap or the end, and never throws. */
  read(from: number, maxBytes?: number): OutputSlice;
  /** Returns the unsubscribe function, safe to call twice. */
  subscribe(listener: OutputListener): () => void;
}

export interface OutputOptions {
  /**
   * For a reader that only needs to know that something was written: on a guest no client attaches to the session. The
   * reader gets only a gap, within about two seconds of the output, and its positions mean nothing to other readers. On
   * other servers this option has no effect.
   */
  readonly unfollowed?: boolean | undefined;
}

/** The current position of a source's head. */
export const headOf = (source: OutputSource): Position => ({ epoch: source.epoch, outputSeq: source.outputSeq });

/** The kept output between two positions, oldest first, including gaps. */
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
