/** Byte integrity at length: 100 MiB of hostile bytes, all values in 5,000 rotations. */
import { expect, test } from "vitest";
import { allByteValues, hostileFlood } from "../support/tmux/byteScenarios.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { report } from "../support/daemon/loadReport.ts";

test("all 256 byte values, split anywhere", async () => {
  await using fixture = await ownedFixture();
  const { received, expected } = await allByteValues(fixture.server, 5_000);
  report("byteValues", {
    sentBytes: expected.length,
    receivedBytes: received.length,
    equal: received.equals(expected),
  });
  expect(received.equals(expected)).toBe(true);
});

test("100 MiB of hostile bytes", async () => {
  await using fixture = await ownedFixture();
  const result = await hostileFlood(fixture.server, fixture.socket.directory, 100);
  report("hostileFlood", { ...result, mbPerSecond: Math.round(result.sentBytes / 1e5 / result.seconds) / 10 });
  expect(result).toMatchObject({ receivedBytes: result.sentBytes, receivedHash: result.sentHash, gaps: 0 });
});
