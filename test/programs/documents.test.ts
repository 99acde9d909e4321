/**
 * Every command that a document shows is run by a test as it stands, or listed here with the reason why not. Documents with
 * a test of their own are named; the commands of the others are run below.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { ownProfile } from "../support/agents/ownProfile.ts";
import { eventually } from "../support/clock/eventually.ts";
import { notifyReceiver } from "../support/agents/notifyReceiver.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { documentBlocks, type DocumentBlock } from "../support/daemon/documentBlocks.ts";
import { user } from "../support/daemon/documentUser.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Documents whose own tests run their commands, with how many commands there are: a new one is to be added to the test. */
const RUN_BY: Readonly<Record<string, readonly [test: string, commands: number]>> = {
  "docs/agents.md": ["agentsDocument.test.ts", 16],
  "docs/hosts.md": ["hostsDocument.test.ts", 18],
  "docs/fleet.md": ["fleetDocument.test.ts", 6],
  "docs/curl.md": ["readme.test.ts", 6],
  "docs/addin.md": ["readme.test.ts", 3],
  "docs/clients.md": ["readme.test.ts", 8],
};

/** Nobody runs these as they stand; each begins with these words. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "tmux send-keys -t agent -l": "what not to do; sendKeys.load.test.ts measures it",
  "npm run bench -- peers": "takes half an hour; peersBench.test.ts runs its short form",
  "AGENT_KIT=": "needs the agents' programs and an hour",
  "claude mcp add tmuxwire": "changes Claude Code's settings; mcpAgents.load.test.ts runs it with the program",
  "npm install -g tmuxwire": "the package's smoke test (packageSmoke.sh) installs the packed package",
  "tmuxwire restart": "would replace the daemon of the test; daemonRestart.test.ts runs it",
  "open http://127.0.0.1:5055": "opens a person's browser; dashboardPage.test.ts opens the page",
  "docker build": "needs docker and an image to build on; imageSmoke.sh runs these four",
  "docker run": "needs docker",
  "docker exec tmuxwire tmuxwire new": "needs docker",
  "docker exec tmuxwire tmuxwire run": "needs docker",
  'pi -e "$(npm root -g)': "needs pi and a global installation; teamExtension.test.ts loads the extension",
  "tmux -S ~/.pi/agent/tmux/TEAM": "attaches a person's terminal; teamSessions.test.ts attaches",
  'curl -H "Authorization: Bearer $(jq': "needs the extension's own daemon; teamServe.test.ts asks it",
  "npx freshell wait-for": "needs a Makefile whose tests pass; freshellCli.test.ts waits",
  "npx freshell new-tab": "needs a device that is online; freshellCli.test.ts has one for these",
  "npx freshell split-pane": "needs a device that is online",
  "npx freshell list-panes": "needs a device that is online",
  "npx freshell session-create": "needs a model; freshellSessions.test.ts runs these with a stand-in",
  "npx freshell session-send": "needs a model",
  "npx freshell device run": "stays online for good; freshellDevices.test.ts runs it",
};

const DOCUMENTS = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".md") && !file.startsWith("packaging/plugin"))
  .map((file) => `docs/${file}`)
  .sort();

/** A line that somebody would type: in a block of shell, or in an indented one that begins with one of these programs. */
const PROGRAM =
  /^(?:\$ )?(?:[A-Z_]+=\S* )*(?:tmuxwire|tw|npx|npm|curl|docker|claude|codex|gemini|pi|tmux|open|export|brew|systemctl|launchctl)\s/;

function commandsIn(blocks: readonly DocumentBlock[]): readonly string[] {
  const lines = blocks.flatMap(({ language, lines: each }) => {
    const joined = each
      .join("\n")
      .replaceAll(/\\\n\s*/g, " ")
      .split("\n");
    if (language === "sh") return joined.filter((line) => line.trim() !== "" && !line.startsWith("#"));
    return language === "" ? joined.map((line) => line.trimStart()).filter((line) => PROGRAM.test(line)) : [];
  });
  return lines.map((line) => line.trimEnd());
}

