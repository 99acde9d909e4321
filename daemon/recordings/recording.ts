/**
 * One active recording: it subscribes to its pane and writes to a file. Lines are written whole and in order, one write at a
 * time. If the disk is slow, the subscriber waits, and output that leaves the pane's ring meanwhile is a gap. However the
 * recording ends, the file holds whole lines only.
 */
import { type FileHandle, open, rm } from "node:fs/promises";
import { type AppError, toAppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { formatGap } from "../../protocol/position.ts";
import type { CastVersion } from "../../protocol/text/asciicast.ts";
import type { Feeds, OpenSubscription } from "../panes/feeds.ts";
import type { SubscriptionSink } from "../panes/subscription.ts";
import type { Clock, Timer } from "../time/clock.ts";
import { type CastEnd, RecordingEncoder } from "./recordingEncoder.ts";
import { MAX_UNWRITTEN_BYTES } from "./recordingLimits.ts";

export interface RecordingRequest {
  readonly version: CastVersion;
  readonly maxBytes: number;
  readonly maxSec: number;
  /** Also record input typed through the daemon. */
  readonly input: boolean;
}

interface RecordingOptions extends RecordingRequest {
  readonly path: string;
  readonly source: { readonly server: string; readonly pane: PaneId };
  readonly feeds: Feeds;
  readonly clock: Clock;
  readonly startedUnixMs: number;
  /** Called when the file could not be written. */
  readonly failed: (error: unknown) => void;
}

export class Recording {
  readonly #options: RecordingOptions;
  readonly #file: FileHandle;
  readonly #encoder: RecordingEncoder;
  readonly #opened: Promise<void>;
  readonly #done: Promise<void>;
  #finish: () => void = () => undefined;
  #settleOpened: (error?: AppError) => void = () => undefined;
  #subscription: OpenSubscription | undefined;
  #timer: Timer | undefined;
  #lines: string[] = [];
  #unwrittenBytes = 0;
  #writtenBytes = 0;
  #endedMs: number | undefined;
  #failed = false;
  #draining = false;

  /**
   * Resolves once the first line is written. @throws AppError NOT_FOUND, CONNECTION_LOST, INTERNAL_ERROR; no file is
   * left
   */
  static async start(options: RecordingOptions): Promise<Recording> {
    const file = await open(options.path, "wx", 0o600);
    const recording = new Recording(options, file);
    recording.#subscribe();
    try {
      await recording.#opened;
    } catch (error) {
      await recording.#done;
      await rm(options.path, { force: true });
      throw error;
    }
    return recording;
  }

  private constructor(options: RecordingOptions, file: FileHandle) {
    const { clock, version, maxBytes, startedUnixMs, input } = options;
    this.#options = options;
    this.#file = file;
    this.#opened = new Promise((resolve, reject) => {
      this.#settleOpened = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.#done = new Promise((resolve) => {
      this.#finish = resolve;
    });
    this.#encoder = new RecordingEncoder({
      version,
      maxBytes,
      startedUnixMs,
      input,
      nowMs: () => clock.nowMs(),
      write: (line) => this.#write(line),
      onEnd: () => this.#ended(),
    });
  }

  get bytes(): number {
    return this.#encoder.bytes;
  }

  get gaps(): number {
    return this.#encoder.gaps;
  }

  get end(): CastEnd | undefined {
    return this.#failed ? "failed" : this.#encoder.ended;
  }

  get durationMs(): number {
    return this.#endedMs ?? this.#encoder.elapsedMs;
  }

  /** Resolves once the file is closed. Safe to call twice. */
  async stop(end: CastEnd): Promise<void> {
    this.#encoder.end(end);
    await this.#done;
  }

  #subscribe(): void {
    const { feeds, source, clock, maxSec } = this.#options;
    try {
      this.#subscription = feeds.subscribe(source.pane, { kind: "snapshot" }, () => this.#sink());
      this.#timer = clock.callAt(clock.nowMs() + maxSec * 1_000, () => this.#encoder.end("age"));
      this.#subscription.pump();
    } catch (error) {
      this.#settleOpened(toAppError(error));
      this.#encoder.end("pane");
    }
  }

  #sink(): SubscriptionSink {
    const encoder = this.#encoder;
    return {
      room: () => (encoder.ended === undefined ? MAX_UNWRITTEN_BYTES - this.#unwrittenBytes : 0),
      open: (_position, size) => {
        encoder.open(this.#options.source, size);
        this.#settleOpened();
      },
      output: ({ bytes }) => encoder.output(bytes),
      gap: (gap) => encoder.gap(formatGap(gap)),
      snapshot: (snapshot) => encoder.snapshot(snapshot, snapshot.data),
      resized: (cols, rows) => encoder.resized({ cols, rows }),
      ...(this.#options.input ? { typed: (typed) => encoder.input(typed) } : {}),
      exited: (exit) => encoder.exited(exit),
      closed: (error) => {
        this.#settleOpened(error);
        encoder.end(error.code === "SHUTTING_DOWN" ? "daemon" : "pane");
      },
    };
  }

  #write(line: string): void {
    this.#lines.push(line);
    this.#unwrittenBytes += Buffer.byteLength(line);
    if (!this.#draining) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    while (this.#lines.length > 0 && !this.#failed) {
      const bytes = Buffer.from(this.#lines.join(""));
      this.#lines = [];
      try {
        // oxlint-disable-next-line no-await-in-loop -- lines go in order
        await this.#file.writeFile(bytes);
        this.#writtenBytes += bytes.length;
      } catch (error) {
        // oxlint-disable-next-line no-await-in-loop -- the last thing
        await this.#fail(error);
      }
      this.#unwrittenBytes -= bytes.length;
      this.#subscription?.pump();
    }
    this.#draining = false;
    if (this.#encoder.ended !== undefined) await this.#close();
  }

  /** Keeps the lines written before. */
  async #fail(cause: unknown): Promise<void> {
    this.#failed = true;
    this.#options.failed(cause);
    await this.#file.truncate(this.#writtenBytes).catch(() => undefined);
    this.#encoder.end("failed");
  }

  #ended(): void {
    this.#endedMs = this.#encoder.elapsedMs;
    this.#timer?.cancel();
    this.#subscription?.close();
    // It holds the pane's output, and this stays as long as its file.
    this.#subscription = undefined;
    if (!this.#draining) void this.#close();
  }

  async #close(): Promise<void> {
    await this.#file.close().catch((error: unknown) => this.#options.failed(error));
    this.#finish();
  }
}
