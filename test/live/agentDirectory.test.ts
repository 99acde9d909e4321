/**
 * Agents as the directory finds them on real tmux, by their processes: when they appear, what they are called, when they
 * end, and that one process is one agent. The program is a stand-in called `claude` that draws its box.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AgentDirectory } from "../../adapters/agents/running/agentDirectory.ts";
import { AgentStore } from "../../adapters/agents/running/agentStore.ts";
import { stateOf } from "../../adapters/agents/running/agentState.ts";
import type { RunningAgent } from "../../adapters/agents/running/runningAgent.ts";
import { readAgents } from "../../adapters/agents/catalogue.ts";
import { silentLog } from "../../bench/silentLog.ts";
import { ReadinessEngine } from "../../daemon/readiness/engine.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { PROFILES } from "../support/agents/agentCatalogue.ts";
import { eventually } from "../support/clock/eventually.ts";
import { guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import { ownedFixture, type PrivateSocket } from "../support/tmux/ownedFixture.ts";
import { keys, text } from "../support/tmux/panePrograms.ts";

/**
 * Draws Claude's box. With `--launches`, first starts itself once more, as a program does that gives itself more memory: as
 * soon as the file `launch` is beside it.
 */
const CLAUDE = `#!${process.execPath}
if (process.argv.includes("--launches")) {
  const { spawn } = require("node:child_process");
  const { existsSync } = require("node:fs");
  const looks = setInterval(() => {
    if (!existsSync(process.argv[1].replace(/[^/]*$/, "launch"))) return;
    clearInterval(looks);
    spawn(process.execPath, [process.argv[1]], { stdio: "inherit" }).on("exit", (code) => process.exit(code ?? 1));
  }, 10);
} else {
  const rule = "─".repeat(60);
  process.stdin.setRawMode?.(true);
  process.stdin.on("data", (data) => data.includes("q") && process.exit(0));
  process.stdout.write(\`\\x1b[?2004h\\x1b[2J\\x1b[H Claude Code v2.1.330\\r\\n\${rule}\\r\\n❯ \\r\\n\${rule}\\r\\n  ? for shortcuts\\x1b[3;3H\`);
}
`;

interface Scene extends Disposable {
  readonly agents: AgentDirectory;
  readonly changes: readonly string[];
  readonly claude: string;
  readonly pi: string;
}

/** @param lateMs how much later the directory believes it to be */
function scene(directory: string, onError: (error: unknown) => void = failing, lateMs: () => number = () => 0): Scene {
  const readiness = new ReadinessEngine({ profiles: PROFILES, clock: systemClock, nowUnixMs: Date.now, onError });
  const store = new AgentStore({ path: join(directory, "state", "agents.db"), nowUnixMs: Date.now, log: silentLog });
  const agents = new AgentDirectory({
    catalogue: readAgents(),
    readiness,
    store,
    clock: {
      nowMs: () => systemClock.nowMs() + lateMs(),
      callAt: (atMs, run) => systemClock.callAt(atMs - lateMs(), run),
    },
    nowUnixMs: Date.now,
    onError,
  });
  const changes: string[] = [];
  agents.subscribe(({ kind, agent }) => {
    if (kind !== "changed") changes.push(`${kind} ${agent.name}`);
  });
  const bin = join(directory, "bin");
  const [claude, pi] = [join(bin, "claude"), join(bin, "pi")];
  if (!existsSync(bin)) {
    mkdirSync(bin);
    writeFileSync(claude, CLAUDE);
    chmodSync(claude, 0o755);
    symlinkSync(claude, pi);
  }
  return {
    agents,
    changes,
    claude,
    pi,
    [Symbol.dispose]: () => {
      agents.close();
      readiness.close();
    },
  };
}

function failing(error: unknown): never {
  throw error;
}

const one = (agents: AgentDirectory): RunningAgent => {
  const [agent] = agents.agents();
  if (agent === undefined) throw new Error("no agent runs");
  return agent;
};

const typed = (server: TmuxServer, agent: RunningAgent, words: string) => server.input(agent.pane, [text(words)]);

