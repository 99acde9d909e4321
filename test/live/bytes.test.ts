/** A pane's bytes reach a subscriber unchanged. */
import { expect, test } from "vitest";
import { allByteValues, hostileFlood } from "../support/tmux/byteScenarios.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";

test("all 256 byte values, split anywhere, arrive exactly", async () => {
  await using fixture = await ownedFixture();
  const { received, expected } = await allByteValues(fixture.server, 200);
  expect(received.equals(expected)).toBe(true);
});

test("5 MiB of hostile bytes arrive exactly, without a gap", async () => {
  await using fixture = await ownedFixture();
  const result = await hostileFlood(fixture.server, fixture.socket.directory, 5);
  expect(result).toMatchObject({ receivedBytes: result.sentBytes, receivedHash: result.sentHash, gaps: 0 });
  expect(fixture.log).toEqual([]);
});