const COMMANDS = DOCUMENTS.flatMap((path) => commandsIn(documentBlocks(path)).map((command) => ({ path, command })));
/** What the tests below have run, with the document's own words. */
const ran = new Set<string>();

/** The one command of a document that is these words, or begins with them. */
function shown(path: string, begins: string): string {
  const those = COMMANDS.filter((each) => each.path === path && each.command.startsWith(begins));
  const exact = those.filter(({ command }) => command === begins);
  const found = exact.length === 1 ? exact : those;
  expect([path, begins, found.length]).toEqual([path, begins, 1]);
  ran.add(`${path}: ${found[0]!.command}`);
  return found[0]!.command;
}

test("docs/hooks.md, docs/notifications.md, docs/profiles.md", async () => {
  await using sandbox = cliSandbox();
  await using receiver = await notifyReceiver();
  const { start } = await user(sandbox);
  const run = async (path: string, begins: string): Promise<string> => {
    const line = shown(path, begins).replaceAll("https://ntfy.sh", receiver.url);
    // In a project: at home its settings would be the user's.
    const { code, stdout, stderr } = await start(`mkdir -p shop && cd shop && ${line}`).finished;
    expect([line, code, stderr]).toEqual([line, 0, ""]);
    return stdout;
  };
  const hooks = "docs/hooks.md";
  await run(hooks, "tmuxwire hooks install claude   ");
  await run(hooks, "tmuxwire hooks install claude --scope project");
  expect(await run(hooks, "tmuxwire hooks status claude")).toContain("installed");
  await run(hooks, "tmuxwire hooks uninstall claude");
  await run(hooks, "tmuxwire hooks install gemini");

  const notifications = "docs/notifications.md";
  await run(notifications, "tmuxwire notify add ntfy https://ntfy.sh/my-secret-topic");
  await run(notifications, "tmuxwire notify test");
  expect(receiver.received).toHaveLength(1);
  expect(COMMANDS.filter(({ path, command }) => path === notifications && command === "tmuxwire notify")).toHaveLength(
    1,
  );
  ran.add(`${notifications}: tmuxwire notify`);
  expect((await start("tmuxwire notify").finished).stdout).toMatch(/^ntfy: /);
  await start("tmuxwire notify rm ntfy").finished;
  await run(notifications, "tmuxwire notify add ntfy https://ntfy.sh/my-secret-topic --answers");

  const profiles = "docs/profiles.md";
  await run(profiles, "tmuxwire profiles check");
  await start("tmuxwire new work").finished;
  mkdirSync(sandbox.path("config/tmuxwire/profiles"), { recursive: true });
  writeFileSync(sandbox.path("config/tmuxwire/profiles/mine.json"), JSON.stringify(ownProfile));
  await run(profiles, "tmuxwire profile record mine work");
});

