/**
 * A terminal's output as one stream, whatever pane of which connection it comes from: `outputSeq` continues across the
 * daemon's reconnects to tmux, respawns and restarts, and never decreases. It is a list of pieces: a pane's output in one
 * epoch, a gap of one position where a connection was lost, and the boundary between two programs. Pieces no longer kept are a
 * gap like any other. Waits and feeds read it like a pane.
 */
import type { AppError } from "../../../protocol/errors.ts";
import type { Gap } from "../../../protocol/position.ts";
import type { ExitStatus, OutputListener, OutputSlice, OutputSource } from "../../../daemon/tmux/outputSource.ts";

/**
 * Between two programs: ends the first one's unfinished sequence and line, and resets the screen for the second.
 */
export const PROGRAM_BOUNDARY: Uint8Array = Buffer.from("\u0018\r\n\u001bc");

/** Pieces kept for readers that lag by a respawn or a lost connection. */
const MAX_PIECES = 4;

type Piece =
  | { readonly kind: "output"; readonly base: number; readonly source: OutputSource; end: number | undefined }
  | { readonly kind: "bytes"; readonly base: number; readonly bytes: Uint8Array }
  | { readonly kind: "hole"; readonly base: number };

interface TerminalSourceOptions {
  readonly id: string;
  /** Of all its positions. */
  readonly epoch: string;
  /** Where it begins: 0, or past everything reported before a restart. */
  readonly base: number;
  /** A listener threw: for the log, never for the stream. */
  readonly onListenerError: (error: unknown) => void;
}

export class TerminalSource implements OutputSource {
  readonly id: string;
  readonly epoch: string;
  readonly #onListenerError: (error: unknown) => void;
  #pieces: readonly Piece[];
  #listeners: readonly OutputListener[] = [];
  #exit: ExitStatus | undefined;
  #closed: AppError | undefined;
  #leave: (() => void) | undefined;

  constructor({ id, epoch, base, onListenerError }: TerminalSourceOptions) {
    this.id = id;
    this.epoch = epoch;
    this.#onListenerError = onListenerError;
    this.#pieces = [{ kind: "bytes", base, bytes: new Uint8Array(0) }];
  }

  get outputSeq(): number {
    return endOf(this.#last);
  }

  get tailSeq(): number {
    const [first] = this.#pieces;
    if (first === undefined) return 0;
    return first.kind === "output" ? Math.min(endOf(first), first.base + first.source.tailSeq) : first.base;
  }

  get exit(): ExitStatus | undefined {
    return this.#exit;
  }

  /** Whether a pane's output flows into it. */
  get isAttached(): boolean {
    return this.#leave !== undefined;
  }

  /** Maps a position of the pane to one here; undefined for a past epoch. */
  seqOf(epoch: string, outputSeq: number): number | undefined {
    const piece = this.#pieces.findLast((each) => each.kind === "output" && each.source.epoch === epoch);
    return piece === undefined ? undefined : piece.base + outputSeq;
  }

  read(from: number, maxBytes = Number.POSITIVE_INFINITY): OutputSlice {
    const at = this.#pieces.findLastIndex((piece) => from >= piece.base && from < endOf(piece));
    const piece = this.#pieces[at];
    if (piece === undefined) {
      const { tailSeq } = this;
      if (from < tailSeq) return { kind: "gap", gap: { from, to: tailSeq, reason: "evicted" } };
      return { kind: "end", at: this.outputSeq };
    }
    const { base } = piece;
    switch (piece.kind) {
      case "hole":
        return { kind: "gap", gap: { from, to: base + 1, reason: "epoch" } };
      case "bytes": {
        const bytes = piece.bytes.subarray(from - base, from - base + maxBytes);
        return { kind: "bytes", from, to: from + bytes.length, bytes };
      }
      case "output": {
        const slice = piece.source.read(from - base, Math.min(maxBytes, endOf(piece) - from));
        if (slice.kind === "bytes") {
          return { kind: "bytes", from: slice.from + base, to: slice.to + base, bytes: slice.bytes };
        }
        if (slice.kind === "end") return { kind: "end", at: this.outputSeq };
        const { to, reason } = slice.gap;
        return { kind: "gap", gap: { from, to: Math.min(to + base, endOf(piece)), reason } };
      }
    }
  }

  subscribe(listener: OutputListener): () => void {
    if (this.#closed !== undefined) {
      const error = this.#closed;
      queueMicrotask(() => this.#guarded(() => listener.closed(error)));
      return () => undefined;
    }
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  /** Continues with this pane's output, from the first byte of its stream. */
  attach(source: OutputSource, onLost: (error: AppError) => void): void {
    this.#leave?.();
    const base = this.outputSeq;
    this.#add({ kind: "output", base, source, end: undefined });
    this.#leave = source.subscribe({
      advanced: (from, to) => this.#each((listener) => listener.advanced(from + base, to + base)),
      gap: ({ from, to, reason }) =>
        this.#each((listener) => listener.gap({ from: from + base, to: to + base, reason })),
      exited: (status) => this.declareExit(status),
      closed: (error) => {
        this.detach();
        onLost(error);
      },
    });
    const { outputSeq } = this;
    if (outputSeq > base) this.#each((listener) => listener.advanced(base, outputSeq));
    if (source.exit !== undefined) this.declareExit(source.exit);
  }

  /** Nothing more comes from the pane; what came stays readable. */
  detach(): void {
    this.#leave?.();
    this.#leave = undefined;
    const last = this.#last;
    if (last.kind === "output") last.end ??= endOf(last);
  }

  /** An unknown amount of output was lost here. */
  declareHole(): void {
    const gap: Gap = { from: this.outputSeq, to: this.outputSeq + 1, reason: "epoch" };
    this.#add({ kind: "hole", base: gap.from });
    this.#each((listener) => listener.gap(gap));
  }

  /** Later calls add nothing. */
  declareExit(status: ExitStatus): void {
    if (this.#exit !== undefined) return;
    this.#exit = status;
    this.#each((listener) => listener.exited(status));
  }

  /** Another program runs in it: its output follows the boundary. */
  declareRespawn(): void {
    this.detach();
    this.#exit = undefined;
    const from = this.outputSeq;
    this.#add({ kind: "bytes", base: from, bytes: PROGRAM_BOUNDARY });
    this.#each((listener) => listener.advanced(from, this.outputSeq));
  }

  /** Nothing follows. Safe to call twice. */
  close(error: AppError): void {
    if (this.#closed !== undefined) return;
    this.detach();
    this.#closed = error;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) this.#guarded(() => listener.closed(error));
  }

  get #last(): Piece {
    return this.#pieces.at(-1)!;
  }

  #add(piece: Piece): void {
    const last = this.#last;
    if (last.kind === "output") last.end ??= endOf(last);
    this.#pieces = [...this.#pieces.filter((each) => endOf(each) > each.base), piece].slice(-MAX_PIECES);
  }

  #each(call: (listener: OutputListener) => void): void {
    for (const listener of this.#listeners) this.#guarded(() => call(listener));
  }

  #guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#onListenerError(error);
    }
  }
}

/** Where the next piece begins. */
function endOf(piece: Piece): number {
  switch (piece.kind) {
    case "output":
      return piece.end ?? piece.base + piece.source.outputSeq;
    case "bytes":
      return piece.base + piece.bytes.length;
    case "hole":
      return piece.base + 1;
  }
}
