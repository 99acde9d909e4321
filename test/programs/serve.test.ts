/** The daemon as a process: start-up lines, signals, what it leaves behind, what panes learn of it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { builtCli } from "../support/daemon/cliBuild.ts";
import type { CliSandbox, Running } from "../support/daemon/cliSandbox.ts";
import { passedListeners } from "../support/daemon/passedListeners.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { eventually } from "../support/clock/eventually.ts";

const TOKEN = /[A-Za-z0-9_-]{43}/;

/** `GET` of a JSON document, over a port or a unix socket. */
function ask(
  url: string,
  headers: Record<string, string> = {},
  socketPath?: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    request(url, { headers, ...(socketPath === undefined ? {} : { socketPath }) }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    })
      .on("error", reject)
      .end();
  });
}

const bearer = (sandbox: CliSandbox) => ({ authorization: `Bearer ${readFileSync(sandbox.tokenPath, "utf8").trim()}` });

describe("serve", () => {
  test("says where it listens, serves both adapters, and keeps its secrets to its owner", async () => {
    await using sandbox = cliSandbox();
    const daemon = sandbox.start(["serve", "--http", "--addin-port", "0", "--port", "0"]);
    await daemon.line(/listening on unix:/);
    const [, addin = ""] = await daemon.line(/tmux bridge listening on (http:\S+) \(tmux mode\)/);
    const [, native = ""] = await daemon.line(/native API listening on (http:\S+)/);
    const health = await ask(`${addin}/health`, { origin: "https://localhost:3000" });
    expect(JSON.parse(health.text)).toMatchObject({ ok: true, mode: "tmux", sessions: 0 });
    expect((await ask(`${native}/v1/servers`)).status).toBe(401);
    expect((await ask(`${native}/v1/servers`, bearer(sandbox))).status).toBe(200);
    expect((await ask("http://localhost/v1/servers", {}, sandbox.socketPath)).status).toBe(401);
    expect((await ask("http://localhost/v1/servers", bearer(sandbox), sandbox.socketPath)).status).toBe(200);
    expect((await ask(`${native}/v1/servers`, { ...bearer(sandbox), origin: "https://evil.example" })).status).toBe(
      403,
    );
    expect((await ask(`${native}/v1/servers`, { ...bearer(sandbox), host: "evil.example" })).status).toBe(403);
    const modes = ["run/tmuxwire", "run/tmuxwire/tmuxwire.sock", "state/tmuxwire", "state/tmuxwire/token"].map((path) =>
      (statSync(sandbox.path(path)).mode & 0o777).toString(8),
    );
    expect(modes).toEqual(["700", "600", "700", "600"]);
  });

  test("--only serves what is named and nothing else", async () => {
    await using sandbox = cliSandbox();
    const daemon = sandbox.start(["serve", "--only", "addin", "--http", "--addin-port", "0", "--addin-mode", "stub"]);
    await daemon.line(/tmux bridge listening on .* \(stub mode\)/);
    daemon.child.kill("SIGTERM");
    const { code, stdout } = await daemon.finished;
    expect([code, stdout.trim().split("\n").length]).toEqual([0, 1]);
    expect(existsSync(sandbox.tokenPath)).toBe(false);
    expect(readdirSync(sandbox.path("run"))).toEqual([]);
  });

  test("`addin` is the bridge alone with real shells; the bare script has a development's defaults", async () => {
    await using sandbox = cliSandbox();
    const stub = sandbox.start(["addin", "--addin-port", "0"], { env: { TMUX_BRIDGE_MODE: "stub" } });
    await stub.line(/tmux bridge listening on https:\/\/localhost:\d+ \(stub mode\)/);
    const real = sandbox.start(["addin", "--addin-port", "0", "--http"]);
    await real.line(/tmux bridge listening on http:\/\/127\.0\.0\.1:\d+ \(tmux mode\)/);
    const bare = sandbox.start([], { env: { PORT: "0" }, script: "addin.js" });
    await bare.line(/tmux bridge listening on http:\/\/127\.0\.0\.1:\d+ \(stub mode\)/);
    for (const { stdout } of [stub, real, bare]) expect(stdout()).not.toContain("native");
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s ends it cleanly", async (signal) => {
    await using sandbox = cliSandbox();
    const daemon = await sandbox.serve();
    await sandbox.run(["new", "work"]);
    daemon.child.kill(signal);
    const { code, stderr } = await daemon.finished;
    expect(code).toBe(0);
    for (const line of stderr.trim().split("\n")) expect(JSON.parse(line)).toMatchObject({ level: "info" });
    expect(existsSync(sandbox.socketPath)).toBe(false);
    // Programs go on, and tmux takes the hub away.
    const sessions = (): string => sandbox.tmux(sandbox.tmuxSocketPath, "list-sessions", "-F", "#{session_name}");
    await eventually(() => sessions() === "work\n");
  });

  test("requests and streams under way do not hold it up", async () => {
    await using sandbox = cliSandbox();
    const daemon = await sandbox.serve();
    await sandbox.run(["new", "work"]);
    const waiting = sandbox.start(["wait", "work", "--text", "never"]);
    const following = sandbox.start(["follow", "work", "--from", "snapshot", "--no-resume", "--json"]);
    await following.line(/"kind":"snapshot"/);
    const metrics = "http://localhost/metrics";
    await eventually(async () =>
      /wait_active\S* 1\b/.test((await ask(metrics, bearer(sandbox), sandbox.socketPath)).text),
    );
    daemon.child.kill("SIGTERM");
    expect((await daemon.finished).code).toBe(0);
    expect((await waiting.finished).code).toBe(69);
    expect((await following.finished).code).toBe(69);
  });

  test("a second signal ends it at once", async () => {
    await using sandbox = cliSandbox();
    const daemon = await sandbox.serve(["--log-level", "debug"]);
    // A request that is never sent whole keeps the listener busy for its grace.
    const [, port] = await daemon.line(/http:\/\/127\.0\.0\.1:(\d+)/);
    const body = { "content-type": "application/json", "content-length": "5", expect: "100-continue" };
    const path = "/v1/servers/main/sessions";
    const half = request({ port, path, method: "POST", headers: { ...bearer(sandbox), ...body } });
    half.on("error", () => undefined).flushHeaders();
    await once(half, "continue");
    daemon.child.kill("SIGTERM");
    await eventually(() => daemon.stderr().includes("daemon.stopping"));
    daemon.child.kill("SIGINT");
    expect((await daemon.finished).code).toBe(130);
    half.destroy();
  });

  test("a reader of the start-up lines that goes away does not end it", async () => {
    await using sandbox = cliSandbox();
    const daemon = sandbox.start(["serve", "--only", "native", "--port", "0"]);
    daemon.child.stdout?.destroy();
    await eventually(async () => (await sandbox.run(["panes"])).code === 0);
    daemon.child.kill("SIGTERM");
    expect((await daemon.finished).code).toBe(0);
  });

  test("killed with -9 and started again, it finds its panes and replaces its socket", async () => {
    await using sandbox = cliSandbox();
    const first = await sandbox.serve();
    const { stdout: pane } = await sandbox.run(["new", "work"]);
    first.child.kill("SIGKILL");
    await first.finished;
    expect(existsSync(sandbox.socketPath)).toBe(true);
    await sandbox.serve();
    const { stdout } = await sandbox.run(["panes", "--json"]);
    const { panes } = JSON.parse(stdout) as { panes: { id: string; sessions: string[] }[] };
    expect(panes.map(({ id, sessions }) => [id, sessions])).toEqual([[pane.trim(), ["work"]]]);
  });

  test("the user's own tmux is served beside it and left as it was", async () => {
    await using sandbox = cliSandbox();
    const socket = sandbox.path("run/tmux-mine.sock");
    sandbox.tmux(socket, "-f", "/dev/null", "new-session", "-d", "-s", "mine", "sh");
    const before = sandbox.tmux(socket, "list-sessions", "-F", "#{session_name} #{session_attached}");
    const daemon = await sandbox.serve(["--server", `mine=${socket}`]);
    expect(JSON.parse((await sandbox.run(["sessions", "--server", "mine", "--json"])).stdout)).toMatchObject({
      sessions: [{ name: "mine" }],
    });
    expect(JSON.parse((await sandbox.run(["sessions", "--json"])).stdout)).toEqual({ sessions: [] });
    daemon.child.kill("SIGTERM");
    await daemon.finished;
    await eventually(
      () => sandbox.tmux(socket, "list-sessions", "-F", "#{session_name} #{session_attached}") === before,
    );
  });
});

