/**
 * `tmuxwire serve` where others were there first, or live on the same machine: what cannot start is told in one line, and
 * the rest runs and obeys its own user only.
 */
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { ADDIN_ORIGIN } from "../support/daemon/addinClient.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { asUser, isRoot, OTHER_UID, tellSkip } from "../support/daemon/otherUser.ts";

const PORTS = ["--port", "0", "--addin-port", "0", "--dashboard-port", "0", "--http"];
const LISTENING = {
  addin: /tmux bridge listening on http:\/\/127\.0\.0\.1:(\d+)/,
  native: /native API listening on http:\/\/127\.0\.0\.1:(\d+)/,
  dashboard: /dashboard listening on http:\/\/127\.0\.0\.1:(\d+)/,
};

tellSkip("a neighbour's directory");
test.runIf(isRoot)("a neighbour's directory: the add-in is not served, and everything else is", async () => {
  await using sandbox = cliSandbox();
  const taken = sandbox.path("tmp/pi-for-excel-tmux-bridge");
  mkdirSync(taken, { mode: 0o700 });
  chownSync(taken, OTHER_UID, OTHER_UID);
  const daemon = sandbox.start(["serve", ...PORTS]);
  const [line] = await daemon.line(/^.*is not served.*$/m);
  expect(line).toMatch(/^the add-in's bridge is not served: .*tmux-bridge belongs to user 65534, not to you \(0\)/);
  expect(line).toMatch(/choose another tmux socket path with --addin-socket or TMUX_BRIDGE_SOCKET_PATH$/);
  const [, port = ""] = await daemon.line(LISTENING.dashboard);
  expect((await fetch(`http://127.0.0.1:${port}/api/agents`)).status).toBe(200);
  expect((await sandbox.run(["panes"])).code).toBe(0);
  expect(daemon.stdout()).not.toMatch(LISTENING.addin);
  expect(daemon.stderr()).toMatch(/"event":"daemon\.part\.failed"/);
  daemon.child.kill("SIGTERM");
  expect((await daemon.finished).code).toBe(0);

  // The advice is good, and what is asked for by name is not left out.
  const only = await sandbox.run(["serve", "--only", "addin", ...PORTS]);
  expect([only.code, only.stdout]).toEqual([1, ""]);
  expect(only.stderr).toMatch(/^tmuxwire: .*belongs to user 65534.*\n$/);
  chmodSync(sandbox.path("tmp"), 0o1777);
  const other = sandbox.start(["serve", "--addin-socket", sandbox.path("tmp/mine-tmux.sock"), ...PORTS]);
  await other.line(LISTENING.dashboard);
  expect(other.stdout()).toMatch(LISTENING.addin);
});

test("a port that is taken costs its part only, and what the part had opened is closed", async () => {
  await using sandbox = cliSandbox();
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const port = String((other.address() as { port: number }).port);
  try {
    for (const [flag, name, left] of [
      ["--addin-port", "the add-in's bridge", [LISTENING.native, LISTENING.dashboard]],
      ["--port", "the native API", [LISTENING.addin, LISTENING.dashboard]],
      ["--dashboard-port", "the dashboard", [LISTENING.addin, LISTENING.native]],
    ] as const) {
      const daemon = sandbox.start(["serve", ...PORTS, flag, port]);
      const [line] = await daemon.line(/^.*is not served.*$/m);
      expect(line).toMatch(new RegExp(`^${name} is not served: port ${port} .* is in use: .*${flag}`));
      for (const pattern of left) expect(daemon.stdout()).toMatch(pattern);
      daemon.child.kill("SIGTERM");
      // A server that the failed part had kept would hold this up, or keep the next start from its socket.
      expect((await daemon.finished).code).toBe(0);
    }
  } finally {
    other.close();
  }
});

test("when nothing can start, a line per part says why, without a stack, and that is the end", async () => {
  await using sandbox = cliSandbox();
  const PATH = sandbox.binaries("bin", {});
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const port = String((other.address() as { port: number }).port);
  try {
    const args = ["serve", ...PORTS, "--dashboard-port", port];
    const { code, stdout, stderr } = await sandbox.run(args, { env: { PATH } });
    expect([code, stdout]).toEqual([1, ""]);
    expect(told(stderr)).toEqual([
      expect.stringMatching(/^tmuxwire: the add-in's bridge is not served: .*tmux is not installed/),
      expect.stringMatching(/^tmuxwire: the native API is not served: .*tmux is not installed/),
      expect.stringMatching(/^tmuxwire: the dashboard is not served: .*in use/),
    ]);
    expect(stderr).not.toMatch(/"stack"|\n {4}at /);
  } finally {
    other.close();
  }
});

/** Besides the log. */
const told = (stderr: string): readonly string[] =>
  stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"));

test("beside a running daemon every part that was asked for says who is there, and none is left running", async () => {
  await using sandbox = cliSandbox();
  const args = ["--port", "0", "--dashboard-port", "0", "--dashboard-tmux-socket", sandbox.path("user.sock")];
  const running = sandbox.start(["serve", "--only", "native,dashboard", ...args]);
  await running.line(LISTENING.dashboard);
  const native = /^tmuxwire: the native API is not served: another daemon \(pid \d+\) listens on .*: stop it, or /;
  const dashboard = /^tmuxwire: the dashboard is not served: another tmuxwire uses .*dashboard\.db: stop it, or /;
  for (const [only, lines] of [
    [[], [native, dashboard]],
    [
      ["--only", "native,dashboard"],
      [native, dashboard],
    ],
    [["--only", "dashboard"], [dashboard]],
  ] as const) {
    const { code, stdout, stderr } = await sandbox.run(["serve", ...only, ...args]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(told(stderr)).toEqual(lines.map((line) => expect.stringMatching(line) as string));
    expect(stderr).not.toMatch(/"stack"|\n {4}at /);
  }
  // One that finds a place of its own runs, and tells of the other in a line.
  const beside = sandbox.start([
    "serve",
    "--socket",
    sandbox.path("b.sock"),
    "--tmux-socket",
    sandbox.path("b-tmux.sock"),
    ...args,
  ]);
  await beside.line(/^the dashboard is not served: another tmuxwire uses/m);
  expect(beside.stderr()).not.toMatch(/"stack"/);
});

test.each(["native", "team", "addin", "dashboard"])(
  "serve --only %s does not hear of another part's variables",
  async (name) => {
    await using sandbox = cliSandbox();
    const env = { AUTH_TOKEN: "short", MAX_CONNECTIONS: "x" };
    const daemon = sandbox.start(
      ["serve", "--only", name, ...PORTS, "--dashboard-tmux-socket", sandbox.path("user.sock")],
      {
        env,
      },
    );
    await daemon.line(/listening on/);
    const { code, stdout } = await sandbox.run(["config"], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^freshell\.token +\(not usable\) +AUTH_TOKEN must be a secret of at least/m);
    const freshell = await sandbox.run(["serve", "--only", "freshell"], { env });
    expect([freshell.code, freshell.stderr]).toEqual([
      1,
      expect.stringMatching(/^tmuxwire: .*AUTH_TOKEN must be [^\n]*\n$/),
    ]);
  },
);

tellSkip("another user's request");
test.runIf(isRoot)("no listener runs anything for another user", async () => {
  await using sandbox = cliSandbox();
  const daemon = sandbox.start(["serve", ...PORTS]);
  const [, dashboard = ""] = await daemon.line(LISTENING.dashboard);
  const addin = LISTENING.addin.exec(daemon.stdout())?.[1];
  const request = (method: string, path: string, body = ""): string =>
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n` +
    `Content-Length: ${body.length}\r\n`;
  const create = '{"action":"create_session","session":"theirs"}';
  const post = `${request("POST", "/v1/tmux", create)}Origin: ${ADDIN_ORIGIN}\r\n\r\n${create}`;
  const get = `${request("GET", "/api/agents")}\r\n`;
  const [theirs, read] = await Promise.all([
    asUser(OTHER_UID, { port: Number(addin), text: post }),
    asUser(OTHER_UID, { port: Number(dashboard), text: get }),
  ]);
  expect(theirs.answer).toMatch(/^HTTP\/1\.1 403 .*user 65534 may not connect/s);
  expect(read.answer).toMatch(/^HTTP\/1\.1 403 .*"error_type":"peer_not_allowed"/s);
  // The same requests of the daemon's own user are served.
  expect((await asUser(0, { port: Number(addin), text: post })).answer).toMatch(/^HTTP\/1\.1 200 /);
  expect((await asUser(0, { port: Number(dashboard), text: get })).answer).toMatch(/^HTTP\/1\.1 200 /);
});

test("plain serve touches nothing of anybody else's; what it leaves out is named, and turned on for good", async () => {
  await using sandbox = cliSandbox();
  const ports = ["--port", "0", "--dashboard-port", "0", "--dashboard-tmux-socket", sandbox.path("user.sock")];
  const env = { HOST: "localhost", PORT: "0" };
  const foreign = [
    sandbox.path("home/.pi"),
    sandbox.path("state/tmuxwire/certs"),
    sandbox.path("tmp/pi-for-excel-tmux-bridge"),
  ];
  const daemon = sandbox.start(["serve", ...ports], { env });
  const [line] = await daemon.line(/^the add-in's bridge is not served: .*$/m);
  await daemon.line(/^Freshell is not served: set AUTH_TOKEN/m);
  expect(line).toMatch(/start it with `tmuxwire enable addin` permanently, or `tmuxwire serve --with addin` once$/);
  expect(daemon.stdout()).toMatch(/^native API listening on/m);
  expect(daemon.stdout()).toMatch(/dashboard listening on/);
  expect(daemon.stdout()).toMatch(
    /^team contract at http:\S+\/team\/v1; not announced to pi in .*`tmuxwire enable team`/m,
  );
  expect(foreign.filter((path) => existsSync(path))).toEqual([]);
  daemon.child.kill("SIGTERM");
  await daemon.finished;

  expect((await sandbox.run(["enable", "addin"])).code).toBe(0);
  const again = sandbox.start(["serve", "--with", "team", ...ports], { env });
  await again.line(/tmux bridge listening on https:/);
  await again.line(/^team contract at .* \(announced in .*daemon\.json\)$/m);
  expect(foreign.filter((path) => !existsSync(path))).toEqual([]);
});
