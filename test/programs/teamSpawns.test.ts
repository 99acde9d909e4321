/** After start-up no team operation starts a process; workers are tmux's. */
import { expect, test } from "vitest";
import { countTeamSpawns } from "../fixtures/team/teamSpawns.ts";
import { hasStrace } from "../support/daemon/spawnScenario.ts";

const traced = hasStrace();
if (!traced) process.stderr.write("strace is not installed: the count of started processes is skipped\n");

test.runIf(traced)("50 mixed team operations start nothing", async () => {
  expect(await countTeamSpawns(50)).toEqual({ operations: 50, wrong: [], execve: 0, forks: 0 });
});
