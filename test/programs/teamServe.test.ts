/** The team contract as a process: where it says it listens, `kill -9`, tmux that is missing, starting it from inside pi. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type teamTmuxExtension from "../../adapters/team/piExtension.ts";
import { FakePiHost } from "../fixtures/team/fakePiHost.ts";
import { fakeTeamd } from "../fixtures/team/fakeTeamd.ts";
import { FAKE_PI } from "../fixtures/team/teamFixture.ts";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { behind, type CliSandbox, cliSandbox, type RunOptions, type Running } from "../support/daemon/cliSandbox.ts";
import { eventually } from "../support/clock/eventually.ts";
import { callJson } from "../support/daemon/nativeServer.ts";

const TEAM = "team-test";
const WORKER = { PI_TEAM_WORKER_ARGV: JSON.stringify([FAKE_PI]) };

/** The compiled extension, beside the executable that it starts. */
const builtExtension = async (): Promise<typeof teamTmuxExtension> =>
  ((await import(join(builtCli(), "../../team/piExtension.js"))) as { default: typeof teamTmuxExtension }).default;

interface Address {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
}

const daemonFile = (sandbox: CliSandbox): string => sandbox.path("home/.pi/agent/tmux/daemon.json");
const addressOf = (sandbox: CliSandbox): Address => JSON.parse(readFileSync(daemonFile(sandbox), "utf8")) as Address;
const socketOf = (sandbox: CliSandbox): string => sandbox.path("home/.pi/agent/tmux", TEAM, "tmux.sock");

async function serve(sandbox: CliSandbox, options: RunOptions = {}): Promise<Running> {
  const env = { ...WORKER, ...options.env };
  const daemon = sandbox.start(["serve", "--only", "team", "--port", "0"], { ...options, env });
  await daemon.line(/^team contract at /m);
  return daemon;
}

function call(sandbox: CliSandbox, operation: string, body: object = {}) {
  const { url, token } = addressOf(sandbox);
  const headers = { authorization: `Bearer ${token}` };
  return callJson(url, "POST", `/team/v1/tmux/${operation}`, { teamId: TEAM, ...body }, headers);
}

test("served alone it makes no tmux server, tells pi where it is, and takes that back", async () => {
  await using sandbox = cliSandbox();
  const daemon = await serve(sandbox);
  expect(statSync(daemonFile(sandbox)).mode & 0o777).toBe(0o600);
  expect(addressOf(sandbox)).toMatchObject({ pid: daemon.pid, token: readFileSync(sandbox.tokenPath, "utf8").trim() });
  expect(existsSync(sandbox.tmuxSocketPath)).toBe(false);
  expect((await call(sandbox, "list")).json).toEqual({ sessions: [] });
  expect(existsSync(socketOf(sandbox))).toBe(false);
  daemon.child.kill("SIGTERM");
  expect((await daemon.finished).code).toBe(0);
  expect(existsSync(daemonFile(sandbox))).toBe(false);
});

test("killed with -9 and started again it lists and captures what was there, and repeats nothing", async () => {
  await using sandbox = cliSandbox();
  await using teamd = await fakeTeamd(sandbox.path("home/.pi/teams"), TEAM);
  expect(teamd.requests).toEqual([]);
  const first = await serve(sandbox);
  const start = { taskPrompt: "remember me", idempotencyKey: "k1", cwd: sandbox.root };
  const started = await call(sandbox, "start", start);
  expect(started.json).toMatchObject({ sessionName: "worker-1", created: true, promptSubmitted: true });
  first.child.kill("SIGKILL");
  await first.finished;
  expect(sandbox.tmux(socketOf(sandbox), "has-session", "-t", "=worker-1")).toBe("");
  await serve(sandbox);
  expect((await call(sandbox, "list")).json["sessions"]).toMatchObject([{ name: "worker-1", dead: false }]);
  expect((await call(sandbox, "capture", { sessionName: "worker-1" })).json["text"]).toContain("remember me");
  expect((await call(sandbox, "start", start)).json).toEqual({
    ...started.json,
    created: false,
    threadCreated: false,
  });
  const prompts = readFileSync(join(sandbox.root, "prompts.jsonl"), "utf8").trim().split("\n");
  expect(prompts).toHaveLength(1);
});

