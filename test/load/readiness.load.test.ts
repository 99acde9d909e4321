/**
 * What every program is doing, over an hour's worth of changes: known within 100 ms of the program's own change, never
 * `idle` while a question is open. READINESS_CHANGES changes per program, READINESS_SEED to repeat a run.
 */
import { expect, test } from "vitest";
import type { AgentName, AgentStart } from "../support/agents/agentPrograms.ts";
import { agentDay, type ReadinessFigures, shellDay } from "../support/agents/agentsReadiness.ts";
import { seeded } from "../support/agents/agentsEngines.ts";
import { report } from "../support/daemon/loadReport.ts";

const CHANGES = Number(process.env["READINESS_CHANGES"] ?? 600);
const SEED = Number(process.env["READINESS_SEED"] ?? Date.now() % 1_000_000);

const told = (name: string, figures: ReadinessFigures): ReadinessFigures => {
  report("readiness", { program: name, seed: SEED, ...figures });
  return figures;
};
const RIGHT = { idleWhileAsking: 0, wrong: [], late: 0 };

interface Row {
  readonly name: string;
  readonly program: AgentName;
  readonly start?: AgentStart;
}

const ROWS: readonly Row[] = [
  { name: "claude", program: "dialog" },
  { name: "claude without a library", program: "queues" },
  { name: "codex", program: "codexLike" },
  { name: "codex without OSC 7501", program: "codexLike", start: { options: { explicit: "off" } } },
  { name: "gemini", program: "geminiLike" },
  { name: "opencode", program: "opencodeLike" },
  { name: "pi", program: "piLike" },
];

test.each(ROWS)("$name", async ({ name, program, start = {} }) => {
  expect(told(name, await agentDay({ program, start, changes: CHANGES, random: seeded(SEED) }))).toMatchObject(RIGHT);
});

test.each(["marks", "plain"] as const)("bash, %s", async (marks) => {
  expect(told(`bash ${marks}`, await shellDay(marks, CHANGES, seeded(SEED)))).toMatchObject(RIGHT);
});
