/** A guest without its server, without its directory, without tmux: it starts, says which, and is there when they are. */
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import type { GuestServerOptions } from "../../daemon/servers/guest/guestServer.ts";
import { startGuestServer } from "../support/tmux/guestEngine.ts";
import { openPtyTransport } from "../../daemon/host/clients/ptyTransport.ts";
import type { Transport, TransportOptions } from "../../daemon/host/clients/transport.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { nextState } from "../support/tmux/failureScenarios.ts";
import { userSession } from "../support/tmux/guestFixture.ts";
import { privateSocket } from "../support/tmux/ownedFixture.ts";
import { text } from "../support/tmux/panePrograms.ts";
import { ownDirectory } from "../support/daemon/ownDirectory.ts";

const start = (socketPath: string, more: Partial<GuestServerOptions> = {}): Promise<TmuxServer> =>
  startGuestServer({ socketPath, env: process.env, clock: systemClock, ...more });

const pane = "%0" as PaneId;

/** Why each call that needs tmux fails: one line when all agree. */
async function reasons(server: TmuxServer): Promise<readonly string[]> {
  expect(server.status()).toMatchObject({ state: "connecting", identity: undefined });
  const calls: readonly (() => Promise<unknown>)[] = [
    () => server.input(pane, [text("x")]),
    () => server.capture(pane),
    () => server.describePane(pane),
    () => server.setPaneUserOption(pane, "agent", "x"),
    () => server.paneUserOptions("agent"),
    () => server.createSession({ name: "x" }),
    async () => server.output(pane),
  ];
  const whys = calls.map(async (call) => {
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    return error instanceof AppError ? `${error.code} ${String(error.details?.["reason"])}` : String(error);
  });
  return [...new Set(await Promise.all(whys))];
}

test("no server: `tmux_not_running`, until there is one, and again when it has ended", async () => {
  await using socket = privateSocket();
  let clients = 0;
  const transport = (options: TransportOptions): Transport => {
    clients += 1;
    return openPtyTransport(options);
  };
  await using server = await start(socket.socketPath, { transport });
  expect(await reasons(server)).toEqual(["CONNECTION_LOST tmux_not_running"]);
  // A client would start the server.
  expect(clients).toBe(0);
  const ready = nextState(server, "ready");
  userSession(socket, "main");
  await ready;
  await expect(server.capture("%99" as PaneId)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect((await server.capture(pane)).rows).toBe(30);
  const ended = new Promise<void>((resolve) => {
    server.subscribe((event) => event.kind === "pane-closed" && resolve());
  });
  socket.tmux("kill-server");
  await ended;
  expect(await reasons(server)).toEqual(["CONNECTION_LOST tmux_not_running"]);
});

test("no directory for the socket, as when nobody has used tmux since the machine started", async () => {
  const parent = ownDirectory();
  const env = { ...process.env, TMUX: undefined, TMUX_TMPDIR: parent };
  await using server = await start("default", { env });
  const socketPath = join(parent, `tmux-${process.getuid?.()}`, "default");
  expect(server.status()).toMatchObject({ state: "connecting", socketPath });
  expect(await reasons(server)).toEqual(["CONNECTION_LOST tmux_not_running"]);
  const ready = nextState(server, "ready");
  await using user = privateSocket();
  // tmux makes the directory and the socket.
  mkdirSync(join(parent, `tmux-${process.getuid?.()}`), { mode: 0o700 });
  user.tmux("-S", socketPath, "-f", "/dev/null", "new-session", "-d", "-s", "main", "cat");
  await ready;
  expect(server.findSession("main")).toBeDefined();
  user.tmux("-S", socketPath, "kill-server");
  await server.close();
});

test("no tmux: `tmux_not_installed`, until it is and a server runs", async () => {
  await using socket = privateSocket();
  const programs = join(socket.directory, "bin");
  mkdirSync(programs);
  await using server = await start(socket.socketPath, { tmux: join(programs, "tmux") });
  expect(server.status().tmuxVersion).toBeUndefined();
  expect(await reasons(server)).toEqual(["TMUX_UNAVAILABLE tmux_not_installed"]);
  symlinkSync(tmuxPath(), join(programs, "tmux"));
  const ready = nextState(server, "ready");
  userSession(socket, "main");
  await ready;
  expect(server.status().tmuxVersion).toMatch(/^tmux /);
});

test("no tmux though a server runs: `tmux_not_installed`", async () => {
  await using socket = privateSocket();
  userSession(socket, "main");
  await using server = await start(socket.socketPath, { tmux: join(socket.directory, "none") });
  expect(await reasons(server)).toEqual(["TMUX_UNAVAILABLE tmux_not_installed"]);
});

test("a tmux that is too old fails the start", async () => {
  await using socket = privateSocket();
  const tmux = join(socket.directory, "old");
  writeFileSync(tmux, "#!/bin/sh\necho tmux 2.9\n");
  chmodSync(tmux, 0o755);
  const error = { code: "TMUX_UNAVAILABLE", details: { reason: "tmux_too_old" } };
  await expect(start(socket.socketPath, { tmux })).rejects.toMatchObject(error);
});

const isRoot = process.getuid?.() === 0;
if (isRoot) process.stderr.write("root may use any socket: the test of one that we may not use is skipped\n");

test.runIf(!isRoot)("a socket of another user: `tmux_forbidden`", async () => {
  await using socket = privateSocket();
  userSession(socket, "main");
  chmodSync(socket.socketPath, 0);
  await using server = await start(socket.socketPath);
  expect(await reasons(server)).toEqual(["CONNECTION_LOST tmux_forbidden"]);
  chmodSync(socket.socketPath, 0o700);
});

function tmuxPath(): string {
  const directories = (process.env["PATH"] ?? "").split(delimiter);
  const found = directories.map((directory) => join(directory, "tmux")).find((path) => existsSync(path));
  if (found === undefined) throw new Error("no tmux on PATH");
  return found;
}