describe("socket activation", () => {
  test("serves on what the service manager has opened, which tmux never sees", async () => {
    await using sandbox = cliSandbox();
    const { socketPath, port, descriptors, close } = await passedListeners(sandbox.root);
    // As systemd does: the descriptors from 3 on, and the number of the process that they are for.
    const script = 'LISTEN_PID=$$ LISTEN_FDS=2 exec "$0" "$@"';
    const child = spawn("sh", ["-c", script, process.execPath, builtCli(), "serve", "--only", "native"], {
      env: { ...sandbox.env },
      stdio: ["ignore", "pipe", "pipe", ...descriptors],
    });
    const daemon = sandbox.adopt(child);
    await daemon.line(/listening on http:.*\n/);
    close();
    expect(daemon.stdout()).toBe(
      `native API listening on unix:(passed)\nnative API listening on http://127.0.0.1:${port}\n`,
    );
    expect((await ask("http://localhost/v1/servers", bearer(sandbox), socketPath)).status).toBe(200);
    expect((await ask(`http://127.0.0.1:${port}/v1/servers`, bearer(sandbox))).status).toBe(200);
    const tmuxPid = sandbox.tmux(sandbox.tmuxSocketPath, "display-message", "-p", "#{pid}").trim();
    const links = descriptorsOf(Number(tmuxPid));
    for (const link of descriptorsOf(daemon.pid, [3, 4])) expect(links).not.toContain(link);
    child.kill("SIGTERM");
    expect((await daemon.finished).code).toBe(0);
  });
});

