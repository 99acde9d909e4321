/** Dialogs of the real agent programs, whose hooks report to a dashboard, answered through it: what it tells of each. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { inProcessCli } from "../daemon/cliOutput.ts";
import { DASHBOARD_SETTINGS, type DashboardFixture, dashboardFixture } from "../daemon/dashboardFixture.ts";
import type { PrivateSocket } from "../tmux/ownedFixture.ts";
import { REAL_AGENTS, type RealAgentName, realWorld, type RealWorld, until } from "./realAgents.ts";

/** These have dialogs and hooks that report them. */
export const HOOKED_AGENTS: Partial<Readonly<Record<RealAgentName, string>>> = {
  cc: "claude",
  ccpin: "claude",
  codex: "codex",
};

interface AnswerTry {
  /** `state_changed` events since the prompt: what each says is its reason. */
  readonly told: readonly string[];
  /** Turns since the prompt, the oldest first: their intents. */
  readonly turns: readonly string[];
  readonly status: number;
  readonly delivery: unknown;
}

const WITHIN_MS = 60_000;

export async function realAnswers(name: RealAgentName, answers: number): Promise<readonly AnswerTry[]> {
  await using world = await realWorld(name);
  const { server, pane, engine } = world;
  await using dashboard = await dashboardFixture(server, {
    settings: DASHBOARD_SETTINGS,
    availability: { level: "exists", programs: new Set() },
  });
  await using relay = await relayInto(world.socket, dashboard.port);
  await startHooked(world, relay.url);
  const events = await dashboard.events();
  const tries: AnswerTry[] = [];
  for (let at = 0; at < answers; at += 1) {
    const from = events.events.length;
    const before = (await turnsOf(dashboard)).length;
    await engine.delivery.submit({ server, pane, text: `${REAL_AGENTS[name].asks} touch answered-${at}` });
    await events.next(({ data }) => (data["question"] as { dialog_id?: unknown } | null)?.dialog_id != null, from);
    const { status, json } = await dashboard.respond((await agentOf(dashboard))!, { mode: "select", option_index: 0 });
    await until(world, "idle", WITHIN_MS);
    await world.settled();
    const changed = events.events.slice(from).filter(({ event }) => event === "state_changed");
    tries.push({
      told: changed.map(({ data }) => data["event_type"] as string),
      turns: (await turnsOf(dashboard)).slice(before).map(({ intent }) => intent),
      status,
      delivery: json["delivery"] ?? json["error_type"],
    });
  }
  return tries;
}

async function startHooked(world: RealWorld, url: string): Promise<void> {
  const agent = HOOKED_AGENTS[world.name] ?? "";
  await world.shell();
  await world.launch({
    prepare: async (home) => {
      const env = { XDG_DATA_HOME: join(home, ".local/share"), XDG_CONFIG_HOME: join(home, ".config") };
      const words = ["hooks", "install", agent, "--dashboard", url];
      const { code } = await inProcessCli(words, { homeDir: home, cwd: home, env });
      if (code !== 0) throw new Error(`hooks install ended with ${code}`);
    },
  });
  // Codex has new hooks reviewed, a moment after its first screen.
  if (agent === "codex") {
    const { server, pane, engine } = world;
    const { dialog } = await until(world, "asking", WITHIN_MS);
    const index = dialog!.options.findIndex(({ label }) => /\btrust\b/i.test(label));
    await engine.delivery.choose({ server, pane, answer: { kind: "option", index }, dialogId: dialog!.id });
  }
  await until(world, "idle", WITHIN_MS);
  await world.settled();
}

interface Turn {
  readonly turn_id: number;
  readonly intent: string;
}

/** Codex reports nothing before its first prompt. */
const agentOf = async (dashboard: DashboardFixture): Promise<number | undefined> => {
  const { json } = await dashboard.call("GET", "/api/agents");
  return (json["agents"] as readonly { readonly agent_id: number }[])[0]?.agent_id;
};

async function turnsOf(dashboard: DashboardFixture): Promise<readonly Turn[]> {
  const agent = await agentOf(dashboard);
  if (agent === undefined) return [];
  const { json } = await dashboard.call("GET", `/api/agents/${agent}/turns?limit=200`);
  return (json["turns"] as readonly Turn[]).toReversed();
}

/** A port of the test's in the network of the agents, which have only their own loopback. */
async function relayInto(socket: PrivateSocket, port: number): Promise<AsyncDisposable & { readonly url: string }> {
  const path = join(socket.directory, "dashboard");
  const open = new Set<Socket>();
  const outside = createServer((agent) => {
    const listener = connect(port, "127.0.0.1");
    for (const end of [agent, listener])
      open.add(end.on("error", () => end.destroy()).on("close", () => open.delete(end)));
    agent.pipe(listener).pipe(agent);
  });
  outside.listen(path);
  await once(outside, "listening");
  const inside = `const { createServer, connect } = require("node:net");
    createServer((agent) => {
      const out = connect(process.argv[2]);
      for (const end of [agent, out]) end.on("error", () => { agent.destroy(); out.destroy(); });
      agent.pipe(out).pipe(agent);
    }).listen(Number(process.argv[1]), "127.0.0.1", () => console.log("relays"))`;
  socket.tmux("new-window", "-d", "-t", "api:", "--", process.execPath, "-e", inside, String(port), path);
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      for (const end of open) end.destroy();
      outside.close();
      await once(outside, "close");
    },
  };
}
