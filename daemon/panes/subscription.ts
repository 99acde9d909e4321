/**
 * One reader of a pane: a cursor that moves over every byte once and in order, or reports what it skips. A sink that
 * has no room is not written to; its cursor stays, and it reads on from the ring when it has drained. What has left the
 * ring by then, what tmux dropped and what belonged to another epoch becomes a gap, followed by a snapshot to continue
 * from.
 */
import { AppError, invalidArgument, toAppError } from "../../protocol/errors.ts";
import type { GapReason, Position, StreamGap } from "../../protocol/position.ts";
import type { Snapshot } from "../tmux/io.ts";
import type { ExitStatus, OutputSource } from "../tmux/outputSource.ts";
import type { FeedMember, OutputChunk, PaneFeed } from "./paneFeed.ts";
import { tailStart } from "./tailStart.ts";

/** Most bytes of one chunk: small enough for a slow line, large enough that headers do not matter. */
const MAX_CHUNK_BYTES = 65_536;
/** When a snapshot has failed and the pane still exists, it is requested again after this. */
const RETRY_MS = 250;

export type StreamStart =
  | { readonly kind: "now" }
  | { readonly kind: "snapshot" }
  | { readonly kind: "tail"; readonly lines: number }
  | { readonly kind: "position"; readonly position: Position };

export interface TypedText {
  readonly position: Position;
  readonly bytes: Uint8Array;
  /** Bytes before it that there was no room for. */
  readonly missedBytes: number;
}

/** Where a subscription writes. An exception from it ends this subscription and no other. */
export interface SubscriptionSink {
  /** Bytes that may be written now; nothing is while it is 0 or less. One chunk may overdraw it. */
  room(): number;
  /** Called first: where reading begins. */
  open(position: Position, size: { readonly cols: number; readonly rows: number }): void;
  output(chunk: OutputChunk): void;
  gap(gap: StreamGap): void;
  snapshot(snapshot: Snapshot): void;
  /** A snapshot follows. */
  resized(cols: number, rows: number): void;
  /** What is typed through us, at its position in the output; only for a sink that has this. */
  typed?(typed: TypedText): void;
  exited(status: ExitStatus): void;
  /** Called last. */
  closed(error: AppError): void;
}

/** Why a snapshot is wanted before anything else. */
type Want =
  | { readonly kind: "start" }
  | { readonly kind: "gap"; readonly reason: GapReason }
  | { readonly kind: "resize" };

export class Subscription implements FeedMember {
  readonly #feed: PaneFeed;
  readonly #sink: SubscriptionSink;
  #source: OutputSource;
  #at: Position;
  #want: Want | undefined;
  /** A snapshot to be sent when the cursor reaches it. */
  #redraw: { readonly cols: number; readonly rows: number; readonly snapshot: Snapshot } | undefined;
  #capturing = false;
  #pumping = false;
  #exitSent = false;
  readonly #typed = new TypedBacklog();
  #done = false;

