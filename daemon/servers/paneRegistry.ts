/**
 * The streams and input queues of one server's panes. A stream is created with the pane's first byte or on the first request;
 * all streams belong to one epoch and end with it.
 */
import type { Clock } from "../time/clock.ts";
import type { AppError } from "../../protocol/errors.ts";
import { paneNumberOf, type PaneId, paneIdOf } from "../../protocol/ids.ts";
import { MAX_INPUT_BYTES_PER_PANE, MAX_INPUT_BYTES_WAITING } from "../../protocol/limits.ts";
import type { GapReason } from "../../protocol/position.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import { ByteBudget } from "../ops/byteBudget.ts";
import type { CaptureContext } from "../panes/askPane.ts";
import type { CaptureFiles } from "../panes/captureFiles.ts";
import { InputQueue } from "../panes/input/inputJobs.ts";
import type { ExitStatus } from "../tmux/outputSource.ts";
import { paneGone } from "../panes/paneGone.ts";
import type { PaneStream, PaneStreamOptions } from "../panes/paneStream.ts";
import type { ServerCounters } from "../tmux/inventory.ts";

export interface PaneRegistryOptions<Stream extends PaneStream = PaneStream> {
  readonly retainBytes: number;
  readonly clock: Pick<Clock, "nowMs">;
  readonly connection: () => ControlConnection;
  readonly bufferName: () => string;
  readonly captureFiles?: CaptureFiles | undefined;
  readonly onListenerError: (error: unknown) => void;
  /** Called when a dead pane has produced output, so it was respawned (tmux does not report that). */
  readonly onRevived: (pane: PaneId) => void;
  readonly makeStream: (options: PaneStreamOptions & Pick<PaneRegistryOptions, "clock">) => Stream;
}

export class PaneRegistry<Stream extends PaneStream = PaneStream> {
  /** Bytes of ignored output of other panes on the same connection. */
  otherBytes = 0;
  readonly #options: PaneRegistryOptions<Stream>;
  #epoch = "";
  #streams = new Map<number, Stream>();
  #inputs = new Map<PaneId, InputQueue>();
  readonly #inputBudget = new ByteBudget({ maxBytes: MAX_INPUT_BYTES_WAITING, maxBytesEach: MAX_INPUT_BYTES_PER_PANE });
  #advanced = new Set<Stream>();
  #totalBytes = 0;
  /** Bytes of earlier epochs. */
  #earlierBytes = 0;
  #pauses = 0;

  constructor(options: PaneRegistryOptions<Stream>) {
    this.#options = options;
  }

  get epoch(): string {
    return this.#epoch;
  }

  /** Totals over all epochs. */
  counters(): ServerCounters {
    return { outputBytes: this.#earlierBytes + this.#totalBytes, pauses: this.#pauses };
  }

  /** Ends every stream and pending input of the previous epoch. */
  beginEpoch(epoch: string, error: AppError): void {
    const streams = this.#streams;
    const inputs = this.#inputs;
    this.#epoch = epoch;
    this.#streams = new Map();
    this.#inputs = new Map();
    this.#advanced.clear();
    this.#earlierBytes += this.#totalBytes;
    this.#totalBytes = 0;
    for (const stream of streams.values()) stream.close(error);
    for (const input of inputs.values()) input.close(error);
  }

  takeEscaped(paneNumber: number, line: Uint8Array, from: number, to: number): void {
    const stream = this.#streamOf(paneNumber);
    this.#totalBytes += stream.takeEscaped(line, from, to);
    this.#advanced.add(stream);
  }

  /** Notifies the listeners of all panes that received bytes in this chunk. */
  announce(): void {
    if (this.#advanced.size === 0) return;
    for (const stream of this.#advanced) {
      stream.announce();
      if (stream.exit !== undefined) this.#options.onRevived(stream.id as PaneId);
    }
    this.#advanced.clear();
  }

  /** The panes that have a stream. */
  streamed(): readonly PaneId[] {
    return Array.from(this.#streams.keys(), paneIdOf);
  }

  /** The pane's stream, if it has one. */
  find(paneNumber: number): Stream | undefined {
    return this.#streams.get(paneNumber);
  }

  /** Call when a new program runs in the pane after the previous one was reported as ended. */
  declareAlive(pane: PaneId): void {
    this.#streams.get(paneNumberOf(pane))?.declareAlive();
  }

  stream(pane: PaneId): Stream {
    return this.#streamOf(paneNumberOf(pane));
  }

  /** The context for a capture of the pane. @throws AppError CONNECTION_LOST */
  captureContext(pane: PaneId, connection = this.#options.connection()): CaptureContext {
    return {
      pane,
      connection,
      stream: this.stream(pane),
      totalOutputBytes: () => this.#totalBytes + this.otherBytes,
      files: this.#options.captureFiles,
    };
  }

  input(pane: PaneId): InputQueue {
    let queue = this.#inputs.get(pane);
    if (queue === undefined) {
      queue = new InputQueue({
        pane,
        connection: this.#options.connection,
        bufferName: this.#options.bufferName,
        budget: this.#inputBudget,
        onTyped: (parts) => this.#streams.get(paneNumberOf(pane))?.declareTyped(parts),
      });
      this.#inputs.set(pane, queue);
    }
    return queue;
  }

  declareHole(pane: PaneId, reason: GapReason): void {
    if (reason === "paused") this.#pauses += 1;
    this.stream(pane).declareHole(reason);
  }

  declareExit(pane: PaneId, status: ExitStatus): void {
    this.stream(pane).declareExit(status);
  }

  closePane(pane: PaneId, error: AppError = paneGone(pane)): void {
    const number = paneNumberOf(pane);
    const stream = this.#streams.get(number);
    const input = this.#inputs.get(pane);
    this.#streams.delete(number);
    this.#inputs.delete(pane);
    if (stream !== undefined) {
      this.#advanced.delete(stream);
      stream.close(error);
    }
    input?.close(error);
  }

  #streamOf(paneNumber: number): Stream {
    let stream = this.#streams.get(paneNumber);
    if (stream === undefined) {
      const { retainBytes, clock, onListenerError, makeStream } = this.#options;
      stream = makeStream({ id: paneIdOf(paneNumber), epoch: this.#epoch, retainBytes, clock, onListenerError });
      this.#streams.set(paneNumber, stream);
    }
    return stream;
  }
}
