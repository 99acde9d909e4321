/**
 * Prompts submitted exactly once, with exactly their text: to the prompt box made of Ink, DELIVERY_PROMPTS (100) of each
 * length, and a quarter of that to each of the other programs.
 */
import { expect, test } from "vitest";
import type { AgentName } from "../support/agents/agentPrograms.ts";
import { promptRun, PROMPTS } from "../support/agents/agentsPrompts.ts";
import { report } from "../support/daemon/loadReport.ts";

const EACH = Number(process.env["DELIVERY_PROMPTS"] ?? 100);
const KINDS = Object.keys(PROMPTS);
const OTHERS: readonly AgentName[] = [
  "placeholder",
  "swallowEnter",
  "queues",
  "codexLike",
  "geminiLike",
  "opencodeLike",
  "piLike",
];

test.each(KINDS)("inkPrompt, %s", async (kind) => {
  const figures = await promptRun("inkPrompt", kind, EACH);
  report("delivery", { program: "inkPrompt", kind, ...figures });
  expect(figures.exact).toBe(EACH);
});

test.each(OTHERS.flatMap((program) => KINDS.map((kind) => ({ program, kind }))))(
  "$program, $kind",
  async ({ program, kind }) => {
    const tries = Math.ceil(EACH / 4);
    const figures = await promptRun(program, kind, tries);
    report("delivery", { program, kind, ...figures });
    expect(figures.exact).toBe(tries);
  },
);
