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
  test("costs nothing before the first byte, and grows when it is full", () => {
    const ring = new OutputRing(1_000_000);
    expect([ring.bufferBytes, ring.headSeq, ring.tailSeq, read(ring, 0)]).toEqual([0, 0, 0, "end 0"]);
    for (const length of [1, 8_191]) {
      ring.append(new Uint8Array(length));
      expect(ring.bufferBytes).toBe(8_192);
    }
    ring.append(bytes("x"));
    expect(ring.bufferBytes).toBe(16_384);
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
