/** The socket file of a server of ours is deleted: it comes back, and nothing fresh and empty takes the place of what lives. */
import { existsSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { TeamServers } from "../../adapters/team/teamServers.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { openPtyTransport } from "../../daemon/host/clients/ptyTransport.ts";
import { startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { eventually } from "../support/clock/eventually.ts";
import { seen } from "../support/tmux/output.ts";
import { ownedFixture, type PrivateSocket, privateSocket } from "../support/tmux/ownedFixture.ts";
import { startProgram, text } from "../support/tmux/panePrograms.ts";

const ECHO = ["sh", "-c", "stty raw -echo; printf 'ready;'; exec cat"] as const;

const again = (socketPath: string) =>
  startOwnedServer({ socketPath, env: paneEnvironment(process.env), clock: systemClock });

/** What a client is told; nothing while nobody listens. */
function sessionsOf(socket: PrivateSocket): string {
  try {
    return socket.tmux("list-sessions", "-F", "#{session_name}");
  } catch (error) {
    if (/no server running|error connecting/.test(String(error))) return "";
    throw error;
  }
}

describe("while a connection stands", () => {
  test.each([
    ["its file", (path: string) => rmSync(path)],
    ["its directory", (_path: string, directory: string) => rmSync(directory, { recursive: true })],
  ])("%s is deleted and comes back, again and again; the connection does not notice", async (_what, remove) => {
    await using fixture = await ownedFixture();
    const { server, socket } = fixture;
    const program = await startProgram(server, "work", ECHO);
    const { identity, epoch } = server.status();
    for (let time = 0; time < 3; time += 1) {
      remove(socket.socketPath, socket.directory);
      // The file is there before tmux listens at it.
      await eventually(() => existsSync(socket.socketPath) && sessionsOf(socket).includes("work"), 20);
    }
    await server.input(program.pane, [text("still here")]);
    await seen(program.source, program.startSeq, "still here");
    expect(server.status()).toMatchObject({ state: "ready", identity, epoch });
  });

  test("and the connection is lost in the same moment: it comes back to the same server", async () => {
    // A client that is a process of its own can be ended without the socket.
    await using fixture = await ownedFixture({ transport: openPtyTransport });
    const { server, socket } = fixture;
    const { pane } = await startProgram(server, "work", ECHO);
    const { identity, epoch } = server.status();
    const client = Number(socket.tmux("list-clients", "-F", "#{client_pid}"));
    rmSync(socket.socketPath);
    process.kill(client, "SIGKILL");
    await eventually(() => server.status().state === "ready" && server.status().epoch !== epoch);
    expect(server.status().identity).toBe(identity);
    expect(server.panes().map(({ id }) => id)).toEqual([pane]);
  });
});

// Only Linux tells who listens at a path without its file.
const isUntold = process.platform !== "linux";

test.skipIf(isUntold)("while no daemon runs: the next one finds the programs that live", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  const { pane } = await startProgram(server, "work", ECHO);
  const { identity } = server.status();
  await server.close();
  rmSync(socket.socketPath);
  const next = await again(socket.socketPath);
  try {
    expect(next.status()).toMatchObject({ state: "ready", identity });
    expect(next.panes().map(({ id }) => id)).toEqual([pane]);
  } finally {
    await next.close();
  }
});

test.skipIf(isUntold)("while nobody is connected to a team's server: the team still has its sessions", async () => {
  await using socket = privateSocket();
  const team = (): TeamServers =>
    new TeamServers({ rootDir: dirname(socket.directory), env: paneEnvironment(process.env), clock: systemClock });
  const name = basename(socket.directory);
  const first = team();
  expect(first.socketPath(name)).toBe(socket.socketPath);
  await first.use(name, (server) => server.createSession({ name: "work", command: ["cat"] }));
  await first.close();
  rmSync(socket.socketPath);
  const next = team();
  try {
    const names = await next.useIfThere(name, async (server) => server?.sessions().map((session) => session.name));
    expect(names).toEqual(["work"]);
  } finally {
    await next.close();
  }
});
