/**
 * Starts of the agents that people run, offline: STARTS (5) of each with a prompt, each taken once, and PAIRS (5) of them
 * beside the same steps by hand: a session, a wait until it is ready, the prompt. By hand is `hand` with the arguments that a
 * start gives, so that the conversation can be resumed, and `plain` without them: Gemini CLI's `--session-id` alone takes
 * 0.3 s, because the program then waits for a lock of its own (0.61.0). Needs AGENT_KIT (the kit's folder) and
 * TUI_INST (the programs' folder); REAL_AGENTS=cc,pi2 runs those alone.
 */
import { randomUUID } from "node:crypto";
import { expect, describe, test } from "vitest";
import { within } from "../../daemon/time/within.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { type Prepared, startWorld, type StartWorld } from "../support/agents/agentStartWorld.ts";
import { realAgents } from "../support/agents/realAgents.ts";
import { eventually } from "../support/clock/eventually.ts";
import { report } from "../support/daemon/loadReport.ts";

const STARTS = Number(process.env["STARTS"] ?? 5);
const PAIRS = Number(process.env["PAIRS"] ?? 5);
const START_WITHIN_MS = 120_000;
/** A first turn may load what the program needs for it. */
const ARRIVES_WITHIN_MS = 60_000;

const WAYS = ["start", "hand", "plain"] as const;
type Way = (typeof WAYS)[number];

const programs = realAgents();

// Without a program the lines above say why.
describe.skipIf(programs.length === 0).each(programs.length === 0 ? (["cc"] as const) : programs)("%s", (name) => {
  test.skipIf(STARTS === 0)("a start gives the prompt once, or says what is asked", async () => {
    await using world = await startWorld();
    const outcomes: Record<string, number> = {};
    const wrong: string[] = [];
    for (let at = 0; at < STARTS; at += 1) {
      const mark = `start${at}x${Math.random().toString(36).slice(2, 8)}`;
      const { outcome, reason, screen, agentId, pane } = await started(world, world.prepare(name), mark);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      const times = await timesOf(world, mark, outcome === "submitted");
      if (outcome === "submitted" ? times !== 1 : times !== 0 || outcome !== "asking") {
        wrong.push(`${outcome} (${reason}), and the model got it ${times} times:\n${screen}`);
      }
      if (agentId === undefined) wrong.push(`${outcome}, but no agent is known in ${pane}`);
      world.socket.tmux("kill-session", "-t", `=${mark}`);
      await eventually(() => world.agents.agents().length === 0, 20);
    }
    report("agentStart", { campaign: "starts", program: name, starts: STARTS, ...outcomes, wrong: wrong.length });
    expect(wrong).toEqual([]);
  });

  test.skipIf(PAIRS === 0)("a start takes no longer than the same steps by hand", async () => {
    await using world = await startWorld();
    const times: Record<Way, number[]> = { start: [], hand: [], plain: [] };
    for (let at = 0; at < WAYS.length * PAIRS; at += 1) {
      const prepared = world.prepare(name);
      const mark = `pair${at}x${Math.random().toString(36).slice(2, 8)}`;
      const beginMs = performance.now();
      // In turns, and each as often first as last.
      const way = WAYS[(at + Math.floor(at / WAYS.length)) % WAYS.length]!;
      if (way === "start") expect((await started(world, prepared, mark)).outcome).toBe("submitted");
      else await handMade(world, prepared, mark, way === "hand" ? conversationArgs(world, prepared) : []);
      times[way].push(performance.now() - beginMs);
      world.socket.tmux("kill-session", "-t", `=${mark}`);
      await eventually(() => world.agents.agents().length === 0, 20);
    }
    const [startMs, handMs, plainMs] = [median(times.start), median(times.hand), median(times.plain)];
    const ratio = thousandths(startMs / handMs);
    report("agentStart", {
      campaign: "pairs",
      program: name,
      pairs: PAIRS,
      startMs: Math.round(startMs),
      handMs: Math.round(handMs),
      ratio,
      plainMs: Math.round(plainMs),
      plainRatio: thousandths(startMs / plainMs),
    });
    expect(ratio).toBeLessThanOrEqual(1.15);
  });
});

const started = ({ work, server }: StartWorld, prepared: Prepared, mark: string) =>
  work.starts.start({
    ...prepared,
    server,
    serverName: "user",
    name: mark,
    prompt: `say ${mark} back`,
    timeoutMs: START_WITHIN_MS,
    startedBy: "test",
  });

async function handMade(
  { server, engine }: StartWorld,
  { program, cwd, environment, kind }: Prepared,
  mark: string,
  args: readonly string[],
): Promise<void> {
  const { activePane: pane } = await server.createSession({
    name: mark,
    command: [program, ...args],
    cwd,
    environment,
  });
  if (pane === undefined) throw new Error("no pane");
  using watched = engine.readiness.watch(server, pane);
  const isReady = await within(systemClock, START_WITHIN_MS, false, (end) => {
    const judge = (): void => {
      if (watched.current.state === "idle" && watched.current.profile === kind.name) end(true);
    };
    judge();
    return watched.subscribe(judge);
  });
  if (!isReady) throw new Error("not ready");
  const { outcome } = await engine.delivery.submit({
    server,
    pane,
    text: `say ${mark} back`,
    profile: kind.name,
    timeoutMs: START_WITHIN_MS,
  });
  expect(outcome).toBe("submitted");
}

/** With which it begins a conversation whose id is known, as a start does. */
const conversationArgs = ({ transcripts }: StartWorld, { kind, cwd, environment }: Prepared): readonly string[] =>
  transcripts.get(kind.name)?.begin?.(randomUUID(), { cwd, environment }).args ?? [];

/** How often the model was asked it. */
async function timesOf(world: StartWorld, mark: string, isWanted: boolean): Promise<number> {
  const times = (): number => world.asked().filter(({ text }) => text.includes(mark)).length;
  const endMs = Date.now() + ARRIVES_WITHIN_MS;
  if (isWanted) await eventually(() => times() > 0 || Date.now() > endMs, 20);
  return times();
}

const thousandths = (ratio: number): number => Math.round(ratio * 1_000) / 1_000;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
