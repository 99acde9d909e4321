/** After start-up no operation starts a process. */
import { expect, test } from "vitest";
import { countSpawns, hasStrace } from "../support/daemon/spawnScenario.ts";

const traced = hasStrace();
if (!traced) process.stderr.write("strace is not installed: the count of started processes is skipped\n");

test.runIf(traced)("100 mixed add-in operations start nothing", async () => {
  expect(await countSpawns(100)).toEqual({ operations: 100, wrong: [], execve: 0, forks: 0 });
});
