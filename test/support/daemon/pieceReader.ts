/**
 * A reader of a pane whose daemon and tmux come and go, and its judge. Positions must join without a seam unless a declared
 * gap lies between; what was read without a gap is one piece of what was printed, at the place that its epoch and position
 * give it; and no piece reaches back into the one before, so that no byte comes twice.
 */
import type { PaneEvent } from "../../../adapters/client/client.ts";
import { parsePosition } from "../../../protocol/position.ts";

/** What came without a gap. */
interface Piece {
  readonly epoch: string;
  readonly from: number;
  readonly chunks: Uint8Array[];
  length: number;
}

/** Of the end of the text, enough for a line. */
const TAIL_CHARACTERS = 200;

export class PieceReader {
  readonly pieces: Piece[] = [];
  readonly gaps: string[] = [];
  snapshots = 0;
  bytes = 0;
  position = "";
  closed: string | undefined;
  fault: Error | undefined;
  tail = "";

  resumeFrom(): { readonly from?: string } {
    this.closed = undefined;
    return this.position === "" ? {} : { from: this.position };
  }

  /** Until the stream ends; what goes wrong is kept in `fault`. */
  async read(events: AsyncGenerator<PaneEvent, void, void>): Promise<void> {
    try {
      for await (const event of events) this.#see(event);
      if (this.closed === undefined) throw new Error("the stream ended without `closed`");
    } catch (error) {
      this.fault ??= error as Error;
    }
  }

  #see(event: PaneEvent): void {
    switch (event.kind) {
      case "open":
        if (this.position === "") this.#begin(event.position);
        else this.#mustBeAt(event.position);
        return;
      case "output": {
        const { epoch, outputSeq } = parsePosition(event.position);
        this.#mustBeAt(`${epoch}:${outputSeq - event.bytes.length}`);
        const piece = this.pieces.at(-1)!;
        piece.chunks.push(event.bytes);
        piece.length += event.bytes.length;
        this.bytes += event.bytes.length;
        this.position = event.position;
        this.tail = (this.tail + Buffer.from(event.bytes).toString("latin1")).slice(-TAIL_CHARACTERS);
        return;
      }
      case "gap":
        this.#mustBeAt(event.from);
        this.gaps.push(event.reason);
        this.#begin(event.to);
        return;
      case "snapshot":
        this.#mustBeAt(event.position);
        this.snapshots += 1;
        return;
      case "closed":
        this.closed = event.code;
        return;
      case "resize":
      case "readiness":
      case "input":
      case "exit":
        throw new Error(`${event.kind} came`);
    }
  }

  #mustBeAt(position: string): void {
    if (position !== this.position) throw new Error(`at ${this.position}, but ${position} came`);
  }

  #begin(position: string): void {
    const { epoch, outputSeq } = parsePosition(position);
    this.pieces.push({ epoch, from: outputSeq, chunks: [], length: 0 });
    this.position = position;
    this.tail = "";
  }
}

/** @throws Error at the first byte that is lost, doubled or another one. */
export function judgePieces(readers: readonly PieceReader[], printed: Buffer): void {
  // Where an epoch's position 0 lies in what was printed: the longest piece tells, because no line is printed twice.
  const longest = new Map<string, Piece>();
  for (const piece of readers.flatMap(({ pieces }) => pieces)) {
    if (piece.length > (longest.get(piece.epoch)?.length ?? 0)) longest.set(piece.epoch, piece);
  }
  const starts = new Map<string, number>();
  for (const [epoch, { from, chunks }] of longest) {
    const at = printed.indexOf(Buffer.concat(chunks));
    if (at < 0) throw new Error(`what was read in epoch ${epoch} is not one piece of what was printed`);
    starts.set(epoch, at - from);
  }
  for (const { pieces } of readers) {
    let end = 0;
    for (const { epoch, from, chunks, length } of pieces) {
      const start = starts.get(epoch);
      if (length === 0 || start === undefined) continue;
      const at = start + from;
      if (at < end) throw new Error(`${end - at} bytes came twice, at ${epoch}:${from}`);
      if (!printed.subarray(at, at + length).equals(Buffer.concat(chunks)))
        throw new Error(`other bytes than were printed, from ${epoch}:${from} on`);
      end = at + length;
    }
    if (end !== printed.length) throw new Error(`the last ${printed.length - end} bytes did not come`);
  }
}