test("docs/dashboard.md", async () => {
  await using sandbox = cliSandbox();
  const path = "docs/dashboard.md";
  const uuidgen = "#!/bin/sh\nexec cat /proc/sys/kernel/random/uuid\n";
  const { start } = await user(sandbox, [], { uuidgen });
  const serve = shown(path, "tmuxwire serve --only dashboard").split("#")[0]!.trim();
  const another = start(
    `exec ${serve} --dashboard-port 0 --dashboard-database other.db --dashboard-tmux-socket "$PWD/none.sock"`,
  );
  await another.line(/dashboard listening on/);
  another.child.kill("SIGTERM");
  await another.finished;
  expect(await start(shown(path, "tmuxwire hooks install claude")).finished).toMatchObject({ code: 0, stderr: "" });

  const socket = sandbox.path("tmux-user.sock");
  sandbox.tmux(
    socket,
    "-f",
    "/dev/null",
    "new-session",
    "-d",
    "-s",
    "mine",
    `exec '${process.execPath}' -e "process.stdin.on('data', (got) => console.log('got', String(got)))"`,
  );
  const pane = sandbox.tmux(socket, "display-message", "-p", "-t", "mine", "#{pane_id}").trim();
  const events = start(`exec ${shown(path, "curl -N http://127.0.0.1:5055/api/events/stream")} --include`);
  // What happens before the stream is open is not told there.
  await events.line(/^HTTP\/1\.1 200/m);
  let registered: { agent_id?: number } = {};
  const register = `TMUX_PANE=${pane}; ${shown(path, "curl -s http://127.0.0.1:5055/api/sessions")}`;
  await eventually(async () => {
    registered = JSON.parse((await start(register).finished).stdout) as typeof registered;
    return registered.agent_id !== undefined;
  }, 200);
  const respond = shown(path, "curl -s http://127.0.0.1:5055/api/respond/1").replace("/1 ", `/${registered.agent_id} `);
  // It asks nothing; dashboardRespond.test.ts answers questions.
  expect((await start(respond).finished).stdout).toContain("not awaiting input");
  await events.line(/^data: /m);
  events.child.kill("SIGTERM");
  await events.finished;

  const token = shown(path, "export TMUXWIRE_DASHBOARD_TOKEN");
  const origins = shown(path, "export TMUXWIRE_DASHBOARD_ORIGINS");
  const listed = shown(path, "curl -s http://127.0.0.1:5055/api/agents");
  expect(JSON.parse((await start(`${token}; ${origins}; ${listed}`).finished).stdout)).toHaveProperty("agents");
});

test("docs/freshell.md", async () => {
  await using sandbox = cliSandbox();
  const path = "docs/freshell.md";
  const { start } = await user(sandbox);
  const serve = shown(path, "export AUTH_TOKEN").split("#")[0]!.trim();
  const elsewhere = `PORT=0 XDG_STATE_HOME="$PWD/other" XDG_RUNTIME_DIR="$PWD/other"`;
  const another = start(serve.replace("npx", `${elsewhere} exec npx`));
  await another.line(/Freshell listening on/);
  another.child.kill("SIGTERM");
  await another.finished;
  const run = async (begins: string, id = ""): Promise<string> => {
    const line = shown(path, begins).replaceAll("terminal:ID", `terminal:${id}`);
    const { code, stdout, stderr } = await start(line).finished;
    expect([line, code, begins.startsWith("curl") ? "" : stderr]).toEqual([line, 0, ""]);
    return stdout;
  };
  await run("npx freshell auth login");
  const made = JSON.parse(await run('curl -H "x-auth-token')) as { terminalId?: string; id?: string };
  const id = made.terminalId ?? made.id ?? "";
  expect(await run("npx freshell list-terminals")).toContain(id);
  await run("npx freshell send-keys", id);
  expect(await run("npx freshell capture-pane", id)).toContain("make test");
});

test("every other command has a test of its own, or a reason that is true", () => {
  const unknown: string[] = [];
  const used = new Map<string, number>();
  const counts: Record<string, number> = {};
  for (const { path, command } of COMMANDS) {
    counts[path] = (counts[path] ?? 0) + 1;
    const reason = Object.keys(NOT_RUN).find((begins) => command.startsWith(begins));
    if (reason !== undefined) used.set(reason, (used.get(reason) ?? 0) + 1);
    if (reason === undefined && RUN_BY[path] === undefined && !ran.has(`${path}: ${command}`))
      unknown.push(`${path}: ${command}`);
  }
  for (const [begins, reason] of Object.entries(NOT_RUN))
    process.stderr.write(`documents: not run: ${begins}…: ${reason}\n`);
  const expected = Object.fromEntries(Object.entries(RUN_BY).map(([path, [, commands]]) => [path, commands]));
  expect(Object.fromEntries(Object.keys(RUN_BY).map((path) => [path, counts[path] ?? 0]))).toEqual(expected);
  expect(unknown).toEqual([]);
  expect(Object.keys(NOT_RUN).filter((begins) => used.get(begins) === undefined)).toEqual([]);
  const files = readdirSync(import.meta.dirname);
  for (const [by] of Object.values(RUN_BY)) expect(files).toContain(by);
});