test("killed between making a worker and typing, the same request finishes it and any other says how", async () => {
  await using sandbox = cliSandbox();
  await using teamd = await fakeTeamd(sandbox.path("home/.pi/teams"), TEAM);
  const gate = sandbox.path("gate");
  const env = { PI_TEAM_WORKER_ARGV: JSON.stringify([FAKE_PI, "--gate", gate]) };
  const first = await serve(sandbox, { env });
  const start = { sessionName: "one", taskPrompt: "finish me", idempotencyKey: "k1", cwd: sandbox.root };
  const lost = call(sandbox, "start", start).catch(() => undefined);
  await eventually(async () => JSON.stringify((await call(sandbox, "list")).json).includes("one"));
  first.child.kill("SIGKILL");
  await Promise.all([first.finished, lost]);
  const prompts = sandbox.path("prompts.jsonl");
  expect([existsSync(prompts), teamd.threads.get("thread-0001")?.messages]).toEqual([false, []]);
  await serve(sandbox, { env });
  const other = await call(sandbox, "start", { sessionName: "one", taskPrompt: "another", cwd: sandbox.root });
  expect(other.json).toMatchObject({
    created: false,
    promptSubmitted: false,
    outcome: "unfinished",
    reason: expect.stringMatching(/repeat exactly that request to finish it/) as unknown,
    dead: false,
  });
  writeFileSync(gate, "");
  const finished = await Promise.all([call(sandbox, "start", start), call(sandbox, "start", start)]);
  finished.push(await call(sandbox, "start", start));
  for (const { status, json } of finished) {
    expect([status, json]).toMatchObject([
      200,
      { sessionName: "one", created: false, promptSubmitted: true, outcome: "submitted", threadId: "thread-0001" },
    ]);
  }
  expect(readFileSync(prompts, "utf8").trim().split("\n")).toMatchObject([
    expect.stringContaining('"finish me"') as unknown,
  ]);
  expect(teamd.threads.size).toBe(1);
  expect(teamd.threads.get("thread-0001")?.messages).toMatchObject([
    { body: expect.stringMatching(/^\[team_tmux_start\] session=one /) as unknown },
  ]);
});

