/** Commands that need no daemon: doctor, config, trust, service, and what every command shares. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { DatabaseSync } from "../../daemon/ops/sql/sqlite.ts";
import { builtCli } from "../support/daemon/cliBuild.ts";
import type { CliSandbox, RunOptions } from "../support/daemon/cliSandbox.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";

interface Check {
  readonly check: string;
  readonly verdict: "ok" | "warn" | "fail";
  readonly message: string;
  readonly remedy?: string;
}

/** Free ports: the machine that runs the tests may have a daemon of its own. */
const ANY_PORT = ["--port", "0", "--addin-port", "0"];

async function doctor(sandbox: CliSandbox, args: readonly string[] = ANY_PORT, options?: RunOptions) {
  const { code, stdout, stderr } = await sandbox.run(["doctor", "--json", ...args], options);
  expect(stderr).toBe("");
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  expect(code).toBe(ok ? 0 : 1);
  return { ok, checks, of: (name: string) => checks.find(({ check }) => check === name) };
}

describe("doctor", () => {
  test("finds nothing wrong with a fresh user, and makes nothing", async () => {
    await using sandbox = cliSandbox();
    const { ok, checks } = await doctor(sandbox);
    expect(ok).toBe(true);
    expect(checks.filter(({ verdict }) => verdict !== "ok").map(({ check }) => check)).toEqual(["user session"]);
    expect(["run", "state", "home", "config"].flatMap((name) => readdirSync(sandbox.path(name)))).toEqual([]);
    const { stdout, code } = await sandbox.run(["doctor", ...ANY_PORT]);
    expect([code, stdout.includes("\u001b")]).toEqual([0, false]);
    expect(stdout).toMatch(/^ok {4}tmux +tmux (next-)?3/m);
  });

  test("knows a running daemon for what it is", async () => {
    await using sandbox = cliSandbox();
    const daemon = sandbox.start(["serve", "--http", "--addin-port", "0", "--port", "0"]);
    await daemon.line(/unix:/);
    const [, addin = ""] = await daemon.line(/bridge listening on http:\S+:(\d+)/);
    const [, native = ""] = await daemon.line(/API listening on http:\S+:(\d+)/);
    const found = await doctor(sandbox, ["--http", "--addin-port", addin, "--port", native]);
    expect(found.ok).toBe(true);
    expect(found.of("unix socket")?.message).toMatch(/a daemon listens/);
    expect(found.of("native port")?.message).toMatch(/a daemon listens/);
    expect(found.of("add-in port")?.message).toMatch(/a daemon listens/);
    expect(found.of("tmux socket hubs")?.message).toBe("held by a running daemon");
  });

  test("looks at nothing of a part that is off, and says how to turn it on", async () => {
    await using sandbox = cliSandbox();
    writeFileSync(sandbox.path("cert.pem"), "rubbish");
    const env = { PI_FOR_EXCEL_KEY_PATH: sandbox.path("cert.pem"), PI_FOR_EXCEL_CERT_PATH: sandbox.path("cert.pem") };
    const ports = ["--port", "0", "--dashboard-port", "0"];
    const off = await doctor(sandbox, ports, { env });
    expect(off.of("certificate")).toBeUndefined();
    expect(off.of("addin")).toMatchObject({
      verdict: "ok",
      message: expect.stringContaining("tmuxwire enable addin") as string,
    });
    const on = await doctor(sandbox, [...ports, "--addin-port", "0"], { env });
    expect(on.of("addin")).toBeUndefined();
    expect(on.of("certificate")).toMatchObject({ verdict: "fail" });
  });

  test("finds hubs that were left behind", async () => {
    await using sandbox = cliSandbox();
    mkdirSync(dirname(sandbox.tmuxSocketPath), { mode: 0o700 });
    const stale = ["-f", "/dev/null", "new-session", "-d", "-s", "__tmuxwire-stale0000000", "cat"];
    sandbox.tmux(sandbox.tmuxSocketPath, ...stale);
    expect((await doctor(sandbox)).of("tmux socket hubs")).toMatchObject({
      verdict: "warn",
      message: "left behind: __tmuxwire-stale0000000",
      remedy: "start the daemon, which removes them",
    });
  });

  test("says what would keep a start from working, all of it at once", async () => {
    await using sandbox = cliSandbox();
    mkdirSync(dirname(sandbox.socketPath));
    chmodSync(dirname(sandbox.socketPath), 0o755);
    mkdirSync(dirname(sandbox.tokenPath), { mode: 0o700 });
    writeFileSync(sandbox.tokenPath, "k".repeat(43), { mode: 0o644 });
    mkdirSync(sandbox.path("elsewhere"), { mode: 0o700 });
    symlinkSync(sandbox.path("elsewhere"), sandbox.path("tmp/pi-for-excel-tmux-bridge"));
    writeFileSync(sandbox.path("key.pem"), "rubbish");
    writeFileSync(sandbox.path("cert.pem"), "rubbish");
    const server = createServer((socket) => socket.end("not ours\n")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const env = {
      PATH: sandbox.binaries("bin", {}),
      PI_FOR_EXCEL_KEY_PATH: sandbox.path("key.pem"),
      PI_FOR_EXCEL_CERT_PATH: sandbox.path("cert.pem"),
    };
    const found = await doctor(sandbox, ["--port", String(port), "--addin-port", "0"], { env });
    server.close();
    const failed = found.checks
      .filter(({ verdict }) => verdict === "fail")
      .map(({ check, message }) => [check, message]);
    expect(failed).toEqual([
      ["tmux", expect.stringMatching(/tmux is not installed; install/)],
      ["add-in tmux", expect.stringMatching(/is a symbolic link/)],
      ["certificate", expect.stringMatching(/cert\.pem is not a PEM certificate/)],
      ["tmux socket", expect.stringMatching(/mode 0755\): run `chmod 700/)],
      ["unix socket", expect.stringMatching(/run `chmod 700/)],
      ["native port", expect.stringMatching(/is in use by another program/)],
      ["token", expect.stringMatching(/is readable by others/)],
    ]);
  });

  test("a configuration that cannot be used is what it says", async () => {
    await using sandbox = cliSandbox();
    const found = await doctor(sandbox, ["--port", "x"]);
    expect(found.of("configuration")).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/--port/) as string,
    });
  });

  test("knows a running dashboard and its database, with a token or without", async () => {
    await using sandbox = cliSandbox();
    const socket = ["--dashboard-tmux-socket", sandbox.path("tmux-none.sock")];
    for (const env of [{}, { TMUXWIRE_DASHBOARD_TOKEN: "s3cret" }]) {
      const daemon = sandbox.start(["serve", "--only", "dashboard", "--dashboard-port", "0", ...socket], { env });
      const [, port = ""] = await daemon.line(/dashboard listening on http:\S+:(\d+)/);
      const found = await doctor(sandbox, [...ANY_PORT, "--dashboard-port", port]);
      expect(found.ok).toBe(true);
      expect(found.of("dashboard port")?.message).toBe(`a daemon listens on 127.0.0.1:${port}`);
      expect(found.of("dashboard data")?.message).toMatch(/^a daemon uses .*dashboard\.db$/);
      daemon.child.kill("SIGTERM");
      await daemon.finished;
      // The system may have given the port to another test meanwhile.
      await eventually(async () => {
        const after = await doctor(sandbox, [...ANY_PORT, "--dashboard-port", port]);
        expect(after.of("dashboard data")?.message).toMatch(/can be used$/);
        return after.of("dashboard port")?.message === `127.0.0.1:${port} is free`;
      });
    }
  });

  test("says what would keep the dashboard from its port and its database, and changes neither", async () => {
    await using sandbox = cliSandbox();
    const server = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n{"ok":true}')).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const database = sandbox.path("d.db");
    const probe = async (path = database) => {
      const args = [...ANY_PORT, "--dashboard-port", String(port), "--dashboard-database", path];
      return (await doctor(sandbox, args)).of("dashboard data");
    };
    const found = await doctor(sandbox, [...ANY_PORT, "--dashboard-port", String(port)]);
    expect(found.of("dashboard port")).toMatchObject({
      verdict: "fail",
      message: `127.0.0.1:${port} is in use by another program`,
      remedy: expect.stringMatching(/--dashboard-port/) as string,
    });
    server.close();
    expect(await probe()).toMatchObject({ verdict: "ok", message: `${database} will be made` });
    const file = sandbox.path("file");
    writeFileSync(file, "no directory");
    expect(await probe(`${file}/d.db`)).toMatchObject({
      verdict: "fail",
      remedy: expect.stringMatching(/--dashboard-database/) as string,
    });
    expect(await probe(sandbox.path("home"))).toMatchObject({ verdict: "fail" });
    const rubbish = "no database at all, but long enough to be looked at as one".repeat(20);
    writeFileSync(database, rubbish);
    expect(await probe()).toMatchObject({ verdict: "warn", message: `${database} is damaged` });
    expect(readFileSync(database, "utf8")).toBe(rubbish);
    rmSync(database);
    const other = new DatabaseSync(database);
    other.exec("CREATE TABLE t (x); BEGIN IMMEDIATE");
    expect(await probe()).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/another process has locked/) as string,
    });
    other.exec("ROLLBACK");
    other.close();
    expect(await probe()).toMatchObject({ verdict: "ok" });
    expect(readdirSync(sandbox.root).filter((name) => name.startsWith("d.db"))).toEqual(["d.db"]);
  });

  test("looks at the user's own servers", async () => {
    await using sandbox = cliSandbox();
    const socket = sandbox.path("tmux-mine.sock");
    sandbox.tmux(socket, "-f", "/dev/null", "new-session", "-d", "cat");
    const servers = ["--server", `mine=${socket}`, "--server", `gone=${sandbox.path("gone.sock")}`];
    const found = await doctor(sandbox, [...ANY_PORT, ...servers]);
    expect(found.of("server mine")).toMatchObject({ verdict: "ok" });
    expect(found.of("server gone")).toMatchObject({ verdict: "warn" });
  });
});