function descriptorsOf(pid: number, only?: readonly number[]): string[] {
  const directory = `/proc/${pid}/fd`;
  if (only !== undefined) return only.map((fd) => readlinkSync(join(directory, String(fd))));
  // One may be closed before it is looked at.
  return readdirSync(directory).flatMap((name) => {
    try {
      return [readlinkSync(join(directory, name))];
    } catch {
      return [];
    }
  });
}

describe("secrets", () => {
  const secret = "tell-nobody-0123456789";

  test("are in no pane's environment, no command line, no log and no line of output", async () => {
    await using sandbox = cliSandbox();
    const env = { TMUX_BRIDGE_TOKEN: secret, AWS_SECRET_ACCESS_KEY: secret, TMUXWIRE_URL: "http://127.0.0.1:1" };
    const daemon = await sandbox.serve(["--log-level", "trace"], { env });
    const token = readFileSync(sandbox.tokenPath, "utf8").trim();
    expect(token).toMatch(TOKEN);
    await sandbox.run(["new", "work"]);
    const { stdout } = await sandbox.run(["panes", "--json"]);
    const [pane] = (JSON.parse(stdout) as { panes: { pid: number }[] }).panes;
    const followed = sandbox.start(["follow", "work"]);
    const tree = [...family(daemon), pane?.pid ?? 0, ...tmuxProcesses(sandbox), followed.pid];
    for (const pid of tree) {
      const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      expect([commandLine.includes(token), commandLine.includes(secret)]).toEqual([false, false]);
      if (pid === daemon.pid) continue;
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
      expect([environment.includes(token), environment.includes(secret)]).toEqual([false, false]);
    }
    const shown = sandbox.tmux(sandbox.tmuxSocketPath, "show-environment", "-g");
    expect(shown).not.toContain(secret);
    daemon.child.kill("SIGTERM");
    const finished = await daemon.finished;
    for (const text of [finished.stdout, finished.stderr]) {
      expect([text.includes(token), text.includes(secret)]).toEqual([false, false]);
    }
  });
});

/** The daemon and its children. */
function family({ pid }: Running): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  return [pid, ...children.map(Number)];
}

function tmuxProcesses(sandbox: CliSandbox): number[] {
  return [Number(sandbox.tmux(sandbox.tmuxSocketPath, "display-message", "-p", "#{pid}"))];
}