  /** @throws AppError INVALID_ARGUMENT when the position is ahead of the output. Nothing is written before `pump`. */
  constructor(feed: PaneFeed, start: StreamStart, sink: SubscriptionSink) {
    this.#feed = feed;
    this.#sink = sink;
    this.#source = feed.source;
    this.#at = this.#begin(start);
    feed.add(this);
    if (this.#want?.kind !== "start") sink.open(this.#at, feed.size);
  }

  get position(): Position {
    return this.#at;
  }

  /** Safe to call twice; nothing is written after it. */
  close(): void {
    this.#done = true;
    this.#feed.remove(this);
  }

  /** Ends the reader: writes what there is room for, any gap not yet reported, and the reason. Safe to call twice. */
  finish(error: AppError): void {
    this.#pumpSafely();
    if (this.#done) return;
    if (this.#want === undefined) this.#end(error);
    else this.#abandon(this.#want, error);
  }

  pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#step());
    } catch (error) {
      this.#end(toAppError(error));
      throw error;
    } finally {
      this.#pumping = false;
    }
  }

  resized(): void {
    this.#want ??= { kind: "resize" };
    this.pump();
  }

  get wantsTyped(): boolean {
    return this.#sink.typed !== undefined;
  }

  /** Before the first screen nothing is reported. */
  typed(source: OutputSource, bytes: Uint8Array): void {
    if (this.#want?.kind === "start") return;
    this.#typed.add(source, bytes);
    this.pump();
  }

  #begin(start: StreamStart): Position {
    const { epoch, outputSeq } = this.#source;
    switch (start.kind) {
      case "now":
        return { epoch, outputSeq };
      case "tail":
        return { epoch, outputSeq: tailStart(this.#source, start.lines) };
      case "snapshot":
        this.#want = { kind: "start" };
        return { epoch, outputSeq };
      case "position":
        if (start.position.epoch !== epoch) this.#want = { kind: "gap", reason: "epoch" };
        else if (start.position.outputSeq > outputSeq) {
          throw invalidArgument(`that position is ahead of the pane's output, which is at ${outputSeq}`);
        }
        return start.position;
    }
  }

  /** Sends one item. False: there is none now. */
  #step(): boolean {
    if (this.#done || this.#capturing || this.#sink.room() <= 0) return false;
    if (this.#want !== undefined) {
      this.#capture(this.#want);
      return false;
    }
    if (this.#sendTyped()) return true;
    const left =
      this.#redraw === undefined ? MAX_CHUNK_BYTES : this.#redraw.snapshot.position.outputSeq - this.#at.outputSeq;
    if (this.#redraw !== undefined && left <= 0) {
      const { cols, rows, snapshot } = this.#redraw;
      this.#redraw = undefined;
      this.#sink.resized(cols, rows);
      this.#sink.snapshot(snapshot);
      return true;
    }
    const { epoch } = this.#source;
    const slice = this.#source.read(this.#at.outputSeq, Math.min(MAX_CHUNK_BYTES, left, this.#bytesToTyped));
    switch (slice.kind) {
      case "bytes":
        this.#at = { epoch, outputSeq: slice.to };
        this.#sink.output({ epoch, from: slice.from, to: slice.to, bytes: slice.bytes });
        return true;
      case "gap":
        this.#want = { kind: "gap", reason: slice.gap.reason };
        return true;
      case "end":
        return this.#atEnd();
    }
  }

  /** At its position in the output, or at once when that has been passed. */
  #sendTyped(): boolean {
    const next = this.#typed.first;
    if (next === undefined) return false;
    const { source, at, bytes, missedBytes } = next;
    const isReached = source === this.#source ? at <= this.#at.outputSeq : this.#source === this.#feed.source;
    if (!isReached) return false;
    this.#typed.take();
    this.#sink.typed?.({ position: { epoch: source.epoch, outputSeq: at }, bytes, missedBytes });
    return true;
  }

  get #bytesToTyped(): number {
    const next = this.#typed.first;
    return next?.source === this.#source ? next.at - this.#at.outputSeq : MAX_CHUNK_BYTES;
  }

  #atEnd(): boolean {
    const exit = this.#source.exit ?? this.#feed.exit;
    // A new program runs in it: its end is reported as well.
    if (exit === undefined) this.#exitSent = false;
    else if (!this.#exitSent) {
      this.#exitSent = true;
      this.#sink.exited(exit);
      return true;
    }
    if (this.#source !== this.#feed.source) {
      this.#want = { kind: "gap", reason: "epoch" };
      return true;
    }
    if (this.#feed.ended !== undefined) this.#end(this.#feed.ended);
    return false;
  }

  #capture(want: Want): void {
    if (this.#feed.ended !== undefined) {
      this.#abandon(want, this.#feed.ended);
      return;
    }
    this.#capturing = true;
    void this.#askSnapshot(want);
  }

  async #askSnapshot(want: Want): Promise<void> {
    const outcome = await this.#feed.snapshot().catch((error: unknown) => toAppError(error));
    this.#capturing = false;
    if (this.#done) return;
    if (!(outcome instanceof AppError)) this.#captured(want, outcome);
    else if (outcome.code === "NOT_FOUND") this.#abandon(want, outcome);
    else {
      // The next connection pumps us; anything else is retried.
      this.#feed.clock.callAt(this.#feed.clock.nowMs() + RETRY_MS, () => this.#pumpSafely());
      return;
    }
    this.#pumpSafely();
  }

  #captured(want: Want, snapshot: Snapshot): void {
    const { source } = this.#feed;
    const isHere = snapshot.position.epoch === source.epoch;
    const isBehind = snapshot.position.epoch === this.#at.epoch && snapshot.position.outputSeq < this.#at.outputSeq;
    // It was under way when we asked, or its connection is gone: ask again.
    if (!isHere || isBehind) return;
    this.#want = undefined;
    switch (want.kind) {
      case "start":
        this.#goOnFrom(snapshot);
        this.#sink.open(snapshot.position, snapshot);
        this.#sink.snapshot(snapshot);
        return;
      case "gap":
        this.#sink.gap({ from: this.#at, to: snapshot.position, reason: want.reason });
        this.#goOnFrom(snapshot);
        this.#sink.snapshot(snapshot);
        return;
      case "resize":
        if (source === this.#source) this.#redraw = { cols: snapshot.cols, rows: snapshot.rows, snapshot };
        return;
    }
  }

  #goOnFrom(snapshot: Snapshot): void {
    this.#source = this.#feed.source;
    this.#at = snapshot.position;
    this.#redraw = undefined;
  }

  /** The pane went before its snapshot came: what is missing is still reported. */
  #abandon(want: Want, error: AppError): void {
    this.#want = undefined;
    const { epoch, outputSeq } = this.#feed.source;
    if (want.kind === "gap") this.#sink.gap({ from: this.#at, to: { epoch, outputSeq }, reason: want.reason });
    this.#end(error);
  }

  #end(error: AppError): void {
    if (this.#done) return;
    this.close();
    this.#sink.closed(error);
  }

  #pumpSafely(): void {
    try {
      this.pump();
    } catch {
      // `pump` has ended the subscription with it.
    }
  }
}

const MAX_BYTES = 1_048_576;
const MAX_PIECES = 1_024;

interface TypedPiece {
  /** The output it belongs to. */
  readonly source: OutputSource;
  /** The head of that output at the time. */
  readonly at: number;
  readonly bytes: Uint8Array;
  /** Bytes before it that were dropped. */
  readonly missedBytes: number;
}

/**
 * What was typed and has not reached one reader yet, each piece at its position in the output. Bounded: what does not
 * fit is counted, and reported with the next piece.
 */
class TypedBacklog {
  #pieces: TypedPiece[] = [];
  #bytes = 0;
  #missedBytes = 0;

  get first(): TypedPiece | undefined {
    return this.#pieces[0];
  }

  add(source: OutputSource, bytes: Uint8Array): void {
    if (this.#pieces.length >= MAX_PIECES || this.#bytes + bytes.length > MAX_BYTES) {
      this.#missedBytes += bytes.length;
      return;
    }
    this.#pieces.push({ source, at: source.outputSeq, bytes, missedBytes: this.#missedBytes });
    this.#bytes += bytes.length;
    this.#missedBytes = 0;
  }

  take(): void {
    this.#bytes -= this.#pieces.shift()?.bytes.length ?? 0;
  }
}
