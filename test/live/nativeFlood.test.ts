/** The short form of test/load/nativeFlood.load.test.ts. */
import { expect, test } from "vitest";
import { flood } from "../support/daemon/nativeFlood.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";

test.each(["sse", "websocket"] as const)("5 MB by %s, every byte, while 20 others never read", async (transport) => {
  await using fixture = await ownedFixture();
  const result = await flood(fixture.server, { lines: 700_000, transport, lazyReaders: 20 });
  expect(result).toMatchObject({ gaps: 0, hash: result.expectedHash, lazyReaders: 20 });
  expect(result.bytes).toBeGreaterThan(5_000_000);
  expect(result.rssGrowthMb).toBeLessThan(100);
});
