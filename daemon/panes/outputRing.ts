/**
 * The last bytes of one pane's output, addressed by `outputSeq`. The buffer is twice as long as what must be retained:
 * bytes are appended until it is full, then the newest half moves to the front, so that every read is one contiguous
 * view and a byte is moved once. Holes (data tmux dropped) are remembered while their position is still in the buffer.
 */
import { INITIAL_RING_BYTES } from "../../protocol/limits.ts";
import type { Gap, GapReason } from "../../protocol/position.ts";
import type { OutputSlice } from "../tmux/outputSource.ts";

export class OutputRing {
  readonly #retainBytes: number;
  #buffer = new Uint8Array(0);
  #length = 0;
  /** outputSeq of `#buffer[0]`. */
  #baseSeq = 0;
  #holes: Gap[] = [];

  constructor(retainBytes: number) {
    this.#retainBytes = retainBytes;
  }

  /** The newest position: bytes appended so far, holes counted as one byte each. */
  get headSeq(): number {
    return this.#baseSeq + this.#length;
  }

  /** The oldest position still readable; at least the last `retainBytes` are. */
  get tailSeq(): number {
    return this.#baseSeq;
  }

  get bufferBytes(): number {
    return this.#buffer.length;
  }

  /** Room for `bytes` more: write into `buffer` at `at`, then `commit`. Valid until the next call. */
  reserve(bytes: number): { readonly buffer: Uint8Array; readonly at: number } {
    if (this.#length + bytes > this.#buffer.length) this.#makeRoom(bytes);
    return { buffer: this.#buffer, at: this.#length };
  }

  commit(bytes: number): void {
    this.#length += bytes;
  }

  append(bytes: Uint8Array): void {
    const { buffer, at } = this.reserve(bytes.length);
    buffer.set(bytes, at);
    this.commit(bytes.length);
  }

  /** Records that an unknown number of bytes is missing here. The hole takes one position, so that it can be named. */
  addHole(reason: GapReason): Gap {
    const gap = { from: this.headSeq, to: this.headSeq + 1, reason };
    const { buffer, at } = this.reserve(1);
    buffer[at] = 0;
    this.commit(1);
    this.#holes.push(gap);
    return gap;
  }

  read(from: number, maxBytes = Number.POSITIVE_INFINITY): OutputSlice {
    if (from < this.#baseSeq) return { kind: "gap", gap: { from, to: this.#baseSeq, reason: "evicted" } };
    let to = Math.min(this.headSeq, from + Math.max(1, maxBytes));
    for (const hole of this.#holes) {
      if (hole.to <= from) continue;
      if (hole.from <= from) return { kind: "gap", gap: { ...hole, from } };
      to = Math.min(to, hole.from);
      break;
    }
    if (from >= to) return { kind: "end", at: this.headSeq };
    return { kind: "bytes", from, to, bytes: this.#buffer.subarray(from - this.#baseSeq, to - this.#baseSeq) };
  }

  #makeRoom(bytes: number): void {
    const limit = Math.max(this.#retainBytes * 2, this.#retainBytes + bytes);
    const wanted = Math.max(INITIAL_RING_BYTES, this.#buffer.length * 2, this.#length + bytes);
    if (wanted <= limit) {
      const grown = new Uint8Array(wanted);
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
      return;
    }
    const keep = Math.min(this.#length, this.#retainBytes);
    const drop = this.#length - keep;
    if (this.#buffer.length < limit) {
      const full = new Uint8Array(limit);
      full.set(this.#buffer.subarray(drop, this.#length));
      this.#buffer = full;
    } else {
      this.#buffer.copyWithin(0, drop, this.#length);
    }
    this.#baseSeq += drop;
    this.#length = keep;
    this.#holes = this.#holes.filter((hole) => hole.to > this.#baseSeq);
  }
}
