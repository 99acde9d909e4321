/**
 * `kill-server` with eight agents (two each of four kinds) in three sessions, then resume: the same names and layout, and
 * each conversation continued. Offline; needs AGENT_KIT (the kit's folder) and TUI_INST (the programs' folder). REAL_AGENTS
 * names other kinds, and EACH (2) how many of each.
 */
import { expect, test } from "vitest";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { type Prepared, startWorld, type StartWorld } from "../support/agents/agentStartWorld.ts";
import { type RealAgentName, realAgents } from "../support/agents/realAgents.ts";
import { eventually } from "../support/clock/eventually.ts";
import { report } from "../support/daemon/loadReport.ts";

const EACH = Number(process.env["EACH"] ?? 2);
const DEFAULT: readonly RealAgentName[] = ["cc", "codex", "gemini", "pi2"];
const START_WITHIN_MS = 180_000;

const here = realAgents();
const kinds = process.env["REAL_AGENTS"] === undefined ? here.filter((name) => DEFAULT.includes(name)) : here;

// Without a program the lines above say why.
test.skipIf(kinds.length === 0)(
  "after kill-server everything is back, each agent in its own conversation",
  async () => {
    await using world = await startWorld();
    const { server, work } = world;
    const names: string[] = [];
    const prepared = kinds.flatMap((kind) =>
      Array.from({ length: EACH }, (_, at) => [`${kind}${at}`, world.prepare(kind)] as const),
    );
    for (const [at, [name, program]] of prepared.entries()) {
      const { outcome, reason, screen } = await place(world, at, name, program);
      expect([name, outcome, reason, screen]).toMatchObject([name, "submitted", undefined, undefined]);
      names.push(name);
    }
    await eventually(() => names.every((name) => world.asked().some(({ text }) => text.includes(`first-${name}`))), 50);
    await eventually(() => world.agents.agents().every(({ readiness }) => readiness?.state === "idle"), 50);
    // Each turn's end asks for the conversation; what was found is on disk with the place.
    await eventually(
      async () =>
        (await plan(world)).length === 0 &&
        world.agents.agents().every((agent) => agent.sessionId !== undefined && agent.transcriptPath !== undefined),
      50,
    );
    const before = shapeOf(server);
    await world.killServer();
    const planned = await plan(world);
    const unplanned = planned.filter(({ outcome }) => outcome !== "planned");
    expect(unplanned.map(({ agent, reason }) => [agent.name, reason])).toEqual([]);
    expect(planned.map(({ agent }) => agent.name).toSorted()).toEqual(names.toSorted());
    const beginMs = performance.now();
    const resumed = await work.resume.resume(new Map([["user", server]]), {
      names: undefined,
      isPlan: false,
      timeoutMs: START_WITHIN_MS,
    });
    const tookMs = Math.round(performance.now() - beginMs);
    for (const { agent, pane } of resumed.filter(({ outcome }) => outcome !== "resumed")) {
      const screen = pane === undefined ? "no pane" : world.socket.tmux("capture-pane", "-p", "-S", "-", "-t", pane);
      process.stderr.write(`${agent.name}:\n${screen.trimEnd()}\n`);
    }
    expect(resumed.map(({ agent, outcome, reason }) => [agent.name, outcome, reason])).toEqual(
      resumed.map(({ agent }) => [agent.name, "resumed", undefined]),
    );
    expect(shapeOf(server)).toEqual(before);
    // Nothing is brought back twice.
    expect(await plan(world)).toEqual([]);
    for (const agent of world.agents.agents()) {
      const { outcome } = await world.engine.delivery.submit({
        server,
        pane: agent.pane,
        text: `second-${agent.name}`,
        profile: agent.kind.name,
        timeoutMs: 60_000,
      });
      expect([agent.name, outcome]).toEqual([agent.name, "submitted"]);
    }
    const second = (name: string) => world.asked().filter(({ text }) => text.includes(`second-${name}`));
    await eventually(() => names.every((name) => second(name).length > 0), 50);
    const turns = names.map((name) => [name, second(name).map(({ turn }) => turn)]);
    report("agentResume", {
      agents: names.length,
      kinds: kinds.join(),
      tookMs,
      continued: names.filter((name) => second(name)[0]?.turn === 2).length,
    });
    expect(turns).toEqual(names.map((name) => [name, [2]]));
  },
);

const plan = ({ work, server }: StartWorld) =>
  work.resume.resume(new Map([["user", server]]), { names: undefined, isPlan: true });

/** Three sessions: the first agents of each have their own, one a part of a pane, the others a window: a narrow pane wraps the hint in some prompt boxes, which then counts as text. */
async function place({ work, server, agents }: StartWorld, at: number, name: string, prepared: Prepared) {
  const session = `work${at % 3}`;
  const there = server.findSession(session);
  const beside = agents.agents().find(({ pane }) => server.findPane(pane)?.window === there?.activeWindow);
  const where =
    there === undefined
      ? ({ kind: "session", name: session } as const)
      : at === 3 && beside !== undefined
        ? ({ kind: "split", pane: beside.pane, direction: "horizontal" } as const)
        : ({ kind: "window", session: there.id } as const);
  const request = { ...prepared, server, serverName: "user", name, where, prompt: `first-${name}`, startedBy: "test" };
  return work.starts.start({ ...request, timeoutMs: START_WITHIN_MS });
}

/** Names and layouts, without ids. */
const shapeOf = (server: TmuxServer) => {
  const { sessions, windows } = server.layout.tree();
  return sessions
    .filter(({ name }) => name.startsWith("work"))
    .map(({ name, windows: places }) => [
      name,
      places.map(({ window }) => {
        const { name: title, layout } = windows.find(({ id }) => id === window)!;
        return [title, withoutIds(layout)];
      }),
    ]);
};
const withoutIds = (layout: string): string =>
  layout.replace(/^[0-9a-f]{4},/, "").replaceAll(/(\d+x\d+,\d+,\d+),\d+/g, "$1");
