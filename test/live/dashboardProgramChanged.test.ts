/** Answers through the dashboard reach the agent that asked, or nobody: not its shell, not what took its pane. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type AgentProgram, agentUnderShell } from "../support/agents/agentPrograms.ts";
import { type DashboardFixture, dashboardFixture } from "../support/daemon/dashboardFixture.ts";
import { AGENT, ask, askedOnScreen, atWork, identified } from "../support/daemon/dashboardTurns.ts";
import { eventually } from "../support/clock/eventually.ts";

const agentPid = async ({ server, pane }: AgentProgram): Promise<number> =>
  (await server.foreground(pane)).processes!.find(({ isShell }) => !isShell)!.pid;

async function shellHasRun({ server, pane }: AgentProgram, path: string): Promise<void> {
  await server.input(pane, [{ kind: "keys", keys: ["C-c"] }]);
  await server.input(pane, [{ kind: "text", bytes: Buffer.from(`: > '${path}'\n`) }]);
  await eventually(() => existsSync(path));
}

const CHANGED = { status: 409, error_type: "wrong_state", reason: "program_changed" };

const BODIES: readonly (readonly [string, (canary: string) => object])[] = [
  ["text", (canary) => ({ text: `touch ${canary}` })],
  ["option", () => ({ mode: "select", option_index: 0 })],
  ["key", () => ({ mode: "keys", keys: ["Enter"] })],
];

const WAITS: Readonly<Record<string, () => Promise<[AgentProgram, DashboardFixture]>>> = {
  "with hooks": async () => {
    const agent = await agentUnderShell("inkPrompt", ["bash", "--norc", "-i"]);
    const dashboard = await dashboardFixture(agent.server);
    await atWork(dashboard, agent.pane);
    await ask(dashboard);
    return [agent, dashboard];
  },
  "without hooks": async () => {
    const agent = await agentUnderShell("dialog", ["bash", "--norc", "-i"], { options: { busyMs: 0 } });
    const dashboard = await dashboardFixture(agent.server);
    await askedOnScreen(dashboard, agent);
    return [agent, dashboard];
  },
};

describe.each(Object.entries(WAITS))("an agent %s that was killed while it waited", (_hooks, waits) => {
  test.each(BODIES)("gets no %s, and its shell runs nothing", async (_what, body) => {
    const waiting = await waits();
    await using agent = waiting[0];
    await using dashboard = waiting[1];
    const canary = join(agent.socket.directory, "canary");
    // What stands on the shell's line now would run with an Enter.
    process.kill(await agentPid(agent), "SIGKILL");
    await eventually(async () => (await agent.server.foreground(agent.pane)).processes?.[0]?.isShell === true);
    await agent.server.input(agent.pane, [{ kind: "text", bytes: Buffer.from(`touch ${canary}`) }]);
    const { status, json } = await dashboard.respond(AGENT, body(canary));
    expect({ ...json, status }).toMatchObject(CHANGED);
    await shellHasRun(agent, join(agent.socket.directory, "done"));
    expect(existsSync(canary)).toBe(false);
  });
});

test("an agent whose process is gone does not await input any more", async () => {
  await using agent = await agentUnderShell("inkPrompt", ["bash", "--norc", "-i"]);
  await using dashboard = await dashboardFixture(agent.server);
  await atWork(dashboard, agent.pane);
  await ask(dashboard);
  const events = await dashboard.events();
  process.kill(await agentPid(agent), "SIGKILL");
  const state = await events.next("state_changed");
  expect(state.data).toMatchObject({ event_type: "process_ended", new_state: "COMPLETE" });
  const { json } = await dashboard.respond(AGENT, { text: "x" });
  expect(json["error_type"]).toBe("wrong_state");
});

test("a program that took the pane gets no answer to the question of the one before", async () => {
  await using agent = await agentUnderShell("inkPrompt", ["bash", "--norc", "-i"]);
  await using dashboard = await dashboardFixture(agent.server);
  await atWork(dashboard, agent.pane);
  await ask(dashboard);
  await identified(dashboard);
  const taken = join(agent.socket.directory, "taken");
  agent.socket.tmux("respawn-pane", "-k", "-t", agent.pane, `cat > ${taken}`);
  await eventually(() => existsSync(taken));
  const { status, json } = await dashboard.respond(AGENT, { text: "for somebody else" });
  expect({ ...json, status }).toMatchObject(CHANGED);
  agent.socket.tmux("send-keys", "-t", agent.pane, "last", "Enter");
  await eventually(() => readFileSync(taken, "utf8") !== "");
  expect(readFileSync(taken, "utf8")).toBe("last\n");
});
