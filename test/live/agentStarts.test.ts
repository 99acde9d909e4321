/**
 * Agents that are started on real tmux, with fixture programs under the agents' names: what a start answers, where the agent
 * runs, and that one key starts one agent. `resume` after `kill-server`: the same sessions, each in its own conversation.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AgentDirectory } from "../../adapters/agents/running/agentDirectory.ts";
import { AgentStore } from "../../adapters/agents/running/agentStore.ts";
import { stateOf } from "../../adapters/agents/running/agentState.ts";
import { loadTranscripts } from "../../adapters/agents/agentTranscript.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { StartProgram, StartRequest } from "../../adapters/agents/start/agentStarts.ts";
import type { ResumedAgent } from "../../adapters/agents/start/agentResume.ts";
import { AgentWork } from "../../adapters/agents/start/agentWork.ts";
import { silentLog } from "../../bench/silentLog.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import type { PaneInfo } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { AGENTS } from "../support/agents/agentCatalogue.ts";
import { AGENT_DIRECTORY, AgentChannel, type AgentName } from "../support/agents/agentPrograms.ts";
import { type Engines, engines } from "../support/agents/agentsEngines.ts";
import { eventually } from "../support/clock/eventually.ts";
import { guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import { ownedFixture, type PrivateSocket } from "../support/tmux/ownedFixture.ts";

const WITHIN_MS = 60_000;

/** Keeps its conversation as Claude Code does, notes how it was started, and is the fixture program besides. */
const CLAUDE = `#!${process.execPath}
const { appendFileSync, mkdirSync } = require("node:fs");
const end = process.argv.indexOf("--");
const options = end < 0 ? process.argv : process.argv.slice(0, end);
const at = options.findIndex((word) => word === "--session-id" || word === "--resume");
const folder = process.env.HOME + "/.claude/projects/-work";
mkdirSync(folder, { recursive: true });
appendFileSync(folder + "/" + options[at + 1] + ".jsonl", JSON.stringify({ type: "summary" }) + "\\n");
appendFileSync(process.env.HOME + "/started", [...options.slice(at, at + 2), ...(end < 0 ? [] : process.argv.slice(end))].join(" ") + "\\n");
appendFileSync(process.env.HOME + "/sizes", process.stdout.columns + "x" + process.stdout.rows + "\\n");
void import(process.env.FIXTURE);
`;

/** Draws its box, and of a prompt that it has taken nothing: only its conversation has it. */
const MUTE = `#!${process.execPath}
const { appendFileSync, mkdirSync } = require("node:fs");
const folder = process.env.HOME + "/.claude/projects/-work";
mkdirSync(folder, { recursive: true });
const id = process.argv[process.argv.indexOf("--session-id") + 1];
const rule = "─".repeat(60);
let text = "";
const draw = () =>
  process.stdout.write(\`\\x1b[2J\\x1b[H Claude Code v2.1.330\\r\\n\${rule}\\r\\n❯ \${text}\\r\\n\${rule}\\r\\n  ? for shortcuts\\x1b[3;\${3 + text.length}H\`);
process.stdin.setRawMode(true);
process.stdout.write("\\x1b[?2004h");
process.stdin.on("data", (data) => {
  if (String(data) !== "\\r") text += String(data).replaceAll(/\\x1b\\[20[01]~/g, "");
  else if (process.env.KEEPS === "no") text = "";
  else {
    const line = { type: "user", message: { content: text }, timestamp: new Date().toISOString() };
    appendFileSync(folder + "/" + id + ".jsonl", JSON.stringify(line) + "\\n");
    text = "";
  }
  draw();
});
draw();
`;

interface Scene extends AsyncDisposable {
  readonly server: TmuxServer;
  readonly socket: PrivateSocket;
  readonly agents: AgentDirectory;
  readonly work: AgentWork;
  readonly engine: Engines;
  /** What starts it. */
  program(
    fixture: AgentName,
    options?: Readonly<Record<string, string | number>>,
  ): Promise<{ readonly channel: AgentChannel; readonly request: StartRequest }>;
  /** How programs were started, each by its argument for a conversation. */
  started(): readonly string[];
}

