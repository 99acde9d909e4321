/** 1,000 mixed add-in operations under strace. */
import { expect, test } from "vitest";
import { report } from "../support/daemon/loadReport.ts";
import { countSpawns } from "../support/daemon/spawnScenario.ts";

test("1,000 mixed add-in operations start nothing", async () => {
  const count = await countSpawns(1_000);
  report("spawns", { ...count });
  expect(count).toEqual({ operations: 1_000, wrong: [], execve: 0, forks: 0 });
});
