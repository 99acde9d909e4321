/**
 * What a session says, as one stream of text that waits read like a pane's output: the program's words as they come, a line
 * `$ NAME` for each tool call, what tools answered. `outputSeq` counts its bytes.
 */
import { DEFAULT_RING_BYTES } from "../../protocol/limits.ts";
import type { AppError } from "../../protocol/errors.ts";
import { OutputRing } from "../panes/outputRing.ts";
import type { ExitStatus, OutputListener, OutputSlice, OutputSource } from "../tmux/outputSource.ts";
import { TEXT_PART_BYTES } from "./sessionLimits.ts";

interface SessionTextOptions {
  readonly id: string;
  readonly epoch: string;
  /** A listener threw: for the log, never for the stream. */
  readonly onListenerError: (error: unknown) => void;
}

export class SessionText implements OutputSource {
  readonly id: string;
  readonly epoch: string;
  readonly #onListenerError: (error: unknown) => void;
  readonly #ring = new OutputRing(DEFAULT_RING_BYTES);
  #listeners: readonly OutputListener[] = [];
  #exit: ExitStatus | undefined;
  #closed: AppError | undefined;
  #toldSeq = 0;
  #isAtLineStart = true;

  constructor({ id, epoch, onListenerError }: SessionTextOptions) {
    this.id = id;
    this.epoch = epoch;
    this.#onListenerError = onListenerError;
  }

  get outputSeq(): number {
    return this.#ring.headSeq;
  }

  get tailSeq(): number {
    return this.#ring.tailSeq;
  }

  get exit(): ExitStatus | undefined {
    return this.#exit;
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

  /** Goes on where the text stands. Nobody is told before `tell`. */
  write(text: string): void {
    if (text === "") return;
    const bytes = Buffer.from(text, "utf8");
    for (let at = 0; at < bytes.length; at += TEXT_PART_BYTES) {
      this.#ring.append(bytes.subarray(at, at + TEXT_PART_BYTES));
    }
    this.#isAtLineStart = text.endsWith("\n");
  }

  endLine(): void {
    if (!this.#isAtLineStart) this.write("\n");
  }

  /** One or more lines of their own. */
  line(text: string): void {
    if (text === "") return;
    this.endLine();
    this.write(text);
    this.endLine();
  }

  /** Listeners hear of what was written: once for all of a chunk. */
  tell(): void {
    const [from, to] = [this.#toldSeq, this.outputSeq];
    if (from === to) return;
    this.#toldSeq = to;
    this.#each((listener) => listener.advanced(from, to));
  }

  /** Later calls add nothing. */
  end(status: ExitStatus): void {
    if (this.#exit !== undefined) return;
    this.endLine();
    this.tell();
    this.#exit = status;
    this.#each((listener) => listener.exited(status));
  }

  /** Nothing follows. Safe to call twice. */
  close(error: AppError): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) this.#guarded(() => listener.closed(error));
  }

  #each(tell: (listener: OutputListener) => void): void {
    for (const listener of this.#listeners) this.#guarded(() => tell(listener));
  }

  #guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#onListenerError(error);
    }
  }
}

/** A tool call as one line; a name is a program's, and may hold anything. */
export const toolLine = (name: string): string => `$ ${name.replaceAll(/\p{Cc}+/gu, " ")}`;
