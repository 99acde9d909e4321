/**
 * One pane's output for all its subscribers, across epochs. The feed listens to the source once, decides when to pass it on
 * (at once while there is little, in batches under a flood), and lets one encoded frame serve every subscriber that reads the
 * same bytes. When the connection to tmux is lost it waits for the next one; only a pane that is gone ends it.
 */
import { AppError, shuttingDown, toAppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { noConnection } from "../connection/connectionErrors.ts";
import type { PaneInfo, ServerEvent, ServerStatus } from "../tmux/inventory.ts";
import type { InputPart, Snapshot } from "../tmux/io.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";
import type { Clock, Timer } from "../time/clock.ts";
import type { ExitStatus, OutputOptions, OutputSource } from "../tmux/outputSource.ts";
import { typedBytes } from "./input/typedBytes.ts";

/**
 * Flood control: within a window, this many bytes or flushes go at once; what follows waits for the window's end. A
 * dialogue at full speed, 0.2 ms for a key and its echo in two pieces, stays below both. Bytes beyond count in the next
 * windows, so that a flood goes in one flush per window; three windows after it everything goes at once again.
 */
const WINDOW_MS = 8;
const WINDOW_BYTES = 16_384;
const MAX_COUNTED_BYTES = 3 * WINDOW_BYTES;
const WINDOW_FLUSHES = 96;

/** Between two probes for a new source. */
const RETRY_MS = 250;

export interface OutputChunk {
  readonly epoch: string;
  readonly from: number;
  readonly to: number;
  /** A view that is valid until the turn ends. */
  readonly bytes: Uint8Array;
}

/** Bytes on the wire for a chunk: the same for every subscriber of a pane. Compared by identity. */
export type FrameEncoder = (chunk: OutputChunk) => Uint8Array;

export interface FeedMember {
  /** There may be something to read, or the feed's state has changed. */
  pump(): void;
  /** The pane has a new size; screens must be redrawn. */
  resized(cols: number, rows: number): void;
  /** Whether it wants what is typed through us. */
  readonly wantsTyped?: boolean;
  typed?(source: OutputSource, bytes: Uint8Array): void;
}

/** The part of a server that a feed needs. */
export interface FeedServer extends Pick<TmuxServer, "output" | "snapshot" | "subscribe"> {
  status(): Pick<ServerStatus, "state">;
  findPane(pane: PaneId): Pick<PaneInfo, "cols" | "rows" | "exit"> | undefined;
}

export interface PaneFeedOptions {
  readonly server: FeedServer;
  readonly pane: PaneId;
  readonly clock: Clock;
  /** A subscriber threw: for the log. */
  readonly onError: (error: unknown) => void;
  /** As `OutputOptions.unfollowed`. */
  readonly unfollowed?: boolean | undefined;
}

export class PaneFeed {
  readonly pane: PaneId;
  readonly clock: Clock;
  readonly #server: FeedServer;
  readonly #outputOptions: OutputOptions;
  readonly #onError: (error: unknown) => void;
  readonly #members = new Set<FeedMember>();
  readonly #unsubscribe: () => void;
  readonly #frames = new Map<FrameEncoder, Map<number, { readonly to: number; readonly frame: Uint8Array }>>();
  #source: OutputSource;
  #unsubscribeSource: () => void;
  #ended: AppError | undefined;
  #isLive = true;
  #flushing = false;
  #timer: Timer | undefined;
  #retry: Timer | undefined;
  #windowMs = Number.NEGATIVE_INFINITY;
  #windowBytes = 0;
  #windowFlushes = 0;
  #pendingBytes = 0;
  #snapshot: Promise<Snapshot> | undefined;

  /** @throws AppError NOT_FOUND, CONNECTION_LOST */
  constructor(options: PaneFeedOptions) {
    this.pane = options.pane;
    this.clock = options.clock;
    this.#server = options.server;
    this.#onError = options.onError;
    const { state } = options.server.status();
    if (state === "connecting" || state === "closed") throw noConnection();
    this.#outputOptions = { unfollowed: options.unfollowed };
    this.#source = options.server.output(options.pane, this.#outputOptions);
    this.#unsubscribeSource = this.#listen(this.#source);
    this.#unsubscribe = options.server.subscribe((event) => this.#serverEvent(event));
  }

  /** What subscribers read; replaced after a reconnect. */
  get source(): OutputSource {
    return this.#source;
  }

  /** Whether output can come: not while tmux is being reconnected. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** Set once nothing can follow any longer. */
  get ended(): AppError | undefined {
    return this.#ended;
  }

  get exit(): ExitStatus | undefined {
    return this.#source.exit ?? this.#server.findPane(this.pane)?.exit;
  }

  get size(): { readonly cols: number; readonly rows: number } {
    const { cols = 0, rows = 0 } = this.#server.findPane(this.pane) ?? {};
    return { cols, rows };
  }

  get memberCount(): number {
    return this.#members.size;
  }

  add(member: FeedMember): void {
    this.#members.add(member);
  }

  remove(member: FeedMember): void {
    this.#members.delete(member);
  }

  /** The chunk's frame; encoded once per flush. */
  frame(encoder: FrameEncoder, chunk: OutputChunk): Uint8Array {
    if (!this.#flushing || this.#members.size === 1) return encoder(chunk);
    const frames = this.#frames.get(encoder) ?? new Map<number, { to: number; frame: Uint8Array }>();
    this.#frames.set(encoder, frames);
    const known = frames.get(chunk.from);
    if (known?.to === chunk.to) return known.frame;
    const frame = encoder(chunk);
    frames.set(chunk.from, { to: chunk.to, frame });
    return frame;
  }

  /** A snapshot of the current source; callers share one that is under way. @throws AppError */
  snapshot(): Promise<Snapshot> {
    if (!this.#isLive)
      return Promise.reject(this.#ended ?? new AppError("CONNECTION_LOST", "tmux is being reconnected"));
    this.#snapshot ??= this.#server.snapshot(this.pane).finally(() => {
      this.#snapshot = undefined;
    });
    return this.#snapshot;
  }

  /** Safe to call twice. */
  close(): void {
    this.#timer?.cancel();
    this.#retry?.cancel();
    this.#unsubscribeSource();
    this.#unsubscribe();
    this.#members.clear();
  }

  #listen(source: OutputSource): () => void {
    return source.subscribe({
      advanced: (from, to) => this.#advanced(to - from),
      gap: () => this.#flush(),
      typed: (parts) => this.#typed(source, parts),
      exited: () => this.#flush(),
      closed: (error) => this.#sourceClosed(error),
    });
  }

  #advanced(bytes: number): void {
    this.#pendingBytes += bytes;
    if (this.#timer !== undefined) return;
    const nowMs = this.clock.nowMs();
    const windows = Math.floor((nowMs - this.#windowMs) / WINDOW_MS);
    if (windows > 0) {
      this.#windowMs = nowMs;
      this.#windowBytes = Math.max(0, Math.min(this.#windowBytes, MAX_COUNTED_BYTES) - windows * WINDOW_BYTES);
      this.#windowFlushes = 0;
    }
    if (this.#windowBytes < WINDOW_BYTES && this.#windowFlushes < WINDOW_FLUSHES) this.#flush();
    else this.#timer = this.clock.callAt(this.#windowMs + WINDOW_MS, () => this.#flush());
  }

  #flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#windowBytes += this.#pendingBytes;
    this.#windowFlushes += 1;
    this.#pendingBytes = 0;
    this.#flushing = true;
    for (const member of this.#members) this.#guarded(() => member.pump());
    this.#flushing = false;
    this.#frames.clear();
  }

  #typed(source: OutputSource, parts: readonly InputPart[]): void {
    const members = [...this.#members].filter(({ wantsTyped = false }) => wantsTyped);
    if (members.length === 0) return;
    const bytes = typedBytes(parts);
    if (bytes.length > 0) for (const member of members) this.#guarded(() => member.typed?.(source, bytes));
  }

  #sourceClosed(error: AppError): void {
    this.#isLive = false;
    const isFinal = error.code !== "CONNECTION_LOST" || this.#server.status().state === "closed";
    if (isFinal) {
      this.#end(error);
      return;
    }
    this.#flush();
    this.#retryLater();
  }

  /** A server whose connections come and go one by one stays ready and does not report a new one. */
  #retryLater(): void {
    this.#retry?.cancel();
    this.#retry = this.clock.callAt(this.clock.nowMs() + RETRY_MS, () => {
      if (!this.#isLive && this.#server.status().state === "ready") this.#reattach();
    });
  }

  #end(error: AppError): void {
    if (this.#ended !== undefined) return;
    this.#isLive = false;
    this.#ended = error;
    this.#flush();
  }

  #serverEvent(event: ServerEvent): void {
    switch (event.kind) {
      case "state":
        if (event.state === "closed") this.#end(shuttingDown());
        else if (event.state === "ready" && !this.#isLive) this.#reattach();
        return;
      case "pane-closed":
        if (event.pane === this.pane) this.#end(new AppError("NOT_FOUND", `pane ${this.pane} is gone`));
        return;
      case "pane-resized":
        if (event.pane !== this.pane) return;
        for (const member of this.#members) this.#guarded(() => member.resized(event.cols, event.rows));
        return;
      case "session-created":
      case "session-closed":
      case "pane-exited":
      case "waiting":
        return;
    }
  }

  #reattach(): void {
    if (this.#ended !== undefined) return;
    try {
      const source = this.#server.output(this.pane, this.#outputOptions);
      this.#retry?.cancel();
      this.#source = source;
      this.#isLive = true;
      this.#unsubscribeSource = this.#listen(source);
      this.#flush();
    } catch (error) {
      const failure = toAppError(error);
      if (failure.code === "CONNECTION_LOST") this.#retryLater();
      else this.#end(failure);
    }
  }

  #guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#onError(error);
    }
  }
}