async function scene(kind: "owned" | "guest" = "owned"): Promise<Scene> {
  const place =
    kind === "owned" ? await ownedFixture() : await guestFixture((socket) => void userSession(socket, "user", ["sh"]));
  const { server, socket } = place;
  const home = join(socket.directory, "home");
  const claude = join(socket.directory, "bin", "claude");
  for (const name of ["home", "bin"]) mkdirSync(join(socket.directory, name));
  writeFileSync(claude, CLAUDE);
  chmodSync(claude, 0o755);
  const engine = engines();
  const path = join(socket.directory, "state", "agents.db");
  const agents = new AgentDirectory({
    catalogue: AGENTS,
    readiness: engine.readiness,
    store: new AgentStore({ path, nowUnixMs: Date.now, log: silentLog }),
    clock: systemClock,
    nowUnixMs: Date.now,
    onError: failing,
  });
  const removeServer = agents.addServer("main", server);
  const work = new AgentWork({
    agents,
    catalogue: AGENTS,
    transcripts: await loadTranscripts(AGENTS),
    readiness: engine.readiness,
    delivery: engine.delivery,
    paneEnvironment: paneEnvironment(process.env),
    worktreesDirectory: join(socket.directory, "worktrees"),
    clock: systemClock,
    nowUnixMs: Date.now,
    log: silentLog,
  });
  const channels: AgentChannel[] = [];
  return {
    server,
    socket,
    agents,
    work,
    engine,
    program: async (fixture, options) => {
      const channel = await AgentChannel.open(socket.directory);
      channels.push(channel);
      const [, , ...args] = channel.argv(fixture, options);
      const request = {
        server,
        serverName: "main",
        kind: AGENTS.find(({ name }) => name === "claude")!,
        program: claude,
        args,
        environment: { HOME: home, FIXTURE: join(AGENT_DIRECTORY, `${fixture}.mjs`) },
        cwd: socket.directory,
        timeoutMs: WITHIN_MS,
        startedBy: "test",
      };
      return { channel, request };
    },
    started: () => readFileSync(join(home, "started"), "utf8").trimEnd().split("\n"),
    [Symbol.asyncDispose]: async () => {
      work.close();
      removeServer();
      agents.close();
      await place[Symbol.asyncDispose]();
      engine[Symbol.dispose]();
      for (const channel of channels) await channel[Symbol.asyncDispose]();
    },
  };
}

function failing(error: unknown): never {
  throw error;
}

const screenOf = async (server: TmuxServer, pane: Parameters<TmuxServer["capture"]>[0]): Promise<string> =>
  (await server.capture(pane)).lines.join("\n");

describe.each(["owned", "guest"] as const)("on a server that is %s", (kind) => {
  test.concurrent("a start gives the prompt once; its pane, name and conversation are known, and a shell stays", async () => {
    await using opened = await scene(kind);
    const { server, agents, work } = opened;
    const { channel, request } = await opened.program("dialog", { busyMs: 0 });
    const result = await work.starts.start({ ...request, name: "api", prompt: "fix it\nand test it" });
    expect(result).toMatchObject({ outcome: "submitted", reason: undefined, screen: undefined, repeated: false });
    expect(result.takenMs).toBeGreaterThanOrEqual(result.readyMs!);
    expect(channel.submits()).toEqual(["fix it\nand test it"]);
    const agent = agents.find("api");
    expect([agent.id, agent.pane, agent.kind.name]).toEqual([result.agentId, result.pane, "claude"]);
    expect(agent.task?.text).toBe("fix it\nand test it");
    expect(opened.started()).toEqual([`--session-id ${agent.sessionId}`]);
    expect(agent.launch).toMatchObject({ program: request.program, cwd: request.cwd, startedBy: "test" });
    expect(server.findSession("api")?.activePane).toBe(result.pane);
    await expect(work.starts.start({ ...request, name: "api" })).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    await channel.tell("exit", { status: 3 });
    await eventually(async () => (await screenOf(server, result.pane)).includes("[api has ended, exit status 3]"));
    await eventually(() => agent.endedUnixMs !== undefined);
    expect(server.findPane(result.pane)?.exit).toBe(undefined);
  });

  test.concurrent("a window and a part of a pane, beside what is there", async () => {
    await using opened = await scene(kind);
    const { server, socket, work } = opened;
    const shell = await server.createSession({ name: "work", command: ["sh"], cols: 160, rows: 50 });
    const [first, second] = [await opened.program("dialog"), await opened.program("dialog")];
    const inWindow = await work.starts.start({
      ...first.request,
      name: "one",
      where: { kind: "window", session: shell.id },
    });
    const inSplit = await work.starts.start({
      ...second.request,
      name: "two",
      where: { kind: "split", pane: shell.activePane!, direction: "vertical" },
    });
    expect([inWindow.outcome, inSplit.outcome]).toEqual(["ready", "ready"]);
    const format = "#{window_index} #{window_name} #{pane_id} #{window_active}#{pane_active}";
    const own = server.findSession("work")!;
    expect(own.windows).toHaveLength(2);
    expect(socket.tmux("list-panes", "-s", "-t", "=work", "-F", format).trimEnd().split("\n")).toEqual([
      expect.stringMatching(new RegExp(`^0 \\S+ ${shell.activePane} 11$`)),
      expect.stringMatching(new RegExp(`^0 \\S+ ${inSplit.pane} 10$`)),
      `1 one ${inWindow.pane} 01`,
    ]);
  });
});