test("a changed PATH or setting holds for the next worker of a server that goes on", async () => {
  await using sandbox = cliSandbox();
  await using teamd = await fakeTeamd(sandbox.path("home/.pi/teams"), TEAM);
  expect(teamd.requests).toEqual([]);
  const worker = `#!/bin/sh\nenv > env.part; mv env.part "$PI_AGENT_ID.env"\nexec sleep 1000\n`;
  const daemonOf = async (directory: string, env: Readonly<Record<string, string>>, program: string) => {
    const path = behind(sandbox.binaries(directory, { [program]: worker }));
    const more = { PI_TEAM_WORKER_ARGV: JSON.stringify([program]), TMUXWIRE_TEAM_READY_TIMEOUT_MS: "1000" };
    return serve(sandbox, { env: { PATH: path, ...more, ...env } });
  };
  const started = async (): Promise<Map<string, string>> => {
    const { json } = await call(sandbox, "start", { taskPrompt: "x", cwd: sandbox.root });
    expect(json).toMatchObject({ created: true, dead: false });
    const written = sandbox.path(`${String(json["sessionName"])}.env`);
    await eventually(() => existsSync(written) && readFileSync(written, "utf8").includes("PATH="));
    const lines = readFileSync(written, "utf8").split("\n");
    return new Map(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
  };
  const first = await daemonOf("bin-1", { TMUXWIRE_TEAM_PASS_ENV: "OLD_KEY", OLD_KEY: "old", LANG: "C.UTF-8" }, "one");
  const before = await started();
  expect([before.get("OLD_KEY"), before.get("LANG")]).toEqual(["old", "C.UTF-8"]);
  const pid = sandbox.tmux(socketOf(sandbox), "display-message", "-p", "#{pid}");
  first.child.kill("SIGTERM");
  await first.finished;
  const more = { TMUXWIRE_TEAM_PASS_ENV: "NEW_KEY", OLD_KEY: "old", NEW_KEY: "new", LANG: "en_US.UTF-8" };
  await daemonOf("bin-2", more, "two");
  const after = await started();
  expect([after.get("OLD_KEY"), after.get("NEW_KEY"), after.get("LANG")]).toEqual([undefined, "new", "en_US.UTF-8"]);
  expect(after.get("PATH")).toMatch(new RegExp(`^${sandbox.path("bin-2")}:`));
  expect(sandbox.tmux(socketOf(sandbox), "display-message", "-p", "#{pid}")).toBe(pid);
});

test("neither the daemon's token nor teamd's is in any worker's environment, or the daemon's log", async () => {
  await using sandbox = cliSandbox();
  await using teamd = await fakeTeamd(sandbox.path("home/.pi/teams"), TEAM);
  const secrets = { PI_TEAMD_TOKEN: teamd.token, PI_TEAMD_URL: teamd.url, TMUXWIRE_TEAM_PASS_ENV: "PI_OFFLINE" };
  const daemon = await serve(sandbox, { env: { ...secrets, PI_OFFLINE: "1" } });
  await call(sandbox, "start", { taskPrompt: "x", cwd: sandbox.root });
  const pids = sandbox.tmux(socketOf(sandbox), "list-panes", "-a", "-F", "#{pane_pid}\n#{pid}").trim().split("\n");
  const environs = pids.map((pid) => readFileSync(`/proc/${pid}/environ`, "utf8"));
  expect(environs.some((environ) => environ.includes("PI_OFFLINE=1"))).toBe(true);
  const told = environs.join("\n") + daemon.stdout() + daemon.stderr();
  for (const secret of [teamd.token, addressOf(sandbox).token, "PI_TEAMD"]) expect(told).not.toContain(secret);
});

test("tmux that is not installed is said so, and nothing is left", async () => {
  await using sandbox = cliSandbox();
  await using teamd = await fakeTeamd(sandbox.path("home/.pi/teams"), TEAM);
  await serve(sandbox, { env: { PATH: sandbox.binaries("bin", {}) } });
  const { status, json } = await call(sandbox, "start", { taskPrompt: "x" });
  expect([status, json]).toMatchObject([503, { error: { code: "tmux_not_installed" } }]);
  expect(teamd.requests).toEqual([]);
  // Installed now, it is found.
  symlinkSync("/usr/bin/tmux", sandbox.path("bin/tmux"));
  for (const tool of ["sh", "stty", "cat", "test"]) symlinkSync(`/usr/bin/${tool}`, sandbox.path("bin", tool));
  expect(existsSync("/usr/bin/stty")).toBe(true);
  expect((await call(sandbox, "start", { taskPrompt: "x", cwd: sandbox.root })).status).toBe(200);
});

test("pi starts the daemon when it may, once for several calls, and finds it again after it was killed", async () => {
  await using sandbox = cliSandbox();
  await using teamd = await fakeTeamd(sandbox.path("home/.pi/teams"), TEAM);
  expect(teamd.requests).toEqual([]);
  const env = { ...sandbox.env, ...WORKER, TMUXWIRE_PORT: "0", PATH: behind(sandbox.binaries("bin", {})) };
  const may = new FakePiHost(
    { env: { ...env, TMUXWIRE_AUTOSTART: "1", PI_TEAMD_X: "secret" } },
    await builtExtension(),
  );
  const mayNot = new FakePiHost({ env });
  const context = may.context(sandbox.root);
  await expect(mayNot.call("team_tmux_list", {}, context)).rejects.toThrow(/^daemon_unavailable: /);
  const stop = async (): Promise<number> => {
    const { pid } = addressOf(sandbox);
    process.kill(pid, "SIGKILL");
    await eventually(
      () => !existsSync(`/proc/${pid}`) || /\nState:\tZ/.test(readFileSync(`/proc/${pid}/status`, "utf8")),
    );
    return pid;
  };
  try {
    const both = await Promise.all([1, 2].map(() => may.call("team_tmux_list", {}, context)));
    expect(both.map(({ details }) => details)).toEqual([{ sessions: [] }, { sessions: [] }]);
    expect(readFileSync(`/proc/${addressOf(sandbox).pid}/environ`, "utf8")).not.toContain("PI_TEAMD_X");
    const killed = await stop();
    // The first one's file is still there.
    expect((await may.call("team_tmux_list", {}, context)).details).toEqual({ sessions: [] });
    expect(addressOf(sandbox).pid).not.toBe(killed);
  } finally {
    await stop();
  }
});

test("a daemon that cannot start tells pi why", async () => {
  await using sandbox = cliSandbox();
  await using teamd = await fakeTeamd(sandbox.path("home/.pi/teams"), TEAM);
  expect(teamd.requests).toEqual([]);
  const host = new FakePiHost(
    { env: { ...sandbox.env, TMUXWIRE_AUTOSTART: "1", TMUXWIRE_PORT: "nonsense" } },
    await builtExtension(),
  );
  await expect(host.call("team_tmux_list", {}, host.context(sandbox.root))).rejects.toThrow(
    /^daemon_unavailable: it did not start: .*TMUXWIRE_PORT must be an integer/,
  );
});

test("its directory is its owner's alone, or it does not start", async () => {
  await using sandbox = cliSandbox();
  mkdirSync(sandbox.path("home/.pi/agent/tmux"), { recursive: true, mode: 0o777 });
  chmodSync(sandbox.path("home/.pi/agent/tmux"), 0o777);
  const { code, stderr } = await sandbox.run(["serve", "--only", "team", "--port", "0"]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/is writable by others; run `chmod 700/) as unknown]);
  rmSync(sandbox.path("home/.pi"), { recursive: true });
});
