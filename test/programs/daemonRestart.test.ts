/** `tmuxwire restart`: another version takes the place of a daemon that is used. */
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { unixFetch } from "../../adapters/serving/unixFetch.ts";
import type { NativeDaemon } from "../../protocol/api/native/nativeRestart.ts";
import { AgentChannel } from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { type CliSandbox, cliSandbox, type Running } from "../support/daemon/cliSandbox.ts";
import { mcpOverPipes } from "../support/daemon/mcpProgram.ts";
import { isAlive } from "../support/daemon/isAlive.ts";
import { callJson } from "../support/daemon/nativeServer.ts";
import { passedListeners } from "../support/daemon/passedListeners.ts";
import { DatabaseSync } from "../../daemon/ops/sql/sqlite.ts";

const BUILT = resolve(dirname(builtCli()), "../..");

/** Ours, installed elsewhere as another version. Returns the executable, for `sandbox.run`. */
function installed(sandbox: CliSandbox, version: string): string {
  const root = sandbox.path(`package-${version}`);
  mkdirSync(root);
  cpSync(join(BUILT, "adapters"), join(root, "dist/adapters"), { recursive: true });
  const manifest = JSON.parse(readFileSync(resolve(BUILT, "../package.json"), "utf8")) as object;
  writeFileSync(join(root, "package.json"), JSON.stringify({ ...manifest, version }));
  symlinkSync(resolve(BUILT, "../node_modules"), join(root, "node_modules"));
  return relative(dirname(builtCli()), join(root, "dist/adapters/bin/tmuxwire.js"));
}

