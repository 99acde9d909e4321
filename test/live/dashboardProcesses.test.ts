/**
 * Which process an agent is, over everything that a pane outlives: a restart of the daemon, a respawn, a second agent in the
 * same pane. An answer reaches the agent that asked, or nobody.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DatabaseSync } from "../../daemon/ops/sql/sqlite.ts";
import { type AgentProgram, agentUnderShell } from "../support/agents/agentPrograms.ts";
import { type DashboardFixture, dashboardFixture } from "../support/daemon/dashboardFixture.ts";
import { AGENT, ask, atWork } from "../support/daemon/dashboardTurns.ts";
import { eventually } from "../support/clock/eventually.ts";

const SHELL = ["bash", "--norc", "-i"];

const agentPid = async ({ server, pane }: AgentProgram): Promise<number> =>
  (await server.foreground(pane)).processes!.find(({ isShell }) => !isShell)!.pid;

const cards = async (dashboard: DashboardFixture) =>
  (await dashboard.call("GET", "/api/agents")).json["agents"] as readonly Readonly<Record<string, unknown>>[];

const available = (dashboard: DashboardFixture) =>
  eventually(async () => (await cards(dashboard))[0]?.["is_bridge_connected"] === true);

/** Its process is noted a moment after its first hook. */
async function identified(databasePath: string): Promise<void> {
  const database = new DatabaseSync(databasePath, { readOnly: true });
  try {
    const noted = database.prepare("SELECT process FROM agents WHERE process IS NOT NULL");
    await eventually(() => noted.get() !== undefined);
  } finally {
    database.close();
  }
}

/** Replaces whatever is in the pane; ready once it reads. */
async function respawn({ server, socket, pane }: AgentProgram): Promise<string> {
  const taken = join(socket.directory, "taken");
  socket.tmux("respawn-pane", "-k", "-t", pane, `exec cat > ${taken}`);
  const isReading = async () => (await server.foreground(pane)).processes?.[0]?.names.includes("cat") === true;
  await eventually(async () => existsSync(taken) && (await isReading()));
  return taken;
}

async function onlyGot({ socket, pane }: AgentProgram, taken: string): Promise<void> {
  socket.tmux("send-keys", "-t", pane, "last", "Enter");
  await eventually(() => readFileSync(taken, "utf8") !== "");
  expect(readFileSync(taken, "utf8")).toBe("last\n");
}

/** The database of a daemon that has ended, with the agent's question in it. */
async function askedBefore({ server, socket, pane }: AgentProgram): Promise<string> {
  const databasePath = join(socket.directory, "d.db");
  await using before = await dashboardFixture(server, { databasePath });
  await atWork(before, pane);
  await ask(before);
  await identified(databasePath);
  return databasePath;
}

test("after a restart of the daemon the question is answered, in the process that asked it", async () => {
  await using agent = await agentUnderShell("inkPrompt", SHELL);
  const databasePath = await askedBefore(agent);
  await using after = await dashboardFixture(agent.server, { databasePath });
  await available(after);
  const { json } = await after.respond(AGENT, { text: "still there" });
  expect(json).toMatchObject({ status: "ok", delivery: "submitted" });
  await agent.channel.next("submit");
  expect(agent.channel.submits()).toEqual(["still there"]);
});

test("the question is not answered if another program has taken the pane since", async () => {
  await using agent = await agentUnderShell("inkPrompt", SHELL);
  const databasePath = await askedBefore(agent);
  const taken = await respawn(agent);
  // `exists`: nothing but the process tells the one program from the other.
  const availability = { level: "exists", programs: new Set(["cat"]) } as const;
  await using after = await dashboardFixture(agent.server, { databasePath, availability });
  const { status, json } = await after.respond(AGENT, { text: "for somebody else" });
  expect([status, json["error_type"]]).toEqual([409, "wrong_state"]);
  await onlyGot(agent, taken);
  await eventually(async () => (await cards(after))[0]?.["state"] === "COMPLETE");
});

