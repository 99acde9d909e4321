/** Panes come and go and leave nothing; when tmux has no room it says so and goes on. */
import { expect, test } from "vitest";
import { ownedFixture, privateSocket } from "../support/tmux/ownedFixture.ts";
import { churn, limitedTmux, manyPanes } from "../support/tmux/sizeScenarios.ts";

test("20 panes", async () => {
  await using fixture = await ownedFixture();
  expect(await manyPanes(fixture.server, 20)).toMatchObject({ made: 20, refusal: undefined, worksAfterwards: true });
});

test("a tmux without descriptors refuses with RESOURCE_LIMIT and goes on", async () => {
  await using place = privateSocket();
  await using fixture = await ownedFixture({ tmux: limitedTmux(place.directory, 64) });
  const result = await manyPanes(fixture.server, 100);
  expect(result).toMatchObject({
    refusal: expect.stringMatching(/^RESOURCE_LIMIT /) as unknown,
    worksAfterwards: true,
  });
  expect(result.made).toBeGreaterThan(10);
  expect(fixture.server.status().state).toBe("ready");
});

test("20 lives of a session leave only the hub's own window", async () => {
  await using fixture = await ownedFixture();
  expect(await churn(fixture.server, fixture.socket, 20)).toHaveLength(1);
  expect(fixture.log).toEqual([]);
});
