/** 500 MB to a hashing subscriber while 20 others never read: hash, memory, and another pane's echo. */
import { expect, test } from "vitest";
import { flood } from "../support/daemon/nativeFlood.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";

test.each(["websocket", "sse"] as const)("500 MB by %s", async (transport) => {
  await using fixture = await ownedFixture();
  const { elapsedMs, bytes, ...result } = await flood(fixture.server, {
    lines: 51_000_000,
    transport,
    lazyReaders: 20,
  });
  const figures = { transport, mb: bytes / 1e6, mbPerSec: bytes / 1e3 / elapsedMs, ...result };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  expect(bytes).toBeGreaterThan(498_000_000);
  expect(result).toMatchObject({ gaps: 0, hash: result.expectedHash });
  expect(result.rssGrowthMb).toBeLessThan(100);
  expect(result.echoP99Ms).toBeLessThan(100);
});
