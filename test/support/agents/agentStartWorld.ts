/**
 * The agent programs themselves, offline, started and brought back as a daemon does: a user's tmux, the directory of agents,
 * and the kit's fake model, whose log is the truth about what arrived. AGENT_KIT and TUI_INST come from the environment.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentDirectory } from "../../../adapters/agents/running/agentDirectory.ts";
import { AgentStore } from "../../../adapters/agents/running/agentStore.ts";
import { type AgentTranscripts, loadTranscripts } from "../../../adapters/agents/agentTranscript.ts";
import type { Agent } from "../../../adapters/agents/catalogue.ts";
import { AgentWork } from "../../../adapters/agents/start/agentWork.ts";
import { silentLog } from "../../../bench/silentLog.ts";
import { paneEnvironment } from "../../../daemon/ops/environment.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { removed } from "../removed.ts";
import { eventually } from "../clock/eventually.ts";
import { startGuestServer } from "../tmux/guestEngine.ts";
import { privateSocket, type PrivateSocket } from "../tmux/ownedFixture.ts";
import { AGENTS } from "./agentCatalogue.ts";
import { type Engines, engines } from "./agentsEngines.ts";
import { REAL_AGENTS, type RealAgentName } from "./realAgents.ts";

const { AGENT_KIT: KIT, TUI_INST: INST } = process.env;

/** How one program is started: in a home of its own. */
export interface Prepared {
  readonly kind: Agent;
  readonly program: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface StartWorld extends AsyncDisposable {
  readonly socket: PrivateSocket;
  readonly server: TmuxServer;
  readonly agents: AgentDirectory;
  readonly work: AgentWork;
  readonly engine: Engines;
  readonly transcripts: AgentTranscripts;
  prepare(name: RealAgentName): Prepared;
  /** Texts that the model was asked, without requests for titles. */
  asked(): readonly { readonly text: string; readonly turn: number }[];
  /** `kill-server`, and another tmux on the same socket, with a session of its own. */
  killServer(): Promise<void>;
}

const NAME = "user";

export async function startWorld(): Promise<StartWorld> {
  if (KIT === undefined || INST === undefined) throw new Error("no kit");
  const socket = privateSocket();
  const run = mkdtempSync(join(tmpdir(), "tw-starts-"));
  const [portFile, apiLog, apiSocket] = [join(run, "port"), join(run, "api.jsonl"), join(run, "api.sock")];
  writeFileSync(apiLog, "");
  const api = `AGENT_KIT=${KIT} FAKE_API_PORTFILE=${portFile} FAKE_API_LOG=${apiLog} exec node ${join(import.meta.dirname, "fakeModel.mjs")}`;
  // Both servers in one network without a way out: the model outlives the user's tmux.
  const user = [
    "-u",
    "-S",
    socket.socketPath,
    "-f",
    "/dev/null",
    "new-session",
    "-d",
    "-s",
    "shell",
    "-x",
    "150",
    "-y",
    "50",
    "bash --norc",
  ];
  const quoted = user.map((word) => `'${word}'`).join(" ");
  const first = spawnSync(
    join(KIT, "bin/offline"),
    ["tmux", "-u", "-S", apiSocket, "-f", "/dev/null", "new-session", "-d", "-s", "api", api],
    { encoding: "utf8" },
  );
  if (first.status !== 0) throw new Error(`offline tmux: ${first.stderr}`);
  const inside = (command: string): void => {
    const { status, stderr } = spawnSync("tmux", ["-S", apiSocket, "run-shell", command], { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
  };
  inside(`env -u TMUX -u TMUX_PANE tmux ${quoted}`);
  await eventually(() => existsSync(portFile) && readFileSync(portFile, "utf8") !== "");
  const server = await startGuestServer({
    socketPath: socket.socketPath,
    env: process.env,
    clock: systemClock,
    log: () => undefined,
  });
  const engine = engines();
  const { readiness, delivery } = engine;
  const onError = (error: unknown): void => void process.stderr.write(`${String(error)}\n`);
  const store = new AgentStore({ path: join(run, "state", "agents.db"), nowUnixMs: Date.now, log: silentLog });
  const agents = new AgentDirectory({
    catalogue: AGENTS,
    readiness,
    store,
    clock: systemClock,
    nowUnixMs: Date.now,
    onError,
  });
  const removeServer = agents.addServer(NAME, server);
  const transcripts = await loadTranscripts(AGENTS);
  const work = new AgentWork({
    agents,
    catalogue: AGENTS,
    transcripts,
    readiness,
    delivery,
    paneEnvironment: paneEnvironment(process.env),
    worktreesDirectory: join(run, "worktrees"),
    clock: systemClock,
    nowUnixMs: Date.now,
    log: silentLog,
  });
  let prepared = 0;
  return {
    socket,
    server,
    agents,
    work,
    engine,
    transcripts,
    prepare: (name) => {
      prepared += 1;
      const { profile, recipe } = REAL_AGENTS[name];
      const url = `http://127.0.0.1:${readFileSync(portFile, "utf8").trim()}`;
      const { stdout, stderr } = spawnSync("node", [join(import.meta.dirname, "kitRecipes.mjs"), recipe], {
        encoding: "utf8",
        env: { ...process.env, TUI_RUN: join(run, String(prepared)), FAKE_API: url, HOOK_URL: `${url}/__hook` },
      });
      if (stdout === "") throw new Error(stderr);
      const launch = readFileSync(stdout.trim(), "utf8").trimEnd();
      const base = join(stdout.trim(), "..");
      const program = join(base, "bin", profile);
      mkdirSync(join(base, "bin"));
      // The kit's script takes no arguments and knows its own directory.
      writeFileSync(program, `${launch.replace(/^cd .*$/m, "")} "$@"\n`);
      chmodSync(program, 0o755);
      return {
        kind: AGENTS.find((agent) => agent.name === profile)!,
        program,
        cwd: join(base, "work"),
        environment: { HOME: join(base, "home") },
      };
    },
    asked: () =>
      readFileSync(apiLog, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map(
          (line) =>
            JSON.parse(line) as { api?: string; tools?: number; text: string; turn: number; afterTool?: boolean },
        )
        .filter(({ api: kind, tools, afterTool }) => kind !== undefined && tools !== 0 && afterTool !== true),
    killServer: async () => {
      const { identity } = server.status();
      socket.tmux("kill-server");
      await eventually(() => server.status().state !== "ready");
      inside(`env -u TMUX -u TMUX_PANE tmux ${quoted}`);
      await eventually(() => server.status().state === "ready" && server.status().identity !== identity);
    },
    [Symbol.asyncDispose]: async () => {
      work.close();
      removeServer();
      agents.close();
      engine[Symbol.dispose]();
      await server.close();
      await socket[Symbol.asyncDispose]();
      spawnSync("tmux", ["-S", apiSocket, "kill-server"]);
      await removed(run);
    },
  };
}
