/** Agents started by the command line, Python and MCP against a daemon as people run it, and what `kill -9` leaves of a start. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { DatabaseSync } from "../../daemon/ops/sql/sqlite.ts";
import { AGENT_DIRECTORY, AgentChannel } from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type CliSandbox, cliSandbox, type Running } from "../support/daemon/cliSandbox.ts";
import { mcpOverPipes } from "../support/daemon/mcpProgram.ts";

const PYTHON = "/usr/bin/python3";
const hasPython = existsSync(PYTHON);
if (!hasPython) process.stderr.write(`start_agent: ${PYTHON} is not installed, so nothing runs it here\n`);

/** Called as the agent is. Notes that it has been started, and draws nothing until its gate is written to. */
const CLAUDE = `#!${process.execPath}
const { appendFileSync, readFileSync } = require("node:fs");
appendFileSync(process.env.HOME + "/started", "x");
if (process.env.GATE !== undefined) readFileSync(process.env.GATE);
void import(${JSON.stringify(join(AGENT_DIRECTORY, "dialog.mjs"))});
`;

interface World extends AsyncDisposable {
  readonly sandbox: CliSandbox;
  readonly channel: AgentChannel;
  /** The program's own. */
  readonly args: readonly string[];
  serve(): Promise<Running>;
  /** How often the program was started. */
  started(): number;
}

async function world(): Promise<World> {
  const sandbox = cliSandbox();
  const channel = await AgentChannel.open(sandbox.root);
  const PATH = [sandbox.binaries("bin", { claude: CLAUDE }), sandbox.env["PATH"]].join(delimiter);
  const started = sandbox.path("home", "started");
  return {
    sandbox,
    channel,
    args: channel.argv("dialog", { busyMs: 0 }).slice(2),
    serve: () => sandbox.serve([], { env: { PATH } }),
    started: () => (existsSync(started) ? readFileSync(started, "utf8").length : 0),
    [Symbol.asyncDispose]: async () => {
      await sandbox[Symbol.asyncDispose]();
      await channel[Symbol.asyncDispose]();
    },
  };
}

test("a start that is cut short by kill -9 goes on under its key in the next daemon, and starts nothing twice", async () => {
  await using opened = await world();
  const { sandbox, channel } = opened;
  const gate = sandbox.path("gate");
  expect(spawnSync("mkfifo", [gate]).status).toBe(0);
  const words = ["start", "claude", "only", "once", "--name", "api", "--key", "k", "--env", `GATE=${gate}`, "--json"];
  const start = (): Running => sandbox.start([...words, "--", ...opened.args]);
  const daemon = await opened.serve();
  const cut = start();
  await eventually(() => opened.started() === 1);
  const gone = once(daemon.child, "exit");
  daemon.child.kill("SIGKILL");
  await gone;
  expect((await cut.finished).code).not.toBe(0);
  await opened.serve();
  const again = start();
  await writeFile(gate, "");
  const { code, stdout, stderr } = await again.finished;
  expect([code, stderr, ...(code === 0 ? [] : [stdout])]).toEqual([0, ""]);
  const first = JSON.parse(stdout) as object;
  expect(first).toMatchObject({ outcome: "submitted", repeated: true, session: "api", agent: { name: "api" } });
  expect(JSON.parse((await start().finished).stdout)).toMatchObject({ outcome: "submitted", repeated: true });
  expect(channel.submits()).toEqual(["only once"]);
  expect(opened.started()).toBe(1);
  const panes = sandbox.tmux(sandbox.tmuxSocketPath, "list-panes", "-a", "-F", "#{session_name}").trim().split("\n");
  expect(panes.filter((name) => !name.startsWith("__tmuxwire-"))).toEqual(["api"]);
});

test("the command line says what is asked, what is missing and what ended, by words and exit codes", async () => {
  await using opened = await world();
  const { sandbox, channel } = opened;
  await opened.serve();
  const asking = await sandbox.run([
    "start",
    "claude",
    "later",
    "--name",
    "api",
    "--",
    ...opened.args,
    "--asks",
    "permission",
  ]);
  expect(asking).toMatchObject({ code: 10, stdout: "api\n" });
  expect(asking.stderr).toMatch(/^tmuxwire: asking: it asks something first; .*\n[^]*Do you want to proceed\?/);
  expect((await sandbox.run(["choose", "api", "0"])).code).toBe(0);
  expect((await channel.next("answer"))["answers"]).toMatchObject([{ index: 0 }]);
  expect((await sandbox.run(["wait", "api", "--ready", "--timeout", "60"])).code).toBe(0);
  expect((await sandbox.run(["submit", "api", "later"])).code).toBe(0);
  expect(channel.submits()).toEqual(["later"]);
  const missing = await sandbox.run(["start", "codex", "x", "--name", "other"]);
  expect([missing.code, missing.stdout]).toEqual([3, ""]);
  expect(missing.stderr).toMatch(/codex is not on the PATH of the server/);
  const ended = await sandbox.run("start claude x --name brief --program /bin/ls -- /nonexistent".split(" "));
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(/^tmuxwire: ended: [^]*\/nonexistent[^]*\[brief has ended, exit status [12]\]/);
});

