/** An output source in memory, with a ring of its own size: what tests and benches write is what waits read. */
import type { ExitStatus, OutputListener, OutputSlice, OutputSource } from "../../../daemon/tmux/outputSource.ts";
import type { AppError } from "../../../protocol/errors.ts";
import type { Gap } from "../../../protocol/position.ts";

export class MemorySource implements OutputSource {
  readonly id: string;
  readonly epoch: string;
  readonly #ringBytes: number;
  /** Twice the ring, so that a read is one view. */
  readonly #buffer: Uint8Array;
  #base = 0;
  #headSeq = 0;
  #tailSeq = 0;
  #holes: Gap[] = [];
  #exit: ExitStatus | undefined;
  #listeners: readonly OutputListener[] = [];

  constructor(options: { readonly id?: string; readonly epoch?: string; readonly ringBytes?: number } = {}) {
    this.id = options.id ?? "%0";
    this.epoch = options.epoch ?? "e1";
    this.#ringBytes = options.ringBytes ?? 524_288;
    this.#buffer = new Uint8Array(this.#ringBytes * 2);
  }

  get outputSeq(): number {
    return this.#headSeq;
  }

  get tailSeq(): number {
    return this.#tailSeq;
  }

  get exit(): ExitStatus | undefined {
    return this.#exit;
  }

  get listeners(): number {
    return this.#listeners.length;
  }

  /** Takes bytes in and tells the listeners, as one chunk of the connection does. At most `ringBytes` at once. */
  write(output: string | Uint8Array): void {
    const bytes = typeof output === "string" ? Buffer.from(output, "utf8") : output;
    if (bytes.length === 0) return;
    this.#store(bytes);
    const from = this.#headSeq - bytes.length;
    for (const listener of this.#listeners) listener.advanced(from, this.#headSeq);
  }

  /** A hole of `bytes` bytes at the head. */
  gap(bytes: number, reason: Gap["reason"] = "paused"): void {
    const gap: Gap = { from: this.#headSeq, to: this.#headSeq + bytes, reason };
    this.#store(new Uint8Array(bytes));
    this.#holes.push(gap);
    for (const listener of this.#listeners) listener.gap(gap);
  }

  end(status: ExitStatus): void {
    this.#exit = status;
    for (const listener of this.#listeners) listener.exited(status);
  }

  /** A new program runs in the pane. */
  respawn(): void {
    this.#exit = undefined;
  }

  close(error: AppError): void {
    for (const listener of this.#listeners) listener.closed(error);
  }

  read(from: number, maxBytes = Infinity): OutputSlice {
    if (from >= this.#headSeq) return { kind: "end", at: this.#headSeq };
    if (from < this.#tailSeq) return { kind: "gap", gap: { from, to: this.#tailSeq, reason: "evicted" } };
    const hole = this.#holes.find((each) => each.to > from);
    if (hole !== undefined && hole.from <= from) return { kind: "gap", gap: { ...hole, from } };
    const to = Math.min(hole?.from ?? this.#headSeq, from + maxBytes);
    return { kind: "bytes", from, to, bytes: this.#buffer.subarray(from - this.#base, to - this.#base) };
  }

  subscribe(listener: OutputListener): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  #store(bytes: Uint8Array): void {
    const used = this.#headSeq - this.#base;
    if (used + bytes.length > this.#buffer.length) {
      const kept = Math.min(this.#ringBytes - bytes.length, this.#headSeq - this.#tailSeq);
      this.#buffer.copyWithin(0, used - kept, used);
      this.#base = this.#headSeq - kept;
    }
    this.#buffer.set(bytes, this.#headSeq - this.#base);
    this.#headSeq += bytes.length;
    this.#tailSeq = Math.max(this.#tailSeq, this.#base, this.#headSeq - this.#ringBytes);
  }
}
