/**
 * One pane's output in one epoch: the ring, and the listeners that are told when it advances. Listeners are called once
 * per chunk of the connection, after the whole chunk has been taken in; an exception of one is logged and does not
 * affect the others.
 */
import { decodeOctal } from "../../protocol/control/octal.ts";
import type { AppError } from "../../protocol/errors.ts";
import type { GapReason } from "../../protocol/position.ts";
import type { Clock } from "../time/clock.ts";
import type { InputPart } from "../tmux/io.ts";
import { OutputRing } from "./outputRing.ts";
import type { ExitStatus, OutputListener, OutputSlice, OutputSource } from "../tmux/outputSource.ts";

export interface PaneStreamOptions {
  readonly id: string;
  readonly epoch: string;
  readonly retainBytes: number;
  /** Without it nobody learns when output came. */
  readonly clock?: Pick<Clock, "nowMs"> | undefined;
  /** A listener threw: for the log, never for the stream. */
  readonly onListenerError: (error: unknown) => void;
}

export class PaneStream implements OutputSource {
  readonly id: string;
  readonly epoch: string;
  readonly #ring: OutputRing;
  readonly #clock: Pick<Clock, "nowMs"> | undefined;
  readonly #onListenerError: (error: unknown) => void;
  #lastOutputMs: number | undefined;
  #listeners: readonly OutputListener[] = [];
  #announcedSeq = 0;
  #exit: ExitStatus | undefined;
  #closed: AppError | undefined;

  constructor(options: PaneStreamOptions) {
    this.id = options.id;
    this.epoch = options.epoch;
    this.#ring = new OutputRing(options.retainBytes);
    this.#clock = options.clock;
    this.#onListenerError = options.onListenerError;
  }

  get outputSeq(): number {
    return this.#ring.headSeq;
  }

  get tailSeq(): number {
    return this.#ring.tailSeq;
  }

  get lastOutputMs(): number | undefined {
    return this.#lastOutputMs;
  }

  get exit(): ExitStatus | undefined {
    return this.#exit;
  }

  get bufferBytes(): number {
    return this.#ring.bufferBytes;
  }

  read(from: number, maxBytes?: number): OutputSlice {
    return this.#ring.read(from, maxBytes);
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

  /** Takes in one `%output` argument, still escaped. Returns the number of bytes it held. */
  takeEscaped(line: Uint8Array, from: number, to: number): number {
    const { buffer, at } = this.#ring.reserve(to - from);
    const length = decodeOctal(line, from, to, buffer, at) - at;
    this.#ring.commit(length);
    return length;
  }

  /** Takes in unescaped bytes. */
  take(bytes: Uint8Array): void {
    this.#ring.append(bytes);
  }

  /** Tells the listeners how far the stream has advanced since the last call. */
  announce(): void {
    const from = this.#announcedSeq;
    const to = this.#ring.headSeq;
    if (from === to) return;
    this.#announcedSeq = to;
    this.#lastOutputMs = this.#clock?.nowMs();
    for (const listener of this.#listeners) this.#guarded(() => listener.advanced(from, to));
  }

  /** tmux dropped output here. */
  declareHole(reason: GapReason): void {
    this.announce();
    const gap = this.#ring.addHole(reason);
    this.#announcedSeq = gap.to;
    for (const listener of this.#listeners) this.#guarded(() => listener.gap(gap));
  }

  /** The program has ended. Later calls add nothing. */
  declareExit(status: ExitStatus): void {
    if (this.#exit !== undefined) return;
    this.announce();
    this.#exit = status;
    for (const listener of this.#listeners) this.#guarded(() => listener.exited(status));
  }

  /** tmux has taken this input; the output it causes comes after it. */
  declareTyped(parts: readonly InputPart[]): void {
    for (const listener of this.#listeners) this.#guarded(() => listener.typed?.(parts));
  }

  /** A new program runs in the pane now. */
  declareAlive(): void {
    this.#exit = undefined;
  }

  /** Nothing follows. The ring stays readable for holders of the stream. */
  close(error: AppError): void {
    if (this.#closed !== undefined) return;
    this.announce();
    this.#closed = error;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) this.#guarded(() => listener.closed(error));
  }

  #guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#onListenerError(error);
    }
  }
}
