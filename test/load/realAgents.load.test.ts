/**
 * The agents that people run, offline: KILLS (6) ends of each at random moments of a submit or an answer,
 * DELIVERY_PROMPTS (12) prompts to each, and ANSWERS (4) to dialogs through a dashboard that their hooks report to. Needs AGENT_KIT (the kit's folder) and TUI_INST (the programs' folder);
 * REAL_AGENTS=cc,pi runs those alone, REAL_KINDS those kinds of prompts, REAL_SEED repeats a run.
 */
import { writeSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { seeded } from "../support/agents/agentsEngines.ts";
import { realAgents } from "../support/agents/realAgents.ts";
import { realKills } from "../support/agents/realKills.ts";
import { HOOKED_AGENTS, realAnswers } from "../support/agents/realAnswers.ts";
import { realPrompts } from "../support/agents/realPrompts.ts";
import { report } from "../support/daemon/loadReport.ts";

const KILLS = Number(process.env["KILLS"] ?? 6);
const PROMPTS = Number(process.env["DELIVERY_PROMPTS"] ?? 12);
const ANSWERS = Number(process.env["ANSWERS"] ?? 4);
const SEED = Number(process.env["REAL_SEED"] ?? Date.now() % 1_000_000);

const programs = realAgents();

// Without a program the lines above say why.
describe.skipIf(programs.length === 0).each(programs.length === 0 ? (["cc"] as const) : programs)("%s", (name) => {
  // On a busy machine each takes long.
  const timeout = 600_000 + KILLS * 60_000;
  test.skipIf(KILLS === 0)("whatever it ends in the middle of goes to nobody else", { timeout }, async () => {
    const tries = await realKills(name, KILLS, seeded(SEED));
    table(
      tries,
      ({ what, way, isNamed }) => `${what}${isNamed ? ", named" : ""}, ${way}`,
      ({ outcome, isLeft }) => (isLeft ? `${outcome}, left` : outcome),
    );
    const count = (holds: (entry: (typeof tries)[number]) => boolean): number => tries.filter(holds).length;
    const figures = {
      kills: tries.length,
      notBegun: KILLS - tries.length,
      executed: count(({ ran }) => ran),
      textsInShell: count(({ isLeft }) => isLeft),
      keysInShell: count(({ lines }) => lines > 0),
      // Of both: what was written before the program was told to end.
      onTheirWay: count(({ lines, isLeft, bytes, isOnItsWay }) => (lines > 0 || isLeft || bytes !== "") && isOnItsWay),
      inOtherProgram: count(({ bytes, isOnItsWay }) => bytes !== "" && !isOnItsWay),
      untrueSubmitted: count(({ wrong }) => wrong === "submitted to nobody"),
      wrong: count(({ wrong }) => wrong !== undefined),
    };
    report("realAgents", { campaign: "kills", program: name, seed: SEED, ...figures });
    expect(tries.length).toBeGreaterThan(KILLS / 2);
    expect(tries.filter(({ wrong }) => wrong !== undefined)).toEqual([]);
  });

  test.skipIf(PROMPTS === 0)("what is reported of a prompt is so", async () => {
    const tries = await realPrompts(name, PROMPTS, seeded(SEED));
    table(
      tries,
      ({ kind }) => kind,
      ({ outcome, exact }) => `${outcome}${exact === 1 ? " (arrived)" : ""}`,
    );
    const count = (holds: (entry: (typeof tries)[number]) => boolean): number => tries.filter(holds).length;
    const figures = {
      prompts: tries.length,
      submitted: count(({ outcome }) => outcome === "submitted"),
      arrivedExactly: count(({ exact }) => exact === 1),
      unconfirmed: count(({ outcome }) => outcome === "echoed_unconfirmed"),
      untrue: count(({ wrong }) => wrong !== undefined),
    };
    report("realAgents", { campaign: "prompts", program: name, seed: SEED, ...figures });
    expect(tries.filter(({ wrong }) => wrong !== undefined)).toEqual([]);
  });

  test.skipIf(ANSWERS === 0 || HOOKED_AGENTS[name] === undefined)(
    "an answer through the dashboard is told once",
    async () => {
      const tries = await realAnswers(name, ANSWERS);
      const once = tries.filter(
        ({ status, told, turns }) =>
          status === 200 &&
          told.filter((type) => type === "respond").length === 1 &&
          turns.filter((intent) => intent === "answer").length === 1 &&
          turns.filter((intent) => intent === "question").length === 1,
      );
      report("realAgents", { campaign: "answers", program: name, answers: tries.length, toldOnce: once.length });
      expect(tries.filter((entry) => !once.includes(entry))).toEqual([]);
      expect(tries.length).toBe(ANSWERS);
    },
  );
});

/** What became of how many, by row. */
function table<Try>(tries: readonly Try[], row: (entry: Try) => string, column: (entry: Try) => string): void {
  const rows = new Map<string, Map<string, number>>();
  for (const entry of tries) {
    const cells = rows.get(row(entry)) ?? new Map<string, number>();
    rows.set(row(entry), cells.set(column(entry), (cells.get(column(entry)) ?? 0) + 1));
  }
  for (const [name, cells] of [...rows].sort(([a], [b]) => a.localeCompare(b))) {
    const told = [...cells].map(([what, times]) => `${times} ${what}`).join(", ");
    writeSync(1, `  ${name.padEnd(20)} ${told}\n`);
  }
}
