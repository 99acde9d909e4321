/** 100 times killed with -9 in a flood. */
import { expect, test } from "vitest";
import { privateSocket } from "../support/ownedFixture.ts";
import { report } from "../support/report.ts";
import { restarts } from "../support/restartScenario.ts";

test("100 restarts", async () => {
  await using socket = privateSocket();
  const result = await restarts(socket, 100);
  report("restarts", { ...result });
  expect(result).toMatchObject({ programsLost: 0, operationsFailed: 0, mostHubs: 1, mostHooks: 3 });
});
