/**
 * What the README shows is what happens: every example is taken from the document, run as it stands by a user of its own
 * against a daemon of its own (only the ports are others), and its output compared with the one that is shown.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { transformSync } from "esbuild";
import { expect, test } from "vitest";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { behind, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { commandsOf, dialogue, type DocumentBlock, documentBlocks } from "../support/daemon/documentBlocks.ts";
import { user } from "../support/daemon/documentUser.ts";
import { eventually } from "../support/clock/eventually.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const README = documentBlocks("README.md");
const CLIENTS = documentBlocks("docs/clients.md");

/** The block whose text holds `text`; a document without it has changed, and so must the test. */
function blockWith(text: string, blocks = README): DocumentBlock {
  const found = blocks.find(({ lines }) => lines.some((line) => line.includes(text)));
  if (found === undefined) throw new Error(`no example shows ${text}`);
  return found;
}

test("the five minutes", async () => {
  await using sandbox = cliSandbox();
  const { start } = await user(sandbox);
  const examples = dialogue(blockWith("tmuxwire new work"));
  expect(examples.length).toBeGreaterThan(4);
  for (const { command, output } of examples) {
    if (/\bfollow\b/.test(command)) {
      const following = start(command);
      // It says nothing until the pane does, so the pane is made to speak until it has.
      try {
        await eventually(async () => {
          await start("npx tmuxwire send work 'echo followed' --enter").finished;
          return following.stdout().includes("followed");
        });
      } finally {
        process.kill(-following.pid, "SIGINT");
        await following.finished;
      }
      continue;
    }
    const { stdout, stderr } = await start(command).finished;
    expect({ command, stdout, stderr }).toEqual({ command, stdout: output, stderr: "" });
  }
});

test("your own tmux", async () => {
  await using sandbox = cliSandbox();
  const socket = sandbox.path("user-tmux.sock");
  const config = sandbox.path("user.conf");
  writeFileSync(config, "");
  const made = spawnSync(
    "tmux",
    ["-u", "-f", config, "-S", socket, "new-session", "-d", "-s", "notes", "echo a note of mine; exec sh"],
    { env: { ...sandbox.env, SHELL: "/bin/sh" } },
  );
  expect(made.status).toBe(0);
  await eventually(() => sandbox.tmux(socket, "capture-pane", "-p", "-t", "notes").includes("a note of mine"));
  const [serve = ""] = commandsOf(blockWith("serve --server"));
  const given = /--server (\w+)=default$/.exec(serve);
  expect(given).not.toBeNull();
  // Not the server of whoever runs the tests.
  const { start } = await user(sandbox, ["--server", `${given?.[1]}=${socket}`]);
  for (const { command, output } of dialogue(blockWith("capture notes"))) {
    // oxlint-disable-next-line no-await-in-loop -- in the order of the document
    const { stdout, stderr } = await start(command).finished;
    expect({ command, stdout, stderr }).toEqual({ command, stdout: output, stderr: "" });
  }
});

test("recordings, and the one that shows the five minutes", async () => {
  await using sandbox = cliSandbox();
  const { start } = await user(sandbox);
  await start("npx tmuxwire new work").finished;
  for (const { command, output } of dialogue(blockWith("tmuxwire rec film", CLIENTS))) {
    // oxlint-disable-next-line no-await-in-loop -- in the order of the document
    const { stdout, stderr } = await start(command).finished;
    expect({ command, stdout, stderr }).toEqual({ command, stdout: output, stderr: "" });
  }
  const [, play = ""] = /`(tmuxwire play \S+)`/.exec(readFileSync(join(ROOT, "README.md"), "utf8")) ?? [];
  const played = await start(`cd '${ROOT}' && ${play} --speed 1000000`).finished;
  expect(played).toMatchObject({ code: 0, stderr: "" });
  for (const { command } of dialogue(blockWith("tmuxwire new work"))) {
    // A screen within the screen would show nothing of use.
    if (!/\bfollow\b/.test(command)) expect(played.stdout).toContain(command.split("#")[0]!.trim());
  }
});

test("curl as a command line", async () => {
  await using sandbox = cliSandbox();
  const { start } = await user(sandbox);
  const blocks = documentBlocks("docs/curl.md");
  const { lines: define } = blockWith("tw()", blocks);
  for (const block of blocks) {
    if (block.lines[0]?.startsWith("$ ") !== true) continue;
    for (const { command, output } of dialogue(block)) {
      // oxlint-disable-next-line no-await-in-loop -- in the order of the document
      const { stdout, stderr } = await start([...define, command].join("\n")).finished;
      expect({ command, stdout, stderr }).toEqual({ command, stdout: output, stderr: "" });
    }
  }
});

