/** A ring returns the suffix of everything written, or with an exact gap. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { expect, test } from "vitest";
import { OutputRing } from "../../daemon/panes/outputRing.ts";
import type { Gap } from "../../protocol/position.ts";
import { fuzz, FUZZ_TIMEOUT_MS } from "../support/tmux/fuzz.ts";

type Step =
  | { readonly kind: "append"; readonly bytes: Uint8Array }
  | { readonly kind: "reserve"; readonly bytes: Uint8Array; readonly spare: number }
  | { readonly kind: "hole" }
  | { readonly kind: "read"; readonly back: number; readonly maxBytes: number }
  | { readonly kind: "follow" };

const arbitraryBytes = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.uint8Array({ minLength: 1, maxLength: 3 }).chain((seed) =>
    fc.integer({ min: 1, max: 4_000 }).map((times) => {
      return Uint8Array.from({ length: times }, (_unused, index) => seed[index % seed.length]! + index);
    }),
  ),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("append" as const), bytes: arbitraryBytes }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("reserve" as const), bytes: arbitraryBytes, spare: fc.nat(200) }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "hole" as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("read" as const),
      back: fc.integer({ min: -3, max: 12_000 }),
      maxBytes: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat(300)),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "follow" as const }) },
);

const HOLE = -1;

const pausedAt = (from: number): Gap => ({ from, to: from + 1, reason: "paused" });

/** Everything ever written, one number per position, holes as `HOLE`. */
class Model {
  readonly ring: OutputRing;
  readonly #retainBytes: number;
  readonly #all: number[] = [];
  #largest = 0;
  /** Where the follower is. */
  followed = 0;

  constructor(retainBytes: number) {
    this.#retainBytes = retainBytes;
    this.ring = new OutputRing(retainBytes);
  }

  take(taken: Step): void {
    switch (taken.kind) {
      case "append":
        this.ring.append(taken.bytes);
        this.#wrote(taken.bytes);
        break;
      case "reserve": {
        const { buffer, at } = this.ring.reserve(taken.bytes.length + taken.spare);
        buffer.set(taken.bytes, at);
        this.ring.commit(taken.bytes.length);
        this.#largest = Math.max(this.#largest, taken.bytes.length + taken.spare);
        this.#wrote(taken.bytes);
        break;
      }
      case "hole":
        assert.deepEqual(this.ring.addHole("paused"), pausedAt(this.#all.length));
        this.#all.push(HOLE);
        break;
      case "read":
        this.#read(Math.max(0, this.#all.length - taken.back), taken.maxBytes);
        break;
      case "follow":
        while (this.followed < this.#all.length) this.followed = this.#read(this.followed, 97);
        break;
    }
    this.#holds();
  }

  #wrote(written: Uint8Array): void {
    for (const byte of written) this.#all.push(byte);
    this.#largest = Math.max(this.#largest, written.length);
  }

  #holds(): void {
    assert.equal(this.ring.headSeq, this.#all.length);
    assert.ok(this.ring.tailSeq <= Math.max(0, this.#all.length - this.#retainBytes), "what must be kept is gone");
    const most = Math.max(2 * this.#retainBytes, this.#retainBytes + Math.max(1, this.#largest));
    assert.ok(this.ring.bufferBytes <= most, `${this.ring.bufferBytes} bytes of buffer`);
  }

  /** Reads once, checks the result against everything written, returns where to go on. */
  #read(from: number, maxBytes: number): number {
    const slice = this.ring.read(from, maxBytes);
    const tail = this.ring.tailSeq;
    if (from < tail) return this.#gap(slice, { from, to: tail, reason: "evicted" });
    if (from >= this.#all.length) {
      assert.deepEqual(slice, { kind: "end", at: this.#all.length });
      return from;
    }
    if (this.#all[from] === HOLE) return this.#gap(slice, pausedAt(from));
    const hole = this.#all.indexOf(HOLE, from);
    const to = Math.min(from + Math.max(1, maxBytes), hole === -1 ? this.#all.length : hole);
    const bytes = slice.kind === "bytes" ? [...slice.bytes] : undefined;
    assert.deepEqual({ ...slice, bytes }, { kind: "bytes", from, to, bytes: this.#all.slice(from, to) });
    return to;
  }

  #gap(slice: unknown, gap: Gap): number {
    assert.deepEqual(slice, { kind: "gap", gap });
    return gap.to;
  }
}

test(
  "read(seq) is the suffix of everything written, or an exact gap; a follower meets every position once",
  () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 1, max: 64 }), fc.constantFrom(1_000, 5_000, 9_000)),
        fc.array(step, { maxLength: 40 }),
        (retainBytes, steps) => {
          const model = new Model(retainBytes);
          for (const taken of steps) model.take(taken);
          model.take({ kind: "follow" });
          expect(model.followed).toBe(model.ring.headSeq);
        },
      ),
      fuzz(150),
    );
  },
  FUZZ_TIMEOUT_MS,
);
