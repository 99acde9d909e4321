/** What is wrong before anything runs is told in one line that says what to do. */
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { openPtyTransport } from "../../daemon/host/clients/ptyTransport.ts";
import { localPaths } from "../../daemon/host/socketPath.ts";
import { startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { isRoot, OTHER_UID, parentForUser, tellSkip, tmuxAsUser } from "../support/daemon/otherUser.ts";
import { privateSocket, type PrivateSocket } from "../support/tmux/ownedFixture.ts";

let socket: PrivateSocket;

beforeAll(() => {
  socket = privateSocket();
});

afterAll(() => socket[Symbol.asyncDispose]());

const start = (socketPath: string, tmux?: string) =>
  startOwnedServer({ socketPath, tmux, env: paneEnvironment(process.env), clock: systemClock });

const oneLine = (pattern: RegExp): unknown => expect.stringMatching(new RegExp(`^[^\\n]*${pattern.source}[^\\n]*$`));

/** A directory of the given mode with a socket path in it. */
function directory(name: string, mode = 0o700): string {
  const path = join(socket.directory, name);
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
  return path;
}

/** A program that prints for `-V` `version` and anything else with `complaint`. */
function fakeTmux(name: string, version: string, complaint: string): string {
  const path = join(socket.directory, name);
  writeFileSync(path, `#!/bin/sh\n[ "$1" = -V ] && echo '${version}' && exit 0\necho '${complaint}'\nexit 1\n`, {
    mode: 0o755,
  });
  return path;
}

const refusals: Record<string, () => readonly [socketPath: string, message: RegExp]> = {
  "a path of 108 bytes": () => [`${socket.directory}/${"x".repeat(107 - socket.directory.length)}`, /107.*shorter/],
  "a path that is not absolute": () => ["tmux.sock", /not absolute/],
  "a directory others can read": () => [join(directory("wide", 0o755), "s"), /chmod 700/],
  "a directory others can enter": () => [join(directory("enter", 0o711), "s"), /chmod 700/],
  "a symbolic link": () => {
    const link = join(socket.directory, "link");
    symlinkSync(directory("target"), link);
    return [join(link, "s"), /symbolic link/];
  },
  "a directory that is a file": () => {
    writeFileSync(join(socket.directory, "file"), "");
    return [join(socket.directory, "file", "s"), /cannot create the tmux socket directory|not a directory/];
  },
  "a socket that is a file": () => {
    const path = join(directory("plain"), "s");
    writeFileSync(path, "");
    return [path, /not a socket/];
  },
};

test.each(Object.entries(refusals))("%s", async (_what, make) => {
  const [path, message] = make();
  await expect(start(path)).rejects.toMatchObject({ code: "CONFIGURATION_INVALID", message: oneLine(message) });
});

test("a directory with other files is not made private", async () => {
  const path = directory("home", 0o755);
  writeFileSync(join(path, "notes"), "");
  await expect(start(join(path, "s"))).rejects.toMatchObject({
    code: "CONFIGURATION_INVALID",
    message: oneLine(/^(?!.*chmod).*choose a directory for the socket only/),
  });
});

test("a directory that everybody shares, when the socket is not there or ours", async () => {
  await using fresh = privateSocket();
  chmodSync(fresh.directory, 0o1777);
  for (const isThere of [false, true]) {
    expect(existsSync(fresh.socketPath)).toBe(isThere);
    await using server = await start(fresh.socketPath);
    expect(server.status()).toMatchObject({ state: "ready", socketPath: fresh.socketPath });
    if (server.sessions().length === 0) await server.createSession({ name: "stays" });
  }
});

tellSkip("a directory of another user");

test.runIf(isRoot)("a directory of another user", async () => {
  const path = directory("foreign");
  chownSync(path, 12_345, 12_345);
  await expect(start(join(path, "s"))).rejects.toMatchObject({
    code: "CONFIGURATION_INVALID",
    message: oneLine(/belongs to user 12345/),
  });
});

test.runIf(isRoot)("a directory that everybody shares, with a socket of another user", async () => {
  const path = join(directory("sticky", 0o1777), "s");
  const theirs = createServer().listen(path);
  await once(theirs, "listening");
  chownSync(path, 12_345, 12_345);
  try {
    const refused = {
      code: "CONFIGURATION_INVALID",
      message: oneLine(/^(?!.*chmod).*belongs to user 12345, not to you/),
    };
    await expect(start(path)).rejects.toMatchObject(refused);
    expect(() => localPaths.requireOwn(path, undefined)).toThrow(/belongs to user 12345/);
    expect(lstatSync(path).uid).toBe(12_345);
  } finally {
    theirs.close();
  }
});

const forOther = parentForUser(OTHER_UID, "the test of another user who is quicker");

test.runIf(forOther !== undefined)("a directory that everybody shares, where another user is quicker", async () => {
  await using fresh = privateSocket(forOther);
  chmodSync(fresh.directory, 0o1777);
  const opened: string[] = [];
  const starting = startOwnedServer({
    socketPath: fresh.socketPath,
    env: paneEnvironment(process.env),
    clock: systemClock,
    transport: (spawn) => {
      // After the look at the path, before the connection.
      const theirs = ["new-session", "-d", "-s", "theirs", "sleep", "600"];
      opened.push(tmuxAsUser(OTHER_UID, "-S", fresh.socketPath, ...theirs));
      return openPtyTransport(spawn);
    },
  });
  const refusal = await starting.then(
    () => "it was started",
    (error: unknown) => (error as Error).message,
  );
  // First, because it says why the rest is otherwise.
  expect(opened).toEqual([""]);
  expect(refusal).toEqual(oneLine(/belongs to user 65534, not to you/));
  // Nothing of ours is left there.
  expect(fresh.tmux("list-sessions", "-F", "#{session_name}").trim()).toBe("theirs");
});

const unusable: Record<string, () => readonly [tmux: string, message: RegExp]> = {
  "no tmux": () => ["/does/not/exist/tmux", /install tmux 3\.2/],
  "a tmux that is too old": () => [fakeTmux("old", "tmux 3.1c", ""), /tmux 3\.1c is too old.*3\.2/],
  "something else called tmux": () => [fakeTmux("other", "screen 4", ""), /screen 4/],
  "a tmux that cannot start": () => [
    fakeTmux("broken", "tmux 3.3a", "error creating socket (No space left on device)"),
    /could not be started: error creating socket \(No space left on device\)/,
  ],
};

test.each(Object.entries(unusable))("%s", async (_what, make) => {
  const [tmux, message] = make();
  await expect(start(socket.socketPath, tmux)).rejects.toMatchObject({
    code: "TMUX_UNAVAILABLE",
    message: oneLine(message),
  });
});

test("a missing directory is created with access for our user only", async () => {
  await using fresh = privateSocket();
  const path = join(fresh.directory, "made", "here", "s");
  await using server = await start(path);
  expect(server.status()).toMatchObject({ kind: "owned", state: "ready", socketPath: path });
});
