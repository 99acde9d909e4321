/**
 * Readiness and delivery on agent programs, shortly: what the load tests of the same names do at length. Times are
 * reported there; here only what must hold on any machine is demanded. Each test has a server and a program of its own and
 * mostly waits for them, so several run at a time.
 */
import { expect, test } from "vitest";
import { seeded } from "../support/agents/agentsEngines.ts";
import { dialogRace } from "../support/agents/agentsRace.ts";
import { agentDay, shellDay } from "../support/agents/agentsReadiness.ts";
import { typingRun } from "../support/agents/agentsTyping.ts";
import { hookedRace } from "../support/agents/hookedRace.ts";

test.concurrent.each(["dialog", "codexLike", "geminiLike", "opencodeLike", "piLike"] as const)(
  "%s: every change is noticed, and a question is never taken for idleness",
  async (program) => {
    const figures = await agentDay({ program, changes: 12, random: seeded(3) });
    // A dialog that is drawn over late, on a loaded machine, may be seen once more; the load test counts that as well.
    const wrong = figures.wrong.filter((one) => !/^asking by \w+, \d{1,3} ms after the program became busy$/.test(one));
    expect({ idleWhileAsking: figures.idleWhileAsking, wrong }).toEqual({ idleWhileAsking: 0, wrong: [] });
  },
);

test.concurrent.each(["marks", "plain"] as const)("bash, %s: running and waiting are told apart", async (marks) => {
  expect(await shellDay(marks, 8, seeded(3))).toMatchObject({ wrong: [] });
});

test.concurrent("a question that opens while a prompt is submitted is not answered by it", async () => {
  const options = { program: "dialog", tries: 10, random: seeded(11), holdAskMs: 1_500, whileBusy: true } as const;
  const { accidents, strayKeys, mistold } = await dialogRace(options);
  expect({ accidents, strayKeys, mistold }).toEqual({ accidents: 0, strayKeys: {}, mistold: [] });
});

test.concurrent("a question that the agent's hook tells of before it opens is not answered by a prompt", async () => {
  const { accidents, strayKeys } = await hookedRace("dialog", 10, seeded(11));
  expect({ accidents, strayKeys }).toEqual({ accidents: 0, strayKeys: {} });
});

test.concurrent("a person who types meanwhile loses nothing, and the prompts stay whole", async () => {
  const figures = await typingRun({ program: "inkPrompt", prompts: 6, pauseMs: 120, random: seeded(3) });
  expect(figures).toMatchObject({ isPersonWhole: true, whole: figures.prompts });
});
