/** A client and a server that cannot talk to each other: both versions are said, at once, and nothing is done to the server. */
import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { releaseOf } from "../../daemon/connection/tmuxVersion.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { startGuestServer } from "../support/tmux/guestEngine.ts";
import { startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { attached, userSession } from "../support/tmux/guestFixture.ts";
import { privateSocket, type PrivateSocket } from "../support/tmux/ownedFixture.ts";

const theirs = spawnSync("tmux", ["-V"], { encoding: "utf8" }).stdout.trim();
const isOld = (releaseOf(theirs.slice("tmux ".length)) ?? Infinity) < 306;
/** One of those that cannot talk to the tmux of this test run, and one that can. */
const [stranger, kin] = isOld ? ["tmux 3.6", "tmux 3.2"] : ["tmux 3.5a", "tmux 9.9"];

/** The tmux of this run, which says of itself that it is another version. */
function calling(socket: PrivateSocket, version: string): string {
  const path = join(socket.directory, version.replace(" ", "-"));
  writeFileSync(path, `#!/bin/sh\n[ "$*" = -V ] && { echo "${version}"; exit; }\nexec tmux "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

const said = {
  message: expect.stringContaining(`is ${theirs}, to which our ${stranger} cannot connect`) as string,
  details: { reason: "tmux_versions_differ", server: theirs, client: stranger },
};

const isLinux = process.platform === "linux";
if (!isLinux)
  process.stderr.write("only Linux tells which program listens at a socket: clashes of versions are skipped\n");

test.runIf(isLinux)("an owned server of another version is refused and keeps running", async () => {
  await using socket = privateSocket();
  userSession(socket, "kept");
  const options = { socketPath: socket.socketPath, env: paneEnvironment(process.env), clock: systemClock };
  const started = startOwnedServer({ ...options, tmux: calling(socket, stranger) });
  await expect(started).rejects.toMatchObject({ ...said, code: "TMUX_UNAVAILABLE" });
  expect(socket.tmux("list-sessions", "-F", "#{session_name}").trim()).toBe("kept");
  // What can talk to it is not refused for being another version.
  await using server = await startOwnedServer({ ...options, tmux: calling(socket, kin) });
  expect(server.findSession("kept")).toBeDefined();
});

test.runIf(isLinux)("a guest of another version reports both versions, and no client connects to it", async () => {
  await using socket = privateSocket();
  userSession(socket, "main");
  const options = { socketPath: socket.socketPath, env: process.env, clock: systemClock };
  await using server = await startGuestServer({ ...options, tmux: calling(socket, stranger) });
  expect(server.status().state).toBe("connecting");
  await expect(server.createSession({ name: "x" })).rejects.toMatchObject({ ...said, code: "CONNECTION_LOST" });
  expect(attached(socket)).toEqual([]);
  await using other = await startGuestServer({ ...options, tmux: calling(socket, kin) });
  expect(other.status().state).toBe("ready");
});