test("a respawned pane: the question of the program before is over, and a new agent's hook makes the pane its own", async () => {
  await using agent = await agentUnderShell("inkPrompt", SHELL);
  const databasePath = join(agent.socket.directory, "d.db");
  await using dashboard = await dashboardFixture(agent.server, { databasePath });
  const events = await atWork(dashboard, agent.pane);
  await ask(dashboard);
  await identified(databasePath);
  const from = agent.channel.log.length;
  agent.socket.tmux("respawn-pane", "-k", "-t", agent.pane, ...agent.channel.argv("inkPrompt"));
  await events.next(({ data }) => data["event_type"] === "process_ended");
  await agent.channel.next("ready", from);
  const hook = (name: string, body: object) =>
    dashboard.hook(name, { session_id: "s2", tmux_pane: agent.pane, ...body });
  const { json } = await hook("session-start", { source: "startup" });
  expect(json).toMatchObject({ agent_id: AGENT, correlation_method: "tmux_pane_id" });
  await hook("user-prompt-submit", { prompt: "go" });
  await hook("notification", { message: "Claude is waiting for your input" });
  await eventually(async () => (await dashboard.respond(AGENT, { text: "for the new one" })).status === 200);
  await agent.channel.next("submit", from);
  expect(agent.channel.submits(from)).toEqual(["for the new one"]);
});

test("an agent that another one starts takes neither its pane, nor its answers, nor its end", async () => {
  await using agent = await agentUnderShell("inkPrompt", SHELL);
  const databasePath = join(agent.socket.directory, "d.db");
  await using dashboard = await dashboardFixture(agent.server, { databasePath });
  await atWork(dashboard, agent.pane);
  await identified(databasePath);
  const { json: start } = await nested(dashboard, agent, "session-start", { source: "startup", cwd: "/work/project" });
  expect(start).toMatchObject({ is_new_agent: true, correlation_method: "created" });
  await nested(dashboard, agent, "user-prompt-submit", { prompt: "a part of it" });
  await nested(dashboard, agent, "stop", {});
  const before = await cards(dashboard);
  expect(before.map((card) => [card["agent_id"] === AGENT, card["tmux_pane_id"]])).toEqual([
    [true, agent.pane],
    [false, null],
  ]);
  await nested(dashboard, agent, "session-end", {});
  expect(await cards(dashboard)).toMatchObject([{ agent_id: AGENT, state: "PROCESSING", tmux_pane_id: agent.pane }]);
  await ask(dashboard);
  const { json } = await dashboard.respond(AGENT, { text: "for the first" });
  expect(json).toMatchObject({ status: "ok", delivery: "submitted" });
});

const nested = (dashboard: DashboardFixture, { pane }: AgentProgram, name: string, body: object) =>
  dashboard.hook(name, { session_id: "nested", tmux_pane: pane, ...body });

test("an agent that was stopped leaves its pane to the one that is started then", async () => {
  await using agent = await agentUnderShell("inkPrompt", SHELL);
  await using dashboard = await dashboardFixture(agent.server);
  await atWork(dashboard, agent.pane);
  const first = await agentPid(agent);
  const from = agent.channel.log.length;
  process.kill(first, "SIGSTOP");
  await eventually(async () => (await agent.server.foreground(agent.pane)).processes?.[0]?.isShell === true);
  const line = `${agent.channel.argv("inkPrompt").join(" ")}\n`;
  await agent.server.input(agent.pane, [{ kind: "text", bytes: Buffer.from(line) }]);
  await agent.channel.next("ready", from);
  const hook = (name: string, body: object) =>
    dashboard.hook(name, { session_id: "s2", tmux_pane: agent.pane, ...body });
  await hook("session-start", { source: "startup" });
  await hook("user-prompt-submit", { prompt: "go" });
  await hook("notification", { message: "Claude is waiting for your input" });
  await eventually(async () => (await dashboard.respond(AGENT, { text: "for the second" })).status === 200);
  await agent.channel.next("submit", from);
  expect(agent.channel.submits(from)).toEqual(["for the second"]);
  process.kill(first, "SIGKILL");
});