test.concurrent("one key starts one agent, told of once: together, afterwards, and never for another request", async () => {
  await using opened = await scene();
  const { agents, work } = opened;
  const { channel, request } = await opened.program("dialog", { busyMs: 0 });
  const asked = { ...request, name: "api", prompt: "only once", idempotencyKey: "key" };
  const [first, joined] = await Promise.all([work.starts.start(asked), work.starts.start(asked)]);
  const again = await work.starts.start(asked);
  expect([first, joined, again].map(({ outcome, repeated }) => [outcome, repeated])).toEqual([
    ["submitted", false],
    ["submitted", true],
    ["submitted", true],
  ]);
  expect([joined.pane, again.pane, joined.agentId, again.agentId]).toEqual([
    first.pane,
    first.pane,
    first.agentId,
    first.agentId,
  ]);
  await expect(work.starts.start({ ...asked, prompt: "another" })).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
  expect(channel.submits()).toEqual(["only once"]);
  expect([opened.started().length, agents.agents().length]).toEqual([1, 1]);
});

test.concurrent("a program that asks at its start: the question is told and stays, nothing is typed; answered, it takes its prompt", async () => {
  await using opened = await scene();
  const { server, agents, work, engine } = opened;
  const { channel, request } = await opened.program("dialog", { busyMs: 0, asks: "permission" });
  const result = await work.starts.start({ ...request, name: "api", prompt: "after the question" });
  expect(result).toMatchObject({
    outcome: "asking",
    reason: expect.stringContaining("asks something first") as unknown,
    dialog: { options: [{ label: "Yes" }, {}, {}] },
    screen: expect.stringContaining("Do you want to proceed?") as unknown,
    takenMs: undefined,
  });
  expect([channel.count("key"), channel.count("paste"), channel.count("answer")]).toEqual([0, 0, 0]);
  const agent = agents.find("api");
  expect([agent.id, stateOf(agent).state]).toEqual([result.agentId, "asking"]);
  const addressee = { isAgent: true, process: agent.process };
  const { pane } = result;
  await engine.delivery.choose({ server, pane, answer: { kind: "option", index: 0 }, addressee, timeoutMs: WITHIN_MS });
  expect((await channel.next("answer"))["answers"]).toMatchObject([{ index: 0 }]);
  await eventually(() => stateOf(agent).state === "ready");
  const { outcome } = await engine.delivery.submit({
    server,
    pane,
    text: "after the question",
    addressee,
    timeoutMs: WITHIN_MS,
  });
  expect([outcome, channel.submits()]).toEqual(["submitted", ["after the question"]]);
});

test.concurrent.each(["yes", "no"])(
  "a prompt that its screen does not confirm is taken if its conversation has it: %s",
  async (keeps) => {
    await using opened = await scene();
    const { work, socket } = opened;
    const { request } = await opened.program("dialog");
    const program = join(socket.directory, "claude");
    writeFileSync(program, MUTE);
    chmodSync(program, 0o755);
    const environment = { ...request.environment, KEEPS: keeps };
    const { outcome, reason } = await work.starts.start({
      ...request,
      program,
      args: [],
      environment,
      prompt: "fix it",
    });
    expect([outcome, reason]).toEqual(
      keeps === "yes"
        ? ["submitted", undefined]
        : ["echoed_unconfirmed", expect.stringContaining("did not confirm it") as unknown],
    );
  },
);