test("one request for each API", async () => {
  await using sandbox = cliSandbox();
  const { start } = await user(sandbox);
  const [native = ""] = commandsOf(blockWith("/v1/servers/main/panes", CLIENTS));
  expect(JSON.parse((await start(`${native} -sS`).finished).stdout)).toEqual({ panes: [] });
  const [addin = ""] = commandsOf(blockWith("create_session", CLIENTS));
  const made = await start(`${addin} -sS`).finished;
  expect(JSON.parse(made.stdout)).toMatchObject({ ok: true, action: "create_session", session: "sheet" });
  const [dashboard = ""] = commandsOf(blockWith("/api/agents", CLIENTS));
  expect(JSON.parse((await start(`${dashboard} -sS`).finished).stdout)).toMatchObject({ agents: [] });
  const [team = ""] = commandsOf(blockWith("/team/v1/tmux/list", CLIENTS));
  expect(JSON.parse((await start(`${team} -sS`).finished).stdout)).toEqual({ sessions: [] });
  const [freshell = ""] = commandsOf(blockWith("/api/terminals", CLIENTS));
  expect(JSON.parse((await start(`${freshell} -sS`).finished).stdout)).toEqual([]);
});

test("the program: its types hold, and it prints what is shown", async () => {
  await using sandbox = cliSandbox();
  const { start } = await user(sandbox);
  const index = CLIENTS.findIndex(({ language }) => language === "ts");
  const [program, printed] = [CLIENTS[index]!.lines.join("\n"), CLIENTS[index + 1]!.lines.join("\n")];
  // As a package that depends on this one.
  const home = sandbox.path("home");
  mkdirSync(join(home, "node_modules"));
  symlinkSync(ROOT, join(home, "node_modules/tmuxwire"));
  symlinkSync(join(ROOT, "node_modules/@types"), join(home, "node_modules/@types"));
  writeFileSync(join(home, "package.json"), '{"type":"module"}');
  writeFileSync(join(home, "program.ts"), program);
  const options = {
    module: "nodenext",
    target: "es2023",
    strict: true,
    noEmit: true,
    types: ["node"],
    skipLibCheck: true,
  };
  writeFileSync(join(home, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["program.ts"] }));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  expect(spawnSync(process.execPath, [tsc, "-p", home], { encoding: "utf8" }).stdout).toBe("");
  const { code } = transformSync(program, { loader: "ts", format: "esm" });
  const run = start(`cat > program.js <<'END'\n${code}\nEND\nnode program.js`);
  const { stdout, stderr } = await run.finished;
  expect({ stdout: stdout.trim(), stderr }).toEqual({ stdout: printed, stderr: "" });
});

test("what it says to run first is what continuous integration runs, and what starts the daemon", () => {
  const said = commandsOf(blockWith("npm ci && npm start")).map((line) => line.split("#")[0]!.trim());
  expect(said).toEqual(["npm ci && npm start", "npm ci && npm test"]);
  const ci = readFileSync(join(ROOT, ".ci/run"), "utf8");
  for (const command of ["npm ci", "npm test"]) expect(ci.split("\n")).toContain(command);
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  expect(scripts["start"]).toMatch(/dist\/adapters\/bin\/tmuxwire\.js serve$/);
  expect(scripts["prestart"]).toContain("build");
});

test("what it shows of agents is what docs/agents.md shows, whose test runs it", () => {
  const shown = commandsOf(blockWith("tmuxwire start claude"));
  expect(shown.length).toBeGreaterThan(3);
  const agents = documentBlocks("docs/agents.md").flatMap(({ lines }) => lines.map((line) => line.replace(/ &&$/, "")));
  expect(shown.filter((command) => !agents.includes(command))).toEqual([]);
});

test("every block of the README and of docs/clients.md is one of those", () => {
  const known = {
    "README.md": [
      "npm ci && npm start",
      "tmuxwire new work",
      // test/support/packageSmoke.sh runs these three with the packed package, mcp.test.ts and the real agents the last one.
      "npm install -g tmuxwire",
      "npx tmuxwire serve",
      "claude mcp add",
      "serve --server",
      "capture notes",
      "tmuxwire start claude",
    ],
    "docs/clients.md": [
      "createClient",
      "built 0",
      "tmuxwire rec film",
      "/v1/servers/main/panes",
      "create_session",
      "/api/agents",
      "/team/v1/tmux/list",
      "/api/terminals",
    ],
  };
  for (const [path, texts] of Object.entries(known)) {
    const blocks = documentBlocks(path);
    const found = new Set(texts.map((text) => blockWith(text, blocks)));
    expect(blocks.filter((block) => !found.has(block))).toEqual([]);
  }
});

test("docs/addin.md: each way to start the bridge", async () => {
  await using sandbox = cliSandbox();
  const bin = sandbox.binaries("bin", { npx: `#!/bin/sh\nshift\nexec '${process.execPath}' '${builtCli()}' "$@"\n` });
  const commands = commandsOf(blockWith("npx tmuxwire addin", documentBlocks("docs/addin.md")));
  expect(commands).toHaveLength(3);
  for (const command of commands) {
    const env = { ...sandbox.env, PATH: behind(bin), PORT: "0" };
    const bridge = sandbox.adopt(
      spawn("bash", ["-c", `exec env ${command.split("#")[0]}`], { env, cwd: sandbox.root }),
    );
    const [, mode] = await bridge.line(/bridge listening on https:\/\/localhost:\d+ \((\w+) mode\)/);
    expect(mode).toBe(command.includes("MODE=stub") ? "stub" : "tmux");
    bridge.child.kill("SIGTERM");
    expect((await bridge.finished).code).toBe(0);
  }
});
