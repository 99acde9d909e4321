import { describe, expect, test } from "vitest";
import { OutputRing } from "../../../../daemon/panes/outputRing.ts";
import { heldBy } from "../../../support/daemon/heapBytes.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);

function read(ring: OutputRing, from: number, maxBytes?: number): string {
  const slice = ring.read(from, maxBytes);
  if (slice.kind === "bytes") return `${slice.from}-${slice.to} ${Buffer.from(slice.bytes).toString()}`;
  if (slice.kind === "gap") return `gap ${slice.gap.from}-${slice.gap.to} ${slice.gap.reason}`;
  return `end ${slice.at}`;
}

describe("OutputRing", () => {
  test("costs nothing before the first byte", () => {
    const ring = new OutputRing(1_000_000);
    expect([ring.bufferBytes, ring.headSeq, ring.tailSeq, read(ring, 0)]).toEqual([0, 0, 0, "end 0"]);
    ring.append(bytes("x"));
    expect(ring.bufferBytes).toBe(8_192);
  });

  test("reads from any position, bounded when asked", () => {
    const ring = new OutputRing(100);
    ring.append(bytes("hello "));
    ring.append(bytes("world"));
    expect(read(ring, 0)).toBe("0-11 hello world");
    expect(read(ring, 6)).toBe("6-11 world");
    expect(read(ring, 4, 3)).toBe("4-7 o w");
    expect(read(ring, 4, 0)).toBe("4-5 o");
    expect(read(ring, 11)).toBe("end 11");
    expect(read(ring, 999)).toBe("end 11");
  });

  test("keeps at least what it must, and names what is gone", () => {
    const ring = new OutputRing(4);
    ring.append(bytes("abcd"));
    ring.append(bytes("efgh"));
    expect(ring.tailSeq).toBe(0);
    ring.append(bytes("i"));
    expect([ring.tailSeq, ring.headSeq, ring.bufferBytes]).toEqual([4, 9, 8]);
    expect(read(ring, 0)).toBe("gap 0-4 evicted");
    expect(read(ring, 3)).toBe("gap 3-4 evicted");
    expect(read(ring, 4)).toBe("4-9 efghi");
  });

  test("takes more at once than it keeps", () => {
    const ring = new OutputRing(4);
    ring.append(bytes("ab"));
    ring.append(bytes("0123456789"));
    expect(read(ring, ring.tailSeq)).toBe("0-12 ab0123456789");
    ring.append(bytes("!!!"));
    expect(read(ring, ring.headSeq - 4)).toBe("11-15 9!!!");
  });

  test("reserve gives room, commit says how much of it was used", () => {
    const ring = new OutputRing(10);
    const { buffer, at } = ring.reserve(8);
    buffer.set(bytes("abc"), at);
    ring.commit(3);
    ring.append(bytes("d"));
    expect(read(ring, 0)).toBe("0-4 abcd");
  });

  test("a hole takes one position, is read once and in its place", () => {
    const ring = new OutputRing(10);
    ring.append(bytes("ab"));
    expect(ring.addHole("paused")).toEqual({ from: 2, to: 3, reason: "paused" });
    expect(ring.addHole("epoch")).toEqual({ from: 3, to: 4, reason: "epoch" });
    ring.append(bytes("cd"));
    expect([0, 1, 2, 3, 4, 6].map((from) => read(ring, from))).toEqual(
      [["0-2 ab", "1-2 b", "gap 2-3 paused", "gap 3-4 epoch", "4-6 cd", "end 6"]].flat(),
    );
  });

  test("a hole that left the ring is part of what was evicted", () => {
    const ring = new OutputRing(4);
    ring.addHole("paused");
    ring.append(bytes("abcd"));
    ring.append(bytes("efgh"));
    expect(read(ring, 0)).toBe("gap 0-1 evicted");
    expect(read(ring, 1)).toBe("1-9 abcdefgh");
  });

  test("holes that left the ring are forgotten", () => {
    const ring = new OutputRing(64);
    const held = heldBy(() => {
      for (let hole = 0; hole < 100_000; hole += 1) ring.addHole("paused");
    });
    expect(held).toBeLessThan(1_000_000);
    expect(read(ring, ring.headSeq)).toBe("end 100000");
  });

  test("grows to twice what it keeps, then no more", () => {
    const ring = new OutputRing(20_000);
    const sizes = new Set<number>();
    for (let round = 0; round < 200; round += 1) {
      ring.append(new Uint8Array(1_000));
      sizes.add(ring.bufferBytes);
    }
    expect([...sizes]).toEqual([8_192, 16_384, 32_768, 40_000]);
    expect(ring.headSeq - ring.tailSeq).toBeGreaterThanOrEqual(20_000);
  });
});
