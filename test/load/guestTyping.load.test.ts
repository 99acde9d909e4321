/**
 * A person types into the program to which prompts are being submitted: neither loses a character, and every prompt
 * stays in one piece. TYPING_PROMPTS (100) per program.
 */
import { expect, test } from "vitest";
import { seeded } from "../support/agents/agentsEngines.ts";
import { typingRun } from "../support/agents/agentsTyping.ts";
import { report } from "../support/daemon/loadReport.ts";

const PROMPTS = Number(process.env["TYPING_PROMPTS"] ?? 100);
const SEED = Number(process.env["TYPING_SEED"] ?? Date.now() % 1_000_000);

test.each([
  { program: "inkPrompt", pauseMs: 120 },
  { program: "inkPrompt", pauseMs: 40 },
  { program: "codexLike", pauseMs: 120 },
  { program: "piLike", pauseMs: 120 },
] as const)("$program, a key every $pauseMs ms", async ({ program, pauseMs }) => {
  const figures = await typingRun({ program, prompts: PROMPTS, pauseMs, random: seeded(SEED) });
  report("guestTyping", { program, pauseMs, seed: SEED, ...figures });
  expect(figures.isPersonWhole).toBe(true);
  expect(figures.whole).toBe(figures.prompts);
});