/** Keeps its conversation as Claude Code does. */
const WITH_CONVERSATION = `#!${process.execPath}
const { appendFileSync, mkdirSync } = require("node:fs");
const at = process.argv.findIndex((word) => word === "--session-id" || word === "--resume");
const folder = process.env.HOME + "/.claude/projects/-work";
mkdirSync(folder, { recursive: true });
appendFileSync(folder + "/" + process.argv[at + 1] + ".jsonl", JSON.stringify({ type: "summary" }) + "\\n");
void import(${JSON.stringify(join(AGENT_DIRECTORY, "dialog.mjs"))});
`;

test("after a restart of the machine `resume` finds what ran in the user's own tmux, which nobody else has asked for", async () => {
  await using opened = await world();
  const { sandbox } = opened;
  const directory = sandbox.path(`tmux-${process.getuid?.()}`);
  mkdirSync(directory, { mode: 0o700 });
  const own = (...words: string[]): string => sandbox.tmux(`${directory}/default`, "-f", "/dev/null", ...words);
  const program = join(sandbox.binaries("own", { claude: WITH_CONVERSATION }), "claude");
  const env = { TMUX_TMPDIR: sandbox.root };
  own("new-session", "-d", "-s", "mine", "sh");
  const daemon = await sandbox.serve([], { env });
  const start = ["start", "claude", "--name", "api", "--program", program, "--on", "default", "--json"];
  const started = await sandbox.run([...start, "--env", `HOME=${sandbox.path("home")}`, "--", ...opened.args], { env });
  expect(JSON.parse(started.stdout)).toMatchObject({ outcome: "ready", agent: { name: "api" } });
  using database = new DatabaseSync(sandbox.path("state/tmuxwire/agents.db"), { readOnly: true });
  const noted = (): string => JSON.stringify(database.prepare("SELECT place FROM places").all());
  await eventually(() => noted().includes("transcriptPath"));
  const gone = once(daemon.child, "exit");
  daemon.child.kill("SIGKILL");
  await gone;
  own("kill-server");
  rmSync(`${directory}/default`, { force: true });
  await sandbox.serve([], { env });
  const resume = () => sandbox.run(["resume"], { env });
  const before = await resume();
  expect([before.code, before.stdout]).toEqual([
    1,
    expect.stringMatching(/^api .* impossible .* no tmux server runs/m),
  ]);
  own("new-session", "-d", "-s", "other", "sh");
  const after = await resume();
  expect([after.code, after.stdout]).toEqual([0, expect.stringMatching(/^api .* planned .* default api/m)]);
  const done = await sandbox.run(["resume", "--all", "--yes"], { env });
  expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/^api .* resumed /m)]);
});

const START = `
import os, json, tmuxwire
client = tmuxwire.connect()
def start():
    return client.start_agent("claude", "from python", timeout=60, idempotency_key="k", name="api", args=json.loads(os.environ["ARGS"]))
one, again = start(), start()
print(one["outcome"], one["agent"]["name"], one["repeated"], again["repeated"], one["pane"] == again["pane"])
print(client.resume_agents(plan=True), client.worktrees())
`;

test.skipIf(!hasPython)("Python's start_agent gives the prompt once", async () => {
  await using opened = await world();
  const { sandbox, channel } = opened;
  await opened.serve();
  const PYTHONPATH = resolve(import.meta.dirname, "../../adapters/client/python");
  const env = { ...sandbox.env, PYTHONPATH, ARGS: JSON.stringify(opened.args) };
  const python = sandbox.adopt(spawn(PYTHON, ["-B", "-u", "-c", START], { env, cwd: sandbox.root }));
  expect(await python.finished).toEqual({ code: 0, stdout: "submitted api False True True\n[] []\n", stderr: "" });
  expect([channel.submits(), opened.started()]).toEqual([["from python"], 1]);
});

test("MCP's start_agent gives the prompt once", async () => {
  await using opened = await world();
  const { sandbox, channel } = opened;
  await opened.serve();
  await using mcp = await mcpOverPipes(sandbox.env, "modern");
  const asked = { agent: "claude", name: "api", prompt: "from a client", args: opened.args, idempotencyKey: "k" };
  const started = await mcp.call("start_agent", asked);
  expect(started).toMatchObject({ outcome: "submitted", agent: { name: "api" }, repeated: false, screen: null });
  expect(await mcp.call("start_agent", asked)).toMatchObject({ pane: started["pane"], repeated: true });
  expect([channel.submits(), opened.started()]).toEqual([["from a client"], 1]);
});