/** Its `--check`, which a restart begins with, says that it has been asked, and ends when `asked` is gone. */
function holdCheck(sandbox: CliSandbox, version: string, asked: string): void {
  const script = join(sandbox.path(`package-${version}`), "dist/adapters/bin/tmuxwire.js");
  const held = `import * as fs from "node:fs";
if (process.argv.includes("--check")) process.once("exit", () => {
  fs.writeFileSync(${JSON.stringify(asked)}, "");
  while (fs.existsSync(${JSON.stringify(asked)})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
});
`;
  writeFileSync(
    script,
    readFileSync(script, "utf8").replace(/^#!.*\n/, (line) => line + held),
  );
}

const clientOf = ({ socketPath, tokenPath }: CliSandbox) =>
  createClient({
    url: "http://localhost",
    token: readFileSync(tokenPath, "utf8").trim(),
    fetch: unixFetch(socketPath),
  });

const daemonOf = async ({ socketPath, tokenPath }: CliSandbox): Promise<NativeDaemon> => {
  const headers = { authorization: `Bearer ${readFileSync(tokenPath, "utf8").trim()}` };
  return (await unixFetch(socketPath)("http://localhost/v1/daemon", { headers })).json() as Promise<NativeDaemon>;
};

/** Ends what a daemon has become. */
async function stop({ child, finished }: Running): Promise<number | null> {
  child.kill("SIGTERM");
  return (await finished).code;
}

describe("tmuxwire restart", () => {
  test("replaces a daemon with the command's version: panes stay, a prompt is finished, a stream goes on with a gap", async () => {
    await using sandbox = cliSandbox();
    const script = installed(sandbox, "9.9.9");
    const isChecked = sandbox.path("is-checked");
    holdCheck(sandbox, "9.9.9", isChecked);
    const daemon = await sandbox.serve(["--log-level", "debug"]);
    const before = await daemonOf(sandbox);
    await sandbox.run(["new", "work"]);
    const pane = clientOf(sandbox).server("main").pane("work");
    await pane.wait({ prompt: true, from: "tail:1" });
    const { pid: shell } = await pane.info();
    // The shell takes the prompt when its loop has ended, which is after the restart was asked for. The loop is the shell's
    // own: a program in front would be who the prompt is meant for.
    const isAsked = sandbox.path("restart-is-asked-for");
    await pane.type(`echo looping-$((6*7)); until [ -e ${isAsked} ]; do :; done`, { enter: true });
    await pane.wait({ pattern: { literal: "looping-42" }, from: "tail:10" });
    const left = new AbortController();
    const events: string[] = [];
    const following = (async () => {
      for await (const event of pane.follow({ from: "now", signal: left.signal }))
        events.push(event.kind === "output" ? Buffer.from(event.bytes).toString() : event.kind);
    })().catch(() => undefined);
    // The restart has been asked for and waits, so that the prompt is not over before it begins, however busy the machine.
    const restarting = sandbox.run(["restart", "--json"], { script });
    await eventually(() => existsSync(isChecked));
    const delivery = pane.submit("echo finished-$((6*7))", { timeoutMs: 20_000 });
    let came: unknown;
    const over = (told: unknown) => {
      came = told;
    };
    delivery.then(over, over);
    await pane.info();
    rmSync(isChecked);
    await eventually(() => daemon.stderr().includes('"daemon.restarting"'));
    expect(came).toBeUndefined();
    writeFileSync(isAsked, "");
    const restarted = await restarting;
    expect(restarted.stderr).toBe("");
    expect(JSON.parse(restarted.stdout)).toMatchObject({ from: before.version, to: "9.9.9", unfinished: 0 });
    expect(await delivery).toMatchObject({ outcome: "submitted" });
    expect(await daemonOf(sandbox)).toMatchObject({ version: "9.9.9" });
    expect((await pane.info()).pid).toBe(shell);
    await eventually(() => events.includes("gap"));
    await pane.type("echo after-$((6*7))", { enter: true });
    await eventually(() => events.join("").includes("after-42"));
    expect(events.filter((event) => event === "gap")).toHaveLength(1);
    left.abort();
    await following;
    expect((await sandbox.run(["capture", "work"])).stdout).toContain("finished-42\n");
    // A command of another version than the daemon's says so where that may be the reason, and so does doctor.
    const unknown = await sandbox.run(["capture", "nobody"]);
    expect(unknown.stderr).toContain(`(the daemon is tmuxwire 9.9.9 and this command ${before.version}; `);
    expect((await sandbox.run(["doctor"])).stdout).toContain(`tmuxwire 9.9.9 runs, and ${before.version} is installed`);
    expect((await sandbox.run(["capture", "nobody"], { script })).stderr).not.toContain("the daemon is tmuxwire");
    // Once more, by the version that runs now; then everything ends with the process that was started first.
    expect((await sandbox.run(["restart"])).stdout).toMatch(
      new RegExp(`^the daemon runs ${before.version} now \\(before: 9\\.9\\.9\\), pid \\d+\\n$`),
    );
    const { pid } = await daemonOf(sandbox);
    expect(await stop(daemon)).toBe(0);
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(`${sandbox.socketPath}.restarting`)).toBe(false);
  });

  test("leaves the daemon as it is when the other version cannot start, and says why", async () => {
    await using sandbox = cliSandbox();
    const script = installed(sandbox, "9.9.9");
    const daemon = await sandbox.serve();
    const before = await daemonOf(sandbox);
    // As a version that no longer knows one of the daemon's arguments.
    const bin = resolve(dirname(builtCli()), script);
    const real = readFileSync(bin, "utf8");
    writeFileSync(
      bin,
      'if (process.argv[2] === "serve") { console.error("tmuxwire: no such flag"); process.exit(2); }\n' +
        real.replace(/^#!.*\n/, ""),
    );
    const { code, stdout, stderr } = await sandbox.run(["restart"], { script });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^tmuxwire: \S+ cannot take over, and this daemon goes on: no such flag\n$/);
    expect(await daemonOf(sandbox)).toEqual(before);
    expect((await clientOf(sandbox).servers())[0]?.state).toBe("ready");
    expect(await stop(daemon)).toBe(0);
  });

  test("is refused over a port, where it may come from elsewhere, and for words that are no paths", async () => {
    await using sandbox = cliSandbox();
    const daemon = await sandbox.serve();
    const [, url = ""] = await daemon.line(/native API listening on (http:\S+)/);
    const authorization = `Bearer ${readFileSync(sandbox.tokenPath, "utf8").trim()}`;
    const overPort = await callJson(url, "POST", "/v1/daemon/restart", {}, { authorization });
    expect([overPort.status, overPort.json["error"]]).toMatchObject([403, { code: "FORBIDDEN" }]);
    const relativePath = await unixFetch(sandbox.socketPath)("http://localhost/v1/daemon/restart", {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ script: "tmuxwire.js" }),
    });
    expect(await relativePath.json()).toMatchObject({
      error: { code: "INVALID_ARGUMENT", message: "script: give an absolute path" },
    });
    expect(await stop(daemon)).toBe(0);
  });

  test("asked for twice at once restarts once", async () => {
    await using sandbox = cliSandbox();
    const daemon = await sandbox.serve();
    const ends = await Promise.all([1, 2].map(() => sandbox.run(["restart", "--json"])));
    expect(ends.map(({ code }) => code)).toEqual([0, 0]);
    const pids = new Set(ends.map(({ stdout }) => (JSON.parse(stdout) as { pid: number }).pid));
    expect([...pids]).toEqual([(await daemonOf(sandbox)).pid]);
    expect(daemon.stderr().match(/"daemon\.restarting"/g)).toHaveLength(1);
    expect(await stop(daemon)).toBe(0);
  });

  test("an MCP client comes back to it", async () => {
    await using sandbox = cliSandbox();
    const daemon = await sandbox.serve();
    await using mcp = await mcpOverPipes({ ...sandbox.env, TMUXWIRE_PORT: "0" }, "modern");
    expect(await mcp.call("list", {})).toMatchObject({ servers: [{ name: "main", state: "ready" }] });
    expect((await sandbox.run(["restart"])).code).toBe(0);
    await eventually(async () =>
      mcp.raw("list", {}).then(
        () => true,
        () => false,
      ),
    );
    expect(mcp.stderr()).not.toContain("was started");
    expect(await stop(daemon)).toBe(0);
  });

  test("where the service manager has opened the listeners, the process ends so that it is started again", async () => {
    await using sandbox = cliSandbox();
    const { socketPath, descriptors, close } = await passedListeners(sandbox.root);
    // As systemd does with Restart=on-failure: it keeps the listeners, and starts the daemon again after a failure.
    const start = 'sh -c \'LISTEN_PID=$$ LISTEN_FDS=2 exec "$0" "$@"\' "$@"';
    const manager = sandbox.adopt(
      spawn(
        "sh",
        [
          "-c",
          `${start}; echo "ended with $?"; ${start}`,
          "sh",
          process.execPath,
          builtCli(),
          "serve",
          "--only",
          "native",
        ],
        {
          env: { ...sandbox.env },
          stdio: ["ignore", "pipe", "pipe", ...descriptors],
        },
      ),
    );
    await manager.line(/listening on http:.*\n/);
    close();
    const { code, stdout } = await sandbox.run(["restart", "--json", "--socket", socketPath]);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { by: "service" }]);
    expect(manager.stdout()).toContain("ended with 75\n");
    process.kill((JSON.parse(stdout) as { pid: number }).pid, "SIGTERM");
    expect((await manager.finished).code).toBe(0);
  });

  test("the whole of it comes back: every listener, the user's own tmux, and what waits for an agent", async () => {
    await using sandbox = cliSandbox();
    await using channel = await AgentChannel.open(sandbox.root);
    const bin = sandbox.binaries("bin", { claude: channel.executable("dialog", { busyMs: 4_000 }) });
    const theirs = sandbox.path("user-tmux.sock");
    sandbox.tmux(
      theirs,
      "-f",
      "/dev/null",
      "new-session",
      "-d",
      "-s",
      "work",
      "-x",
      "100",
      "-y",
      "30",
      join(bin, "claude"),
    );
    const ports = ["--port", "0", "--dashboard-port", "0", "--freshell-port", "0", "--dashboard-tmux-socket", theirs];
    const daemon = sandbox.start(["serve", "--only", "native,team,dashboard,freshell", ...ports], {
      env: { AUTH_TOKEN: "a-token-of-the-tests-0123456789", TMUXWIRE_SERVERS: `user=${theirs}` },
    });
    const listening = (): string[] => daemon.stdout().match(/^.* listening on (?:http|unix)/gm) ?? [];
    await daemon.line(/Freshell listening/);
    const first = listening();
    const client = clientOf(sandbox);
    await channel.next("ready");
    const ready = async (): Promise<boolean> => (await client.agents()).some(({ state }) => state === "ready");
    await eventually(ready);
    const [agent] = await client.agents();
    await client.tell(agent!.id, "first", { wait: "taken" });
    // The agent is busy now: this one waits over the restart.
    await client.tell(agent!.id, "second", { when: "idle" });
    expect((await sandbox.run(["restart"])).code).toBe(0);
    await eventually(() => listening().length === 2 * first.length);
    expect(listening().slice(first.length)).toEqual(first);
    expect(daemon.stdout()).not.toContain("is not served");
    await eventually(() => channel.submits().length === 2);
    expect(channel.submits()).toEqual(["first", "second"]);
    expect((await client.agents()).map(({ id }) => id)).toEqual([agent!.id]);
    expect(await stop(daemon)).toBe(0);
  });

  test("a Ctrl-C for the process that was started ends the daemon that it has become", async () => {
    await using sandbox = cliSandbox();
    const daemon = await sandbox.serve();
    expect((await sandbox.run(["restart"])).code).toBe(0);
    const { pid } = await daemonOf(sandbox);
    daemon.child.kill("SIGINT");
    expect((await daemon.finished).code).toBe(0);
    expect(isAlive(pid)).toBe(false);
  });

  test("its daemon does not outlive the process that whoever started it knows", async () => {
    await using sandbox = cliSandbox();
    const daemon = await sandbox.serve();
    expect((await sandbox.run(["restart"])).code).toBe(0);
    const { pid } = await daemonOf(sandbox);
    daemon.child.kill("SIGKILL");
    await daemon.finished;
    await eventually(() => !isAlive(pid));
  });
});

test("a daemon refuses what a newer version has stored, in one line, and so does its try", async () => {
  await using sandbox = cliSandbox();
  mkdirSync(sandbox.path("state/tmuxwire"), { mode: 0o700 });
  const path = sandbox.path("state/tmuxwire/agents.db");
  const newer = new DatabaseSync(path);
  newer.exec("CREATE TABLE of_a_newer_version (x); PRAGMA user_version = 99");
  newer.close();
  const content = readFileSync(path);
  for (const args of [
    ["serve", "--only", "native", "--port", "0"],
    ["serve", "--check"],
  ]) {
    // oxlint-disable-next-line no-await-in-loop -- on the same files
    const { code, stdout, stderr } = await sandbox.run(args);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^tmuxwire: \S+agents\.db was written by a newer tmuxwire \(version 99 of the file; .*\n$/);
  }
  expect(readFileSync(path)).toEqual(content);
});
