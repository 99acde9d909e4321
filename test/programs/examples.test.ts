/** The examples of the documents, each as a stranger would run it, against a daemon. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import type { ServerClient } from "../../adapters/client/client.ts";
import { AgentChannel } from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { behind, type CliSandbox, cliSandbox, type Running } from "../support/daemon/cliSandbox.ts";
import { NO_NATS, natsServers, natsVersion } from "../support/daemon/natsServers.ts";
import { NO_BROWSER, startBrowser } from "../support/page/browser.ts";
import { reached } from "../support/daemon/sandboxDaemon.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const EXAMPLES = join(ROOT, "docs/examples");

interface Scene {
  readonly sandbox: CliSandbox;
  readonly server: ServerClient;
  readonly url: string;
  readonly token: string;
  /** In a folder where the package is installed. */
  readonly run: (argv: readonly [string, ...string[]], env?: Readonly<Record<string, string>>) => Running;
}

async function scene(
  sandbox: CliSandbox,
  daemonEnv: Readonly<Record<string, string>> = {},
  only = "native",
): Promise<Scene> {
  const daemon = sandbox.start(["serve", "--only", only, "--port", "0"], { env: daemonEnv });
  await daemon.line(/listening on unix:/);
  const connection = await reached(sandbox, daemon);
  const bin = sandbox.binaries("bin", { tmuxwire: `#!/bin/sh\nexec '${process.execPath}' '${builtCli()}' "$@"\n` });
  const modules = sandbox.path("node_modules");
  mkdirSync(modules);
  symlinkSync(ROOT, join(modules, "tmuxwire"));
  for (const name of ["@xterm", "@nats-io", "esbuild", "@esbuild"])
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  symlinkSync(EXAMPLES, sandbox.path("examples"));
  const run: Scene["run"] = ([command, ...args], env = {}) => {
    const own = {
      ...sandbox.env,
      PATH: behind(bin),
      TMUXWIRE_URL: connection.url,
      TMUXWIRE_TOKEN_FILE: sandbox.tokenPath,
      NODE_OPTIONS: "--preserve-symlinks --preserve-symlinks-main",
      ...env,
    };
    return sandbox.adopt(spawn(command, args, { env: own, cwd: sandbox.root }));
  };
  return { sandbox, ...connection, run };
}

test("a development server until it listens", async () => {
  await using sandbox = cliSandbox();
  const { run } = await scene(sandbox);
  const program = `const server = require("node:http").createServer((_, response) => response.end("it answers"));
server.listen(0, "127.0.0.1", () => console.log("listening on http://127.0.0.1:" + server.address().port + " now"));`;
  writeFileSync(sandbox.path("server.cjs"), program);
  const { finished } = run(["sh", "examples/devServer.sh", process.execPath, sandbox.path("server.cjs")], {
    NODE_OPTIONS: "",
  });
  expect(await finished).toEqual({ code: 0, stdout: "it answers", stderr: "" });
});

test("a test watcher, of which no summary is missed", async () => {
  await using sandbox = cliSandbox();
  const { server, run } = await scene(sandbox);
  const script = 'stty -echo; echo "3 passed"; while read line; do echo "$line"; done';
  await server.createSession({ name: "tests", command: ["sh", "-c", script] });
  const watcher = run([process.execPath, "examples/testWatcher.mjs", "tests"]);
  await watcher.line(/green: 3 passed/);
  const pane = server.pane("tests");
  // All at once: the second is there before the wait for it is.
  await pane.type("2 passed\n1 failed\n2 failed\n4 passed\n");
  await watcher.line(/green: 4 passed/);
  await server.killSession("tests");
  const { code, stdout, stderr } = await watcher.finished;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toBe("green: 3 passed\nred: 1 failed\ngreen: 4 passed\n");
});

const PYTHON = "/usr/bin/python3";
if (!existsSync(PYTHON)) process.stderr.write(`examples: ${PYTHON} is not installed, so the REPL is not driven here\n`);

test.skipIf(!existsSync(PYTHON))("a REPL from Python", async () => {
  await using sandbox = cliSandbox();
  const { run } = await scene(sandbox);
  const { finished } = run([PYTHON, "-B", "examples/repl.py"], { PYTHONPATH: join(ROOT, "adapters/client/python") });
  expect(await finished).toEqual({ code: 0, stdout: "6 * 7 = 42\nsum(range(10)) = 45\n", stderr: "" });
});

test("an agent's supervisor: tasks one after the other, and a dialog between them", async () => {
  await using sandbox = cliSandbox();
  const { server, run } = await scene(sandbox);
  await using channel = await AgentChannel.open(sandbox.root);
  // A program that is called as the agent is.
  const [node = "", ...argv] = channel.argv("codexLike", { busyMs: 100 });
  const script = sandbox.path("codex");
  writeFileSync(script, `#!/bin/sh\nexec '${node}' ${argv.map((word) => `'${word}'`).join(" ")}\n`);
  chmodSync(script, 0o755);
  await server.createSession({ name: "agent", command: [script] });
  await channel.next("ready");
  await channel.tell("ask");
  const supervisor = run([process.execPath, "examples/agentSupervisor.mjs", "agent", "first task", "second task"], {
    ANSWER: "0",
  });
  const { code, stdout, stderr } = await supervisor.finished;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.split("\n")).toEqual([
    expect.stringMatching(/^asks: ".*", \d options$/),
    expect.stringMatching(/^answered: \w+$/),
    "submitted: first task",
    "submitted: second task",
    "all done",
    "",
  ]);
  expect(channel.submits()).toEqual(["first task", "second task"]);
});

