/** A daemon is started where none listens, but never before one that restarts. */
import { utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { startNative } from "../../../../../adapters/commands/connection/startNative.ts";
import type { Io } from "../../../../../adapters/cli/cliIo.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

let directory: string;
beforeEach(() => {
  directory = ownDirectory();
});

const io = { env: {}, signal: new AbortController().signal } as unknown as Io;

test("a daemon that restarts is waited for", async () => {
  const socketPath = join(directory, "tmuxwire.sock");
  writeFileSync(`${socketPath}.restarting`, "");
  const started = startNative(io, socketPath);
  const server = createServer((socket) => socket.destroy());
  server.listen(socketPath);
  try {
    expect(await started).toEqual({ pid: undefined, logPath: join(directory, "daemon.log") });
  } finally {
    server.close();
  }
});

test("one that has not come back is not waited for: here the start fails, for there is no executable beside the sources", async () => {
  const socketPath = join(directory, "tmuxwire.sock");
  const longAgo = new Date(Date.now() - 60_000);
  writeFileSync(`${socketPath}.restarting`, "");
  utimesSync(`${socketPath}.restarting`, longAgo, longAgo);
  await expect(startNative(io, socketPath)).rejects.toMatchObject({
    code: "DAEMON_UNREACHABLE",
    message: expect.stringContaining("starting one failed") as string,
  });
});

test("one that somebody else has started meanwhile is taken, though ours fails", async () => {
  const socketPath = join(directory, "tmuxwire.sock");
  const server = createServer((socket) => socket.destroy());
  server.listen(socketPath);
  try {
    expect(await startNative(io, socketPath)).toEqual({ pid: undefined, logPath: join(directory, "daemon.log") });
  } finally {
    server.close();
  }
});