describe("trust", () => {
  test("makes the authority, and tells how to trust it and nothing else", async () => {
    await using sandbox = cliSandbox();
    const { stdout, code } = await sandbox.run(["trust"]);
    expect(code).toBe(0);
    expect(stdout).toContain(sandbox.path("state/tmuxwire/certs/authority/rootCA.pem"));
    const json = JSON.parse((await sandbox.run(["trust", "--json"])).stdout) as {
      source: string;
      authorityPath: string;
    };
    expect(json.source).toBe("own");
    expect(readFileSync(json.authorityPath, "utf8")).toContain("BEGIN CERTIFICATE");
  });
});

describe("service", () => {
  test("--print shows the files and writes nothing", async () => {
    await using sandbox = cliSandbox();
    const { stdout, code } = await sandbox.run(["service", "install", "--print"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`ListenStream=${sandbox.socketPath}`);
    expect(readdirSync(sandbox.path("config"))).toEqual([]);
  });

  test("install, status, uninstall", async () => {
    await using sandbox = cliSandbox();
    const units = sandbox.path("config/systemd/user");
    expect((await sandbox.run(["service", "status"])).code).toBe(3);
    const installed = await sandbox.run(["service", "install"]);
    expect(installed).toMatchObject({ code: 0, stderr: "" });
    expect(installed.stdout).toContain("systemctl --user enable --now tmuxwire.socket");
    expect(readdirSync(units)).toEqual(["tmuxwire.service", "tmuxwire.socket"]);
    expect(await sandbox.run(["service", "install"])).toMatchObject({ code: 0 });
    const status = await sandbox.run(["service", "status", "--json"]);
    expect(JSON.parse(status.stdout)).toMatchObject({ installed: true, enabled: false, answering: false });
    expect(status.code).toBe(0);
    // As `systemctl --user enable` does: gone with the files it leads to.
    mkdirSync(sandbox.path("config/systemd/user/sockets.target.wants"));
    symlinkSync(`${units}/tmuxwire.socket`, `${units}/sockets.target.wants/tmuxwire.socket`);
    const removed = await sandbox.run(["service", "uninstall"]);
    expect(removed.stdout).toContain("systemctl --user stop tmuxwire.service tmuxwire.socket");
    expect(readdirSync(units, { recursive: true })).toEqual(["sockets.target.wants"]);
    expect((await sandbox.run(["service", "uninstall"])).stdout).toBe("nothing to do\n");
  });

  test("leaves somebody else's unit alone", async () => {
    await using sandbox = cliSandbox();
    const path = sandbox.path("config/systemd/user/tmuxwire.service");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "[Unit]\n");
    for (const action of ["install", "uninstall"]) {
      expect(await sandbox.run(["service", action])).toMatchObject({
        code: 7,
        stderr: expect.stringMatching(/--force/) as string,
      });
    }
    expect(readFileSync(path, "utf8")).toBe("[Unit]\n");
    expect((await sandbox.run(["service", "uninstall", "--force"])).code).toBe(0);
    expect(existsSync(path)).toBe(false);
  });
});

describe("a command whose directory has been removed", () => {
  test("works, and takes paths as its shell would", async () => {
    await using sandbox = cliSandbox();
    const gone = `mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"`;
    const there = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
      spawnSync("sh", ["-c", gone, process.execPath, builtCli(), ...args], {
        cwd: sandbox.root,
        env: sandbox.env,
        encoding: "utf8",
      });
    expect(there("version")).toMatchObject({ status: 0, stdout: expect.stringMatching(/^tmuxwire /) as string });
    await sandbox.serve();
    expect(there("ls")).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(there("play", "demo.cast")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`there is no file ${sandbox.path("gone", "demo.cast")};`) as string,
    });
  });
});