test.concurrent("a program that is missing starts nothing; one that ends at once, or draws nothing, says what it printed", async () => {
  await using opened = await scene();
  const { server, socket, agents, work } = opened;
  const { request } = await opened.program("dialog");
  for (const program of [join(socket.directory, "none"), "no-such-program"]) {
    await expect(
      work.starts.start({ ...request, program, name: "api", idempotencyKey: program }),
    ).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: expect.stringContaining(program) as unknown,
    });
  }
  await expect(work.starts.start({ ...request, cwd: join(socket.directory, "none") })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
  });
  expect(server.sessions()).toEqual([]);
  const broken = join(socket.directory, "bin", "broken");
  writeFileSync(broken, "#!/bin/sh\necho no key found; exit 7\n");
  chmodSync(broken, 0o755);
  const ended = await work.starts.start({ ...request, program: broken, name: "api", prompt: "never typed" });
  expect(ended).toMatchObject({
    outcome: "ended",
    agentId: undefined,
    screen: expect.stringMatching(/no key found\n\[api has ended, exit status 7\]/) as unknown,
  });
  expect(await screenOf(server, ended.pane)).not.toContain("never typed");
  expect(agents.agents()).toEqual([]);
  // Its name is free, and its pane is a shell's.
  const silent = join(socket.directory, "bin", "silent");
  writeFileSync(silent, "#!/bin/sh\necho loading; exec cat\n");
  chmodSync(silent, 0o755);
  const late = await work.starts.start({
    ...request,
    program: silent,
    name: "api",
    prompt: "never typed",
    timeoutMs: 1_500,
  });
  expect(late).toMatchObject({ outcome: "late", reason: "it was not ready within 1.5 s", screen: "loading" });
  expect(await screenOf(server, late.pane)).not.toContain("never typed");
});

test.concurrent("a worktree is not kept for an agent for which there is no pane", async () => {
  await using opened = await scene();
  const { server, socket, work } = opened;
  const shop = join(socket.directory, "shop");
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  execFileSync("git", ["init", "-q", "-b", "main", shop]);
  execFileSync("git", ["-C", shop, ...author, "commit", "-q", "--allow-empty", "-m", "first"]);
  await server.createSession({ name: "work", command: ["sh"] });
  const { request } = await opened.program("dialog");
  const asked = { ...request, cwd: shop, name: "api", worktree: {} };
  await expect(work.starts.start({ ...asked, where: { kind: "session", name: "work" } })).rejects.toMatchObject({
    code: "ALREADY_EXISTS",
  });
  expect(await work.worktrees.list()).toEqual([]);
  expect((await work.starts.start(asked)).worktree).toBe(join(socket.directory, "shop.worktrees/agent-api"));
});

test.concurrent("a start whose name is taken while its pane is made says nothing of the next agent there", async () => {
  await using opened = await scene();
  const { server, agents, work } = opened;
  const [first, second, third] = [
    await opened.program("dialog"),
    await opened.program("dialog"),
    await opened.program("dialog"),
  ];
  await work.starts.start({ ...first.request, name: "other" });
  const make = async (program: StartProgram): Promise<PaneId> => {
    const { activePane: pane } = await server.createSession({ name: "work", ...program });
    await eventually(() => agents.inPane(server, pane!) !== undefined);
    agents.rename(agents.find("other"), "api");
    return pane!;
  };
  const { pane, outcome } = await work.starts.start({ ...second.request, name: "api", where: { kind: "made", make } });
  const agent = agents.inPane(server, pane)!;
  expect([outcome, agent.name, agent.launch?.startedBy]).toEqual(["ready", "claude", "test"]);
  await second.channel.tell("exit");
  await eventually(() => agent.endedUnixMs !== undefined);
  const line = [third.request.program, "--session-id 5f0c", ...third.request.args!].join(" ");
  await server.input(pane, [{ kind: "text", bytes: Buffer.from(`${line}\n`) }]);
  await eventually(() => agents.inPane(server, pane) !== undefined);
  const next = agents.inPane(server, pane)!;
  expect([next.id === agent.id, next.launch, next.sessionId === agent.sessionId]).toEqual([false, undefined, false]);
});

