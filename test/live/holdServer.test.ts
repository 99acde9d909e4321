/** A server that is started for a client of the daemon's own: it waits for it, and for nobody else. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { holdServer, type HeldServer } from "../../daemon/host/clients/holdServer.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { eventually } from "../support/clock/eventually.ts";
import { ownedFixture, privateSocket, type PrivateSocket } from "../support/tmux/ownedFixture.ts";

const hold = (socket: PrivateSocket, tmux = "tmux"): Promise<HeldServer> =>
  holdServer({
    tmux,
    args: ["-u", "-S", socket.socketPath, "-f", "/dev/null"],
    env: paneEnvironment(process.env),
    cwd: "/",
  });

const version = (socket: PrivateSocket): string => {
  try {
    return socket.tmux("-N", "display-message", "-p", "#{version}").trim();
  } catch {
    return "";
  }
};

test("a server without a session is there until it is released", async () => {
  await using socket = privateSocket();
  const held = await hold(socket);
  expect(held.version).toBe(version(socket));
  expect(held.version).toMatch(/^\d|^next|^master/);
  held.release();
  held.release();
  await eventually(() => version(socket) === "");
});

test("a server that runs is found, and stays when it is released", async () => {
  await using socket = privateSocket();
  socket.tmux("-f", "/dev/null", "new-session", "-d", "-s", "work");
  const held = await hold(socket);
  expect(held.version).toBe(version(socket));
  held.release();
  await eventually(() => socket.tmux("list-clients") === "");
  expect(socket.tmux("list-sessions", "-F", "#{session_name}")).toBe("work\n");
});

test("a program that is no tmux holds nothing", async () => {
  await using socket = privateSocket();
  expect((await hold(socket, "/nonexistent/tmux")).version).toBe("");
});

test("a daemon that is killed while it starts a server leaves none", async () => {
  await using socket = privateSocket();
  // As `holdServer` starts it: its input ends with the process that started it.
  const words = [
    "tmux",
    "-S",
    socket.socketPath,
    "-f",
    "/dev/null",
    "start-server",
    ";",
    "display-message",
    "-p",
    "up",
  ];
  const script = `const c = require("node:child_process").spawn(process.argv[1], process.argv.slice(2));
    c.stdout.pipe(process.stdout); setInterval(() => {}, 1e6);`;
  const daemon = spawn(process.execPath, ["-e", script, ...words, ";", "source-file", "-"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(daemon.stdout, "data");
  expect(version(socket)).not.toBe("");
  daemon.kill("SIGKILL");
  await eventually(() => version(socket) === "");
});

test("the first start attaches as every later one: no process of ours, and nothing of it stays", async () => {
  await using fixture = await ownedFixture();
  await fixture.server.createSession({ name: "work", command: ["cat"] });
  const clients = fixture.socket.tmux("list-clients", "-F", "#{client_pid} #{client_control_mode}").trim().split("\n");
  const isOld = /^3\.[2-6]/.test(version(fixture.socket));
  if (isOld) expect(clients).toEqual([`${process.pid} 1`]);
  else expect(clients).toHaveLength(1);
});
