/**
 * Agents that end without a word: nothing is printed, and no hook comes. Their cards follow all the same, and what comes
 * after them in the pane gets no answer that was meant for them.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AgentChannel, type AgentProgram, ownedAgent } from "../support/agents/agentPrograms.ts";
import { type DashboardEvent, type DashboardFixture, dashboardFixture } from "../support/daemon/dashboardFixture.ts";
import { AGENT, ask, askedOnScreen, atWork, identified, untilAsked } from "../support/daemon/dashboardTurns.ts";
import { eventually } from "../support/clock/eventually.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";

/** An agent under its own name, run by a script that says nothing when it is killed. */
async function claude(script: (agent: string) => string): Promise<AgentProgram> {
  const fixture = await ownedFixture();
  const { server, socket } = fixture;
  const channel = await AgentChannel.open(socket.directory);
  const line = script(`exec -a claude ${channel.argv("inkPrompt").join(" ")}`);
  const session = await server.createSession({ name: "agent", command: ["bash", "-c", line], cols: 100, rows: 30 });
  await channel.next("ready");
  return {
    server,
    socket,
    pane: session.activePane!,
    channel,
    [Symbol.asyncDispose]: async () => {
      await fixture[Symbol.asyncDispose]();
      await channel[Symbol.asyncDispose]();
    },
  };
}

const dialogIdOf = (data: Readonly<Record<string, unknown>>): string | undefined =>
  (data["question"] as { readonly dialog_id?: string } | null | undefined)?.dialog_id;

const card = async (dashboard: DashboardFixture) => {
  const { json } = await dashboard.call("GET", "/api/agents");
  return (json["agents"] as readonly Readonly<Record<string, unknown>>[])[0];
};

async function readinessOf(dashboard: DashboardFixture): Promise<string> {
  const shown = await card(dashboard);
  const { state, profile } = shown!["readiness"] as { state: string; profile: string };
  return `${state}:${profile}`;
}

const reads = async ({ server, pane }: AgentProgram, name: string): Promise<boolean> =>
  (await server.foreground(pane)).processes?.some(({ names }) => names.includes(name)) === true;

const untilReads = (agent: AgentProgram, name: string) => eventually(() => reads(agent, name));

const isEnd = ({ data }: DashboardEvent): boolean => data["event_type"] === "process_ended";

test.each<[string, () => Promise<AgentProgram>, (agent: AgentProgram) => Promise<void>]>([
  [
    "killed under a shell that goes on",
    () => claude((agent) => `exec 2>/dev/null; (${agent}); sleep 1000`),
    async ({ server, pane }) => {
      const { processes = [] } = await server.foreground(pane);
      process.kill(processes.find(({ isShell }) => !isShell)!.pid, "SIGKILL");
    },
  ],
  [
    "replaced by a program that prints nothing",
    () => claude((agent) => agent),
    async ({ socket, pane }) => void socket.tmux("respawn-pane", "-k", "-t", pane, "exec sleep 1000"),
  ],
])("a hooked agent that was %s is not waited for", async (_how, start, end) => {
  await using agent = await start();
  await using dashboard = await dashboardFixture(agent.server);
  const events = await atWork(dashboard, agent.pane);
  await ask(dashboard);
  await identified(dashboard);
  await eventually(async () => (await readinessOf(dashboard)) === "idle:claude");
  const from = events.events.length;
  await end(agent);
  const { data } = await events.next(isEnd, from);
  expect(data).toMatchObject({ agent_id: AGENT, new_state: "COMPLETE" });
  await events.next(
    ({ event, data: { available } }) => event === "commander_availability" && available === false,
    from,
  );
  await eventually(async () => (await readinessOf(dashboard)) !== "idle:claude");
  expect(await card(dashboard)).toMatchObject({ state: "COMPLETE", is_bridge_connected: false, question: null });
  const { status, json } = await dashboard.respond(AGENT, { text: "for nobody" });
  expect({ ...json, status }).toMatchObject({ status: 409, error_type: "wrong_state", reason: "program_changed" });
});

test("without hooks: what took the pane gets no answer to the question that the screen showed", async () => {
  await using agent = await ownedAgent("dialog", { options: { busyMs: 0 } });
  await using dashboard = await dashboardFixture(agent.server);
  const events = await askedOnScreen(dashboard, agent);
  const taken = join(agent.socket.directory, "taken");
  agent.socket.tmux("respawn-pane", "-k", "-t", agent.pane, `exec cat > ${taken}`);
  await untilReads(agent, "cat");
  const { status, json } = await dashboard.respond(AGENT, { text: "1" });
  expect({ ...json, status }).toMatchObject({ status: 409, error_type: "wrong_state", reason: "program_changed" });
  await events.next(isEnd);
  expect(await card(dashboard)).toMatchObject({ state: "COMPLETE", question: null });
  agent.socket.tmux("send-keys", "-t", agent.pane, "last", "Enter");
  await eventually(() => existsSync(taken) && readFileSync(taken, "utf8") !== "");
  expect(readFileSync(taken, "utf8")).toBe("last\n");
});

test("without hooks: a program that asks in its place gets only what names its question", async () => {
  await using agent = await ownedAgent("dialog", { options: { busyMs: 0 } });
  await using dashboard = await dashboardFixture(agent.server);
  const events = await askedOnScreen(dashboard, agent);
  const from = agent.channel.log.length;
  // The first program's question is told again when anything else of the card changes.
  const ids = new Set([undefined, ...events.events.map(({ data }) => dialogIdOf(data))]);
  agent.socket.tmux("respawn-pane", "-k", "-t", agent.pane, ...agent.channel.argv("dialog", { busyMs: 0 }));
  await agent.channel.next("ready", from);
  await agent.channel.tell("ask", { kind: "permission" });
  const asked = await events.next(
    ({ event, data }) => event === "card_refresh" && data["state"] === "AWAITING_INPUT" && !ids.has(dialogIdOf(data)),
  );
  const dialogId = dialogIdOf(asked.data);
  for (const body of [{ text: "1" }, { mode: "select", option_index: 0 }]) {
    const { status, json } = await dashboard.respond(AGENT, body);
    expect({ ...json, status }).toMatchObject({ status: 409, error_type: "wrong_state", reason: "program_changed" });
  }
  const { json } = await dashboard.respond(AGENT, { text: "1", dialog_id: dialogId });
  expect(json).toMatchObject({ status: "ok" });
  await agent.channel.next("tool", from);
  expect(agent.channel.count("tool", from)).toBe(1);
  // It is the agent from then on. What was sent before the answer may arrive only now.
  const answered = await events.next(({ data }) => data["event_type"] === "respond");
  const next = events.events.indexOf(answered) + 1;
  await agent.channel.tell("ask", { kind: "permission" });
  await untilAsked(events, next);
  expect((await dashboard.respond(AGENT, { text: "1" })).status).toBe(200);
});