const sizeOf = ({ cols, rows }: PaneInfo): string => `${cols}x${rows}`;
const byName = ([one]: readonly unknown[], [other]: readonly unknown[]): number =>
  String(one).localeCompare(String(other));

test.concurrent("after kill-server two agents in two sessions are back, in their layout, each in its own conversation", async () => {
  await using opened = await scene("guest");
  const { server, socket, agents, work } = opened;
  const programs = [await opened.program("dialog"), await opened.program("dialog")];
  const ids: (string | undefined)[] = [];
  for (const [at, { request }] of programs.entries()) {
    const session = await server.createSession({ name: `work${at}`, command: ["sh"] });
    const where = { kind: "split", pane: session.activePane!, direction: "horizontal" } as const;
    // The second one has a task behind its options.
    const args = [...request.args!, ...(at === 1 ? ["--", "fix it"] : [])];
    const { outcome } = await work.starts.start({ ...request, args, name: `agent${at}`, where });
    expect(outcome).toBe("ready");
    await server.layout.run({
      kind: "new-window",
      session: session.id,
      name: "notes",
      command: ["sh"],
      detached: true,
    });
    ids.push(agents.find(`agent${at}`).sessionId);
  }
  await eventually(() => agents.agents().every(({ transcriptPath }) => transcriptPath !== undefined));
  for (const { name, id } of agents.agents())
    agents.note(agents.find(id), { task: { text: `mend ${name}`, sinceUnixMs: 5 } });
  const servers = new Map([["main", server]]);
  const all = { names: undefined, timeoutMs: WITHIN_MS };
  expect(await work.resume.resume(servers, { ...all, isPlan: true })).toEqual([]);
  const shape = () => shapeOf(socket);
  const before = shape();
  const { identity } = server.status();
  socket.tmux("kill-server");
  await eventually(() => server.status().state !== "ready" && isGone(socket));
  userSession(socket, "user", ["sh"]);
  await eventually(() => server.status().state === "ready" && server.status().identity !== identity);
  await eventually(() => agents.agents().length === 0);
  const plan = await work.resume.resume(servers, { ...all, isPlan: true });
  // The session that was last seen to change comes last.
  expect(plan.map(({ agent, outcome, reason }) => [agent.name, outcome, reason]).toSorted(byName)).toEqual([
    ["agent0", "planned", undefined],
    ["agent1", "planned", undefined],
  ]);
  await expect(work.resume.resume(servers, { names: new Set(["who"]), isPlan: false })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  // Somebody types into each pane as soon as it is there.
  const typedInto = new Set<PaneId>();
  const stopTyping = server.subscribe(() => {
    for (const id of server.layout.tree().windows.flatMap(({ panes }) => panes)) {
      if (typedInto.has(id)) continue;
      typedInto.add(id);
      socket.tmux("send-keys", "-l", "-t", id, "half");
    }
  });
  // Two at once: the second finds what the first has brought back.
  const [resumed, again] = await Promise.all([
    work.resume.resume(servers, { ...all, isPlan: false }),
    work.resume.resume(servers, { ...all, isPlan: false }),
  ]);
  stopTyping();
  /** Of one that is not back: what is known of its pane. */
  const shownBy = (pane: PaneId | undefined): unknown =>
    pane !== undefined && [
      opened.engine.readiness.known(server, pane),
      socket.tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_current_command} #{pane_width}x#{pane_height}"),
      socket.tmux("capture-pane", "-p", "-t", pane),
    ];
  const isBack = ({ agent, outcome, reason, pane }: ResumedAgent): unknown[] =>
    outcome === "resumed" ? [agent.name, outcome] : [agent.name, outcome, reason, shownBy(pane)];
  expect(resumed.map(isBack).toSorted(byName)).toEqual([
    ["agent0", "resumed"],
    ["agent1", "resumed"],
  ]);
  expect(again).toEqual([]);
  expect(shape()).toEqual(before);
  // Each began in a pane that had its size.
  const sizes = readFileSync(join(socket.directory, "home/sizes"), "utf8").trimEnd().split("\n").slice(-2);
  expect(sizes).toEqual(resumed.map(({ pane }) => sizeOf(server.findPane(pane!)!)));
  expect(opened.started().toSorted()).toEqual(
    [`--session-id ${ids[0]}`, `--session-id ${ids[1]} -- fix it`, ...ids.map((id) => `--resume ${id}`)].toSorted(),
  );
  expect(
    agents
      .agents()
      .map(({ name, sessionId, task }) => [name, sessionId, task?.text])
      .toSorted(byName),
  ).toEqual(ids.map((id, at) => [`agent${at}`, id, `mend agent${at}`]));
  for (const [at, { channel }] of programs.entries()) {
    const agent = agents.find(`agent${at}`);
    const { outcome } = await opened.engine.delivery.submit({
      server,
      pane: agent.pane,
      text: `go on, ${at}`,
      addressee: { isAgent: true, process: agent.process },
      timeoutMs: WITHIN_MS,
    });
    expect([outcome, channel.submits()]).toEqual(["submitted", [`go on, ${at}`]]);
  }
});