describe.each(["owned", "guest"] as const)("on a server that is %s", (kind) => {
  interface Place extends AsyncDisposable {
    readonly server: TmuxServer;
    readonly socket: PrivateSocket;
  }
  const place = (): Promise<Place> =>
    kind === "owned" ? ownedFixture() : guestFixture((socket) => void userSession(socket, "user", ["sh"]));

  const start = ({ socket }: Place, session: string, ...command: string[]): void => {
    socket.tmux("new-session", "-d", "-x", "100", "-y", "30", "-s", session, "--", ...command);
  };

  test.concurrent("an agent appears by its process, is judged, and ends with it; a successor is another one", async () => {
    await using fixture = await place();
    using found = scene(fixture.socket.directory);
    const { agents, changes, claude } = found;
    agents.addServer("main", fixture.server);
    expect(agents.agents()).toEqual([]);
    start(fixture, "work", "sh", "-c", `${claude}; exec ${claude}`);
    await eventually(() => agents.agents().length === 1);
    const first = one(agents);
    expect([first.name, first.kind.name, first.serverName]).toEqual(["claude", "claude", "main"]);
    expect(agents.inPane(fixture.server, first.pane)).toBe(first);
    expect([agents.find("claude"), agents.find(first.id)]).toEqual([first, first]);
    await eventually(() => stateOf(first).state === "ready");
    await typed(fixture.server, first, "q");
    await eventually(() => first.endedUnixMs !== undefined && agents.agents().length === 1);
    const second = one(agents);
    expect([second.name, second.pane, second.id === first.id]).toEqual(["claude", first.pane, false]);
    expect([stateOf(first).state, agents.find(first.id)]).toEqual(["ended", first]);
    fixture.socket.tmux("kill-session", "-t", "=work");
    await eventually(() => agents.agents().length === 0);
    expect(changes).toEqual(["appeared claude", "ended claude", "appeared claude", "ended claude"]);
  });

  test.concurrent("names are unique; a program that starts itself again stays the same agent", async () => {
    await using fixture = await place();
    using found = scene(fixture.socket.directory);
    const { agents, changes, claude, pi } = found;
    agents.addServer("main", fixture.server);
    // Its first act, whatever else the machine does: later ones are not taken for its own.
    start(fixture, "one", claude, "--launches");
    await eventually(() => agents.agents().length === 1);
    const launcher = one(agents);
    const { id, process } = launcher;
    writeFileSync(join(fixture.socket.directory, "bin", "launch"), "");
    await eventually(() => launcher.process.pid !== process.pid);
    expect([launcher.id, launcher.endedUnixMs, agents.find(id)]).toEqual([id, undefined, launcher]);
    start(fixture, "two", claude);
    start(fixture, "three", pi);
    await eventually(() => agents.agents().length === 3);
    expect(
      agents
        .agents()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(["claude", "claude-2", "pi"]);
    agents.rename(launcher, "api");
    expect(() => agents.rename(agents.find("pi"), "api")).toThrow(/already/);
    for (const name of ["%5", "7", "resume", "", "a b", id]) {
      expect(() => agents.rename(launcher, name)).toThrow(/agent's name/);
    }
    expect(() => agents.find("ap")).toThrow(expect.objectContaining({ details: { nearest: "api" } }) as Error);
    expect(changes.filter((change) => change.startsWith("ended"))).toEqual([]);
  });

  test.concurrent("a program that its launcher has started stays the same agent, however late it is seen", async () => {
    await using fixture = await place();
    const { directory } = fixture.socket;
    let lateMs = 0;
    using found = scene(directory, failing, () => lateMs);
    const { agents, changes, claude } = found;
    agents.addServer("main", fixture.server);
    const [launchers, gate] = [join(directory, "launchers"), join(directory, "gate")];
    mkdirSync(launchers);
    expect(spawnSync("mkfifo", [gate]).status).toBe(0);
    const launcher = join(launchers, "claude");
    writeFileSync(launcher, `#!/bin/sh\nread -r _ < "${gate}"\n${claude}\n`);
    chmodSync(launcher, 0o755);
    start(fixture, "work", launcher);
    await eventually(() => agents.agents().length === 1);
    const agent = one(agents);
    agents.rename(agent, "api");
    const { pid } = agent.process;
    lateMs = 20_000;
    await writeFile(gate, "\n");
    await eventually(() => agent.process.pid !== pid || agents.agents().length > 1);
    expect([agents.agents(), agent.name, agent.endedUnixMs]).toEqual([[agent], "api", undefined]);
    expect(changes).toEqual(["appeared claude"]);
  });

  test.concurrent("a launcher that becomes something else before it becomes the program stays the same agent", async () => {
    await using fixture = await place();
    const { directory } = fixture.socket;
    using found = scene(directory);
    const { agents, changes, claude } = found;
    agents.addServer("main", fixture.server);
    const [launchers, step] = [join(directory, "launchers"), join(directory, "step")];
    mkdirSync(launchers);
    // One for each step: a second reader of the first one could find its writer still there.
    const [first, second] = [join(directory, "first gate"), join(directory, "second gate")];
    expect(spawnSync("mkfifo", [first, second]).status).toBe(0);
    const launcher = join(launchers, "claude");
    writeFileSync(launcher, `#!/bin/sh\nread -r _ < "${first}"\nexec bash ${step}\n`);
    writeFileSync(step, `read -r _ < "${second}"\nexec ${claude}\n`);
    chmodSync(launcher, 0o755);
    start(fixture, "work", launcher);
    await eventually(() => agents.agents().length === 1);
    const agent = one(agents);
    agents.rename(agent, "api");
    const { pid } = agent.process;
    await writeFile(first, "\n");
    await eventually(() => fixture.server.processes.wordsNow(pid)?.includes(step) === true);
    agents.check();
    expect([agents.agents(), agent.endedUnixMs]).toEqual([[agent], undefined]);
    await writeFile(second, "\n");
    await eventually(() => stateOf(agent).state === "ready");
    agents.check();
    expect([agents.find("api"), agent.process.pid, changes]).toEqual([agent, pid, ["appeared claude"]]);
  });

  test.concurrent("what hooks say is kept, early too; an agent that another one runs as its tool says nothing for it", async () => {
    await using fixture = await place();
    using found = scene(fixture.socket.directory);
    const { agents, claude } = found;
    agents.addServer("main", fixture.server);
    start(fixture, "work", "sh", "-c", `cat; exec ${claude}`);
    await eventually(() => fixture.server.findSession("work")?.activePane !== undefined);
    const pane = fixture.server.findSession("work")!.activePane!;
    agents.reported(fixture.server, pane, { sessionId: "first", transcriptPath: "/a.jsonl", starts: true });
    expect(agents.agents()).toEqual([]);
    await fixture.server.input(pane, [keys("C-d")]);
    await eventually(() => agents.agents().length === 1);
    const agent = one(agents);
    expect([agent.sessionId, agent.transcriptPath]).toEqual(["first", "/a.jsonl"]);
    agents.reported(fixture.server, pane, { sessionId: "first", prompt: " fix it\n" });
    expect(agent.task).toEqual({ text: "fix it", sinceUnixMs: expect.any(Number) as number });
    agents.reported(fixture.server, pane, { sessionId: "another", prompt: "as a tool" });
    agents.reported(fixture.server, pane, { sessionId: "first", lastMessage: "done" });
    expect([agent.sessionId, agent.task?.text, agent.lastMessage]).toEqual(["first", "fix it", "done"]);
    agents.took(fixture.server, pane, "for its successor", { ...agent.process, pid: 1 });
    agents.took(fixture.server, pane, "the next", agent.process);
    expect(agent.task?.text).toBe("the next");
    await eventually(() => agent.readiness?.state === "idle");
    agents.reported(fixture.server, pane, { sessionId: "second", starts: true });
    expect(agent.sessionId).toBe("second");
  });

  test.concurrent("another daemon knows them again, by name and what was known; who ended meanwhile has ended", async () => {
    await using fixture = await place();
    const { directory } = fixture.socket;
    const before: Record<string, string> = {};
    {
      using found = scene(directory);
      const { agents, claude } = found;
      agents.addServer("main", fixture.server);
      for (const name of ["one", "two"]) {
        start(fixture, name, claude);
        await eventually(() => agents.agents().some((agent) => agent.name === "claude"));
        const agent = agents.find("claude");
        agents.rename(agent, name);
        agents.note(agent, { sessionId: `session ${name}`, task: { text: "fix it", sinceUnixMs: 5 } });
        before[name] = agent.id;
      }
    }
    const pane = fixture.server.findSession("two")!.activePane!;
    fixture.socket.tmux("kill-session", "-t", "=two");
    await eventually(() => fixture.server.findPane(pane) === undefined);
    using found = scene(directory);
    const { agents } = found;
    agents.addServer("main", fixture.server);
    const again = agents.find("one");
    expect([agents.agents().length, again.id, again.sessionId]).toEqual([1, before["one"], "session one"]);
    expect(again.task).toEqual({ text: "fix it", sinceUnixMs: 5 });
    const [kept, gone] = agents.remembered().toSorted((a, b) => a.appearedUnixMs - b.appearedUnixMs);
    expect([kept?.name, kept?.endedUnixMs]).toEqual(["one", undefined]);
    expect([gone?.name, typeof gone?.endedUnixMs]).toEqual(["two", "number"]);
    expect(kept?.place).toEqual({ serverName: "main", socketPath: fixture.socket.socketPath });
    fixture.socket.tmux("kill-server");
    await eventually(() => agents.agents().length === 0);
    await eventually(() => agents.remembered().every(({ endedUnixMs }) => endedUnixMs !== undefined));
  });
});

test("one that is stopped while the daemon is started again is known when it goes on; beside another, it is its pane's again", async () => {
  await using fixture = await guestFixture((socket) => void userSession(socket, "user", ["sh"]));
  const { server, socket } = fixture;
  const pane = userSession(socket, "work", ["bash", "--norc", "-i"]);
  const type = (line: string): string => socket.tmux("send-keys", "-t", pane, line, "Enter");
  const stop = async ({ process: { pid } }: RunningAgent): Promise<void> => {
    process.kill(pid, "SIGSTOP");
    await eventually(() => server.processes.statNow(pid)?.foregroundGroup !== pid);
  };
  let id: string;
  {
    using found = scene(socket.directory);
    found.agents.addServer("main", server);
    type(found.claude);
    await eventually(() => found.agents.agents().length === 1);
    const agent = one(found.agents);
    found.agents.rename(agent, "api");
    found.agents.note(agent, { sessionId: "first" });
    id = agent.id;
    await stop(agent);
  }
  using found = scene(socket.directory);
  const { agents } = found;
  agents.addServer("main", server);
  expect([agents.agents(), agents.remembered().map(({ endedUnixMs }) => endedUnixMs)]).toEqual([[], [undefined]]);
  type("fg");
  await eventually(() => agents.agents().length === 1);
  const agent = one(agents);
  expect([agent.id, agent.name, agent.sessionId]).toEqual([id, "api", "first"]);
  await stop(agent);
  type(found.claude);
  await eventually(() => agents.agents().length === 2);
  const other = agents.find("claude");
  expect(agents.inPane(server, pane)).toBe(other);
  await stop(other);
  type("fg %1");
  await eventually(() => agents.inPane(server, pane) === agent);
  expect(agents.agents()).toEqual([agent, other]);
  await stop(agent);
  found[Symbol.dispose]();
  using last = scene(socket.directory);
  last.agents.addServer("main", server);
  const ended = () => last.agents.remembered().filter(({ endedUnixMs }) => endedUnixMs !== undefined);
  expect([last.agents.agents(), ended()]).toEqual([[], []]);
  process.kill(agent.process.pid, "SIGKILL");
  await eventually(
    () =>
      ended()
        .map(({ name }) => name)
        .join() === "api",
  );
});

test("one that ends after its server, in a terminal of its own, has ended", async () => {
  await using fixture = await guestFixture((socket) => void userSession(socket, "user", ["sh"]));
  const { server, socket } = fixture;
  using found = scene(socket.directory);
  const { agents } = found;
  agents.addServer("main", server);
  userSession(socket, "work", ["script", "-qc", found.claude, "/dev/null"]);
  await eventually(() => agents.agents().length === 1);
  const agent = one(agents);
  socket.tmux("kill-server");
  await eventually(() => server.status().identity === undefined);
  expect(agents.agents()).toEqual([agent]);
  process.kill(agent.process.pid, "SIGKILL");
  await eventually(() => agent.endedUnixMs !== undefined);
  expect(agents.agents()).toEqual([]);
  expect(agents.remembered().map(({ endedUnixMs }) => typeof endedUnixMs)).toEqual(["number"]);
});

test("what has ended in a pane of an earlier server was not in the one that has its id now", async () => {
  await using fixture = await guestFixture((socket) => void userSession(socket, "user", ["sh"]));
  const { server, socket } = fixture;
  using found = scene(socket.directory);
  found.agents.addServer("main", server);
  const pane = userSession(socket, "work", [found.claude]);
  await eventually(() => found.agents.agents().length === 1);
  const agent = one(found.agents);
  socket.tmux("send-keys", "-t", pane, "q");
  await eventually(() => agent.endedUnixMs !== undefined);
  expect(found.agents.lastInPane(server, pane)).toBe(agent);
  const { identity } = server.status();
  socket.tmux("kill-server");
  await eventually(() => server.status().identity === undefined);
  userSession(socket, "user", ["sh"]);
  expect(userSession(socket, "work", ["cat"])).toBe(pane);
  await eventually(() => server.status().state === "ready" && server.findPane(pane) !== undefined);
  expect(server.status().identity).not.toBe(identity);
  expect(found.agents.lastInPane(server, pane)).toBeUndefined();
});
