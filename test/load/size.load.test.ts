/** 1,000 panes at once, 1,000 one after another, and a tmux with 256 descriptors. */
import { expect, test } from "vitest";
import { ownedFixture, privateSocket } from "../support/tmux/ownedFixture.ts";
import { report, sinceMs } from "../support/daemon/loadReport.ts";
import { churn, limitedTmux, manyPanes } from "../support/tmux/sizeScenarios.ts";
import { heapBytes } from "../support/daemon/heapBytes.ts";

test("1,000 panes", async () => {
  await using fixture = await ownedFixture();
  const result = await manyPanes(fixture.server, 1_000);
  report("panes", { ...result });
  expect(result.worksAfterwards).toBe(true);
  expect(result.refusal ?? "RESOURCE_LIMIT").toMatch(/^RESOURCE_LIMIT/);
});

test("panes under ulimit -n 256", async () => {
  await using place = privateSocket();
  await using fixture = await ownedFixture({ tmux: limitedTmux(place.directory, 256) });
  const result = await manyPanes(fixture.server, 1_000);
  report("panes.ulimit256", { ...result });
  expect(result).toMatchObject({ refusal: expect.stringMatching(/^RESOURCE_LIMIT/) as unknown, worksAfterwards: true });
});

test("lives of a session, a thousand at a time", async () => {
  await using fixture = await ownedFixture();
  const heap: number[] = [];
  const startMs = performance.now();
  let windows: readonly string[] = [];
  for (let thousand = 0; thousand <= 3; thousand += 1) {
    windows = await churn(fixture.server, fixture.socket, 1_000);
    heap.push(heapBytes());
  }
  report("churn", { cycles: 4_000, windows: windows.length, heapBytes: heap, ms: sinceMs(startMs) });
  expect(windows).toHaveLength(1);
  // What one life leaves for good would be in here a thousand times.
  expect(heap[3]! - heap[2]!).toBeLessThan(1_000_000);
});