test.concurrent("of the agents of one session whose server ended, those come back whose program is still there; the other has a shell", async () => {
  await using opened = await scene("guest");
  const { server, socket, agents, work } = opened;
  const session = await server.createSession({ name: "work", command: ["sh"] });
  const programs = [await opened.program("dialog"), await opened.program("dialog")];
  const elsewhere = join(socket.directory, "old", "claude");
  mkdirSync(join(socket.directory, "old"));
  copyFileSync(programs[0]!.request.program!, elsewhere);
  for (const [at, { request }] of programs.entries()) {
    const where = { kind: "split", pane: session.activePane!, direction: "horizontal" } as const;
    const program = at === 1 ? elsewhere : request.program;
    const { outcome } = await work.starts.start({ ...request, program, name: `agent${at}`, where });
    expect(outcome).toBe("ready");
  }
  await eventually(() => agents.agents().every(({ transcriptPath }) => transcriptPath !== undefined));
  const before = shapeOf(socket);
  const { identity } = server.status();
  socket.tmux("kill-server");
  await eventually(() => server.status().state !== "ready" && isGone(socket));
  rmSync(elsewhere);
  userSession(socket, "user", ["sh"]);
  await eventually(() => server.status().state === "ready" && server.status().identity !== identity);
  await eventually(() => agents.agents().length === 0);
  const servers = new Map([["main", server]]);
  const resumed = await work.resume.resume(servers, { names: undefined, isPlan: false, timeoutMs: WITHIN_MS });
  expect(Object.fromEntries(resumed.map(({ agent, outcome, reason }) => [agent.name, [outcome, reason]]))).toEqual({
    agent0: ["resumed", undefined],
    agent1: ["failed", expect.stringContaining("does not exist")],
  });
  expect(shapeOf(socket)).toEqual(before);
  // Beside what is there now it is tried again, and is in nobody's way.
  const again = await work.resume.resume(servers, { names: undefined, isPlan: false, timeoutMs: WITHIN_MS });
  expect(again.map(({ agent, outcome }) => [agent.name, outcome])).toEqual([["agent1", "failed"]]);
  expect(shapeOf(socket)).toEqual(before);
});

/** kill-server returns before the server is gone (docs/tmuxFacts.md 6). */
function isGone(socket: PrivateSocket): boolean {
  try {
    socket.tmux("has-session");
    return false;
  } catch (error) {
    return /no server running|error connecting/.test(String(error));
  }
}

/** Names and layouts of the sessions, without ids. */
const shapeOf = (socket: PrivateSocket): readonly string[] =>
  socket
    .tmux(
      "list-windows",
      "-a",
      "-F",
      "#{session_name} #{window_index} #{window_name} #{window_active} #{window_layout}",
    )
    .trimEnd()
    .split("\n")
    .filter((line) => line.startsWith("work"))
    .map((line) => line.replace(/ [0-9a-f]{4},/, " ").replaceAll(/(\d+x\d+,\d+,\d+),\d+/g, "$1"));
