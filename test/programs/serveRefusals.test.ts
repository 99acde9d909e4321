/** What keeps the daemon from starting: one clear line on stderr, exit code 1, and nothing left running. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { networkInterfaces } from "node:os";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { builtCli } from "../support/daemon/cliBuild.ts";
import type { CliSandbox, RunOptions } from "../support/daemon/cliSandbox.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";

async function refusal(sandbox: CliSandbox, args: readonly string[], options?: RunOptions): Promise<string> {
  const finished = await sandbox.run(["serve", ...args], options);
  expect(finished).toMatchObject({ code: 1, stdout: "" });
  expect(finished.stderr).toMatch(/^tmuxwire: [^\n]+\n$/);
  return finished.stderr;
}

const NATIVE = ["--only", "native", "--port", "0"];
const ADDIN = ["--only", "addin", "--http", "--addin-port", "0"];

describe("tmux", () => {
  test.each([NATIVE, ADDIN])("is not there", async (...args) => {
    await using sandbox = cliSandbox();
    const PATH = sandbox.binaries("bin", {});
    expect(await refusal(sandbox, args, { env: { PATH } })).toMatch(
      /tmux is not installed; install tmux 3\.2 or newer/,
    );
  });

  test("is not needed by the stub", async () => {
    await using sandbox = cliSandbox();
    const PATH = sandbox.binaries("bin", {});
    const daemon = sandbox.start(["serve", ...ADDIN, "--addin-mode", "stub"], { env: { PATH } });
    expect(await daemon.line(/stub mode/)).toBeTruthy();
  });

  test("is held by another daemon, whose socket it is", async () => {
    await using sandbox = cliSandbox();
    const { pid } = await sandbox.serve();
    const who = process.platform === "linux" ? ` \\(pid ${pid}\\)` : "";
    expect(await refusal(sandbox, NATIVE)).toMatch(
      new RegExp(`another daemon${who} listens on .*tmuxwire\\.sock: stop it`),
    );
    const elsewhere = ["--socket", sandbox.path("run/other/s.sock")];
    expect(await refusal(sandbox, [...NATIVE, ...elsewhere])).toMatch(
      new RegExp(`another tmuxwire daemon${who} uses this tmux server`),
    );
    // The one that was there goes on as if nothing had been.
    expect((await sandbox.run(["panes"])).code).toBe(0);
  });
});

describe("ports", () => {
  test.each([
    ["--host or TMUXWIRE_HOST", NATIVE, "--host"],
    ["HOST or --addin-host", ADDIN, "--addin-host"],
    ["--dashboard-host", ["--only", "dashboard"], "--dashboard-host"],
  ])("a host that others could reach, where they would all be refused: %s", async (setting, args, flag) => {
    await using sandbox = cliSandbox();
    for (const host of ["0.0.0.0", "::", "192.0.2.1"]) {
      const finished = await sandbox.run(["serve", ...args, flag, host]);
      const told = finished.stderr;
      expect(finished).toMatchObject({ code: 1, stdout: "" });
      expect(told).toContain(`${host} is not a loopback address`);
      expect(told).toContain(`set ${setting} to localhost or 127.0.0.1`);
      expect(told.includes("--allow-hosts")).toBe(flag === "--host");
    }
  });

  const others = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const elsewhere = others.find(({ internal, family }) => !internal && family === "IPv4")?.address;
  if (elsewhere === undefined) console.log("this machine has no address but its own: nobody can come from elsewhere");

  test.runIf(elsewhere !== undefined)("other machines, but for the hosts that are named, with the token", async () => {
    await using sandbox = cliSandbox();
    const letIn = ["--host", "0.0.0.0", "--allow-hosts", `Wire.test,${elsewhere}`];
    const [, port] = await sandbox
      .start(["serve", ...NATIVE, ...letIn])
      .line(/native API listening on http:\/\/0\.0\.0\.0:(\d+)/);
    const token = readFileSync(sandbox.tokenPath, "utf8").trim();
    const ask = async (host: string, authorization: string): Promise<number> => {
      const headers = { host, authorization };
      const asked = request({ host: elsewhere!, port, path: "/v1/servers", headers }).end();
      const [response] = (await once(asked, "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode ?? 0;
    };
    expect(await ask(`${elsewhere!}:${port}`, `Bearer ${token}`)).toBe(200);
    expect(await ask("wire.test", `Bearer ${token}`)).toBe(200);
    expect(await ask("wire.test", "Bearer wrong")).toBe(401);
    expect(await ask("evil.test", `Bearer ${token}`)).toBe(403);
  });

  test("too few open files for anything", async () => {
    await using sandbox = cliSandbox();
    const limited = spawn("/bin/sh", ["-c", `ulimit -n 96; exec "$0" "$@"`, process.execPath, builtCli(), "serve"], {
      env: { ...sandbox.env },
      cwd: sandbox.root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { code, stdout, stderr } = await sandbox.adopt(limited).finished;
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(
      /^tmuxwire: the limit of 96 open files is too low, at least \d+ .*: run `ulimit -n \d+`.*\n$/,
    );
  });
});

describe("sockets and their directories", () => {
  test("a file that is no socket is not touched", async () => {
    await using sandbox = cliSandbox();
    mkdirSync(dirname(sandbox.socketPath), { mode: 0o700 });
    writeFileSync(sandbox.socketPath, "precious");
    expect(await refusal(sandbox, NATIVE)).toMatch(/exists and is not a socket; move it away/);
    expect(existsSync(sandbox.socketPath)).toBe(true);
  });
});
