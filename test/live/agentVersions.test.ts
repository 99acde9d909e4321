/**
 * Agents of versions that their profiles were not tested with, on real tmux: told by the files of the program that runs, said
 * when nothing on the screen is known, and not typed into. The program is a stand-in, installed as npm installs one.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import claude from "../../adapters/agents/claude/profile.json" with { type: "json" };
import { profilesOf } from "../../adapters/agents/agentProfiles.ts";
import { AgentDirectory } from "../../adapters/agents/running/agentDirectory.ts";
import { AgentStore } from "../../adapters/agents/running/agentStore.ts";
import { stateOf } from "../../adapters/agents/running/agentState.ts";
import type { RunningAgent } from "../../adapters/agents/running/runningAgent.ts";
import { readAgents } from "../../adapters/agents/catalogue.ts";
import { nativeAgent } from "../../adapters/operations/agents/agentOutputs.ts";
import { silentLog } from "../../bench/silentLog.ts";
import { DeliveryEngine } from "../../daemon/delivery/deliveryEngine.ts";
import { ReadinessEngine } from "../../daemon/readiness/engine.ts";
import { loadProfile } from "../../daemon/readiness/profile.ts";
import { Profiles } from "../../daemon/readiness/profiles.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { AGENTS, PROFILES } from "../support/agents/agentCatalogue.ts";
import { eventually } from "../support/clock/eventually.ts";
import { guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { text } from "../support/tmux/panePrograms.ts";

/** Draws what no profile knows, and notes what it reads. */
const drawing = (drawn: string): string => `#!${process.execPath}
const { appendFileSync } = require("node:fs");
process.stdin.setRawMode(true);
process.stdin.on("data", (data) => appendFileSync(process.argv[2], data));
process.stdout.write("\\x1b[?2004h\\x1b[2J\\x1b[H${drawn}");
`;

function installed(directory: string, version: string | undefined, drawn: string): string {
  const folder = join(directory, "node_modules/@anthropic-ai/claude-code");
  const script = join(folder, "bin/cli.js");
  const command = join(directory, "node_modules/.bin/claude");
  for (const file of [script, command]) mkdirSync(dirname(file), { recursive: true });
  const named = { name: "@anthropic-ai/claude-code", version };
  if (version !== undefined) writeFileSync(join(folder, "package.json"), JSON.stringify(named));
  writeFileSync(script, drawing(drawn));
  chmodSync(script, 0o755);
  symlinkSync(script, command);
  return command;
}

function scene(directory: string, profiles: Profiles) {
  const common = { clock: systemClock, nowUnixMs: Date.now, onError: failing };
  const readiness = new ReadinessEngine({ ...common, profiles });
  const delivery = new DeliveryEngine({ ...common, readiness });
  const store = new AgentStore({ path: join(directory, "state", "agents.db"), nowUnixMs: Date.now, log: silentLog });
  const agents = new AgentDirectory({ ...common, catalogue: readAgents(), readiness, store });
  return {
    agents,
    delivery,
    [Symbol.dispose]: () => {
      delivery.close();
      agents.close();
      readiness.close();
    },
  };
}

function failing(error: unknown): never {
  throw error;
}

async function found(agents: AgentDirectory): Promise<RunningAgent> {
  await eventually(() => agents.agents().length === 1);
  return agents.agents()[0]!;
}

describe.each(["owned", "guest"] as const)("on a server that is %s", (kind) => {
  const place = () =>
    kind === "owned" ? ownedFixture() : guestFixture((socket) => void userSession(socket, "user", ["sh"]));

  test("a new version on an unknown screen is said and not typed into; a profile for it recognises it", async () => {
    await using fixture = await place();
    const { server, socket } = fixture;
    const command = installed(socket.directory, "2.1.340", "All new: tell me anything");
    const read = join(socket.directory, "read");
    {
      using here = scene(socket.directory, PROFILES);
      const { agents, delivery } = here;
      agents.addServer("main", server);
      socket.tmux("new-session", "-d", "-x", "100", "-y", "30", "-s", "work", "--", command, read);
      const agent = await found(agents);
      await eventually(() => stateOf(agent).why === "new version 2.1.340, not known yet");
      expect(nativeAgent(agent)).toMatchObject({ agent: "claude", version: "2.1.340", state: "unknown" });
      const addressee = { isAgent: true, programs: new Set(["claude"]), process: agent.process };
      const request = { server, pane: agent.pane, text: "yes", addressee, timeoutMs: 1_000 };
      await expect(delivery.submit(request)).rejects.toMatchObject({ details: { reason: "screen_unknown" } });
      expect(existsSync(read)).toBe(false);
    }
    const screen = { ...claude.screen, ready: ["^All new: "] };
    const own = loadProfile({ ...claude, source: "own", seenWith: ["2.1.340"], versions: ">=2.1.340", screen });
    using here = scene(socket.directory, new Profiles(profilesOf(AGENTS), [own]));
    here.agents.addServer("main", server);
    const agent = await found(here.agents);
    await eventually(() => stateOf(agent).state === "ready");
    expect(nativeAgent(agent)).toMatchObject({ version: "2.1.340", state: "ready", why: "its screen says so" });
    // It reads: what was typed before would have been noted.
    await server.input(agent.pane, [text("!")]);
    await eventually(() => existsSync(read) && readFileSync(read, "utf8") !== "");
    expect(readFileSync(read, "utf8")).toBe("!");
  });

  test("where its files do not tell, what it draws when it starts does", async () => {
    await using fixture = await place();
    const { server, socket } = fixture;
    using here = scene(socket.directory, PROFILES);
    here.agents.addServer("main", server);
    const command = installed(socket.directory, undefined, "Claude Code v2.1.341");
    socket.tmux("new-session", "-d", "-x", "100", "-y", "30", "-s", "work", "--", command, "/dev/null");
    const agent = await found(here.agents);
    await eventually(() => nativeAgent(agent).version === "2.1.341");
    expect(stateOf(agent)).toMatchObject({ state: "unknown", why: "new version 2.1.341, not known yet" });
  });
});