if (NO_BROWSER !== undefined) process.stderr.write(`examples: ${NO_BROWSER}\n`);

test.skipIf(NO_BROWSER !== undefined)("a page with xterm.js shows the pane and types into it", async () => {
  await using sandbox = cliSandbox();
  // The page's port is known before the daemon is asked to let it in.
  const pages = sandbox.adopt(spawn(process.execPath, ["-e", FREE_PORT]));
  const [, port = ""] = await pages.line(/^(\d+)$/m);
  await pages.finished;
  const origin = `http://127.0.0.1:${port}`;
  const { server, url, token, run } = await scene(sandbox, { TMUXWIRE_ALLOWED_ORIGINS: origin });
  await server.createSession({
    name: "work",
    command: ["sh", "-c", "stty -echo; echo shown; read x; echo got-$x; read y"],
  });
  await run([process.execPath, "examples/xtermPage/page.mjs", port]).line(/^http/m);
  await using browser = await startBrowser();
  await using opened = await browser.open(`${origin}/`);
  const { page } = opened;
  await page.fill("[name=url]", url);
  await page.fill("[name=token]", token);
  await page.click("button");
  const shows = (text: string) =>
    eventually(async () => (await page.locator(".xterm-rows").innerText()).includes(text));
  await shows("shown");
  await page.locator(".xterm-helper-textarea").focus();
  await page.keyboard.type("typed\n");
  await shows("got-typed");
  expect(await page.locator("output").innerText()).toBe("");
});

const NO_FLEET = NO_BROWSER ?? (natsVersion === undefined ? NO_NATS : undefined);
if (NO_FLEET !== undefined) process.stderr.write(`examples: the fleet's page is skipped, ${NO_FLEET}\n`);

test.skipIf(NO_FLEET !== undefined)("a page shows a pane from NATS, without a daemon's port", async () => {
  await using nats = await natsServers({ websocket: true });
  await using sandbox = cliSandbox();
  const { server, run } = await scene(
    sandbox,
    { TMUXWIRE_NATS: nats.urls[0] ?? "", TMUXWIRE_NATS_PUBLISH: "main", TMUXWIRE_NATS_HOST: "box" },
    "native,nats",
  );
  const { activePane } = await server.createSession({
    name: "work",
    command: ["sh", "-c", "stty -echo; echo shown; read x; echo got-$x; read y"],
  });
  const listed = async () => (await sandbox.run(["ls", "--nats", nats.urls[0] ?? ""])).stdout;
  await eventually(async () => (await listed()).includes(activePane ?? "no pane"));
  const pages = run([process.execPath, "examples/fleetPage/page.mjs", "0"]);
  const [origin] = await pages.line(/^http:\S+/m);
  await using browser = await startBrowser();
  await using opened = await browser.open(origin);
  const { page } = opened;
  await page.fill("[name=url]", `ws://127.0.0.1:${nats.websocketPort}`);
  await page.fill("[name=host]", "box");
  await page.fill("[name=pane]", activePane ?? "");
  await page.click("button");
  const shows = (text: string) =>
    eventually(async () => (await page.locator(".xterm-rows").innerText()).includes(text));
  await shows("shown");
  await server.pane(activePane ?? "").input([{ kind: "text", text: "typed\r" }]);
  await shows("got-typed");
  expect(await page.locator("output").innerText()).toBe("");
});

test.skipIf(NO_BROWSER !== undefined)("a page that plays a recording, at any speed and any place", async () => {
  await using sandbox = cliSandbox();
  const pages = sandbox.adopt(spawn(process.execPath, [join(EXAMPLES, "xtermPage/page.mjs"), "0"]));
  const [origin] = await pages.line(/^http:\S+/m);
  await using browser = await startBrowser();
  await using opened = await browser.open(`${origin}player`);
  const { page } = opened;
  const rows = () => page.locator(".xterm-rows").innerText();
  const seek = (to: string) =>
    page
      .locator("[name=place]")
      .evaluate((place: { value: string; max: string; dispatchEvent: (event: unknown) => void }, at) => {
        place.value = at === "end" ? place.max : at;
        place.dispatchEvent(new Event("input"));
      }, to);
  await page.setInputFiles("[name=file]", join(ROOT, "docs/demo.cast"));
  await seek("end");
  await eventually(async () => (await rows()).includes("tmuxwire kill work"));
  await seek("0");
  await eventually(async () => !(await rows()).includes("tmuxwire"));
  await page.fill("[name=speed]", "1000");
  await page.click("button");
  await eventually(async () => (await rows()).includes("tmuxwire kill work"));
  await eventually(async () => (await page.locator("button").innerText()) === "Play");
  expect(opened.wrongs).toEqual([]);
});

const FREE_PORT = `const server = require("node:net").createServer();
server.listen(0, "127.0.0.1", () => { console.log(server.address().port); server.close(); });`;
