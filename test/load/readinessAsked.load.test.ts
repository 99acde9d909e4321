/**
 * What one request for a pane's state says of the agents that people run, when nobody has watched the pane before: ASKED
 * (50) requests in each state, each by a daemon that has just connected. Needs AGENT_KIT and TUI_INST as realAgents.load.
 */
import { describe, expect, test } from "vitest";
import { readinessNow } from "../../adapters/operations/panes/readinessAsked.ts";
import type { ReadinessState } from "../../daemon/readiness/readiness.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { engines } from "../support/agents/agentsEngines.ts";
import { REAL_AGENTS, type RealWorld, realAgents, realWorld, until } from "../support/agents/realAgents.ts";
import { report } from "../support/daemon/loadReport.ts";
import { startGuestServer } from "../support/tmux/guestEngine.ts";

const ASKED = Number(process.env["ASKED"] ?? 50);
const programs = realAgents();

// Without a program the lines above say why.
describe.skipIf(programs.length === 0).each(programs.length === 0 ? (["cc"] as const) : programs)("%s", (name) => {
  test("one request is right about an agent that nobody watches", async () => {
    await using world = await realWorld(name);
    await world.start();
    await world.settled();
    const { asks } = REAL_AGENTS[name];
    const wrong = await askedOften(world, "idle");
    const submit = (text: string) =>
      world.engine.delivery.submit({ server: world.server, pane: world.pane, text, clearFirst: true });
    await submit("slow 600 words");
    await until(world, "busy", 30_000);
    wrong.push(...(await askedOften(world, "busy")));
    await world.engine.delivery.interrupt(world.server, world.pane);
    await until(world, "idle", 30_000);
    if (asks !== undefined) {
      await submit(`${asks} touch asked`);
      await until(world, "asking", 30_000);
      wrong.push(...(await askedOften(world, "asking")));
    }
    expect(wrong).toEqual([]);
  });
});

/** What was said instead. */
async function askedOften({ name, profile, socket, pane }: RealWorld, state: ReadinessState): Promise<string[]> {
  const wrong: string[] = [];
  const took: number[] = [];
  for (let times = 0; times < ASKED; times += 1) {
    const { socketPath } = socket;
    const server = await startGuestServer({ socketPath, env: process.env, clock: systemClock, log: () => undefined });
    using engine = engines();
    try {
      const askedMs = performance.now();
      const now = await readinessNow(engine, server, pane);
      took.push(performance.now() - askedMs);
      if (now?.state !== state || now.profile !== profile) wrong.push(`${state}: ${now?.state} (${now?.profile})`);
    } finally {
      await server.close();
    }
  }
  took.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(took[Math.ceil(took.length * share) - 1]! * 10) / 10;
  report("readinessAsked", { program: name, state, asked: ASKED, wrong: wrong.length, p50: at(0.5), p99: at(0.99) });
  return wrong;
}
