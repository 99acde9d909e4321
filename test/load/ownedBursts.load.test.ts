/**
 * A daemon that comes back again and again to a server of its own, while sessions are made and ended there in bursts: below
 * tmux 3.7 a client that attaches in such a moment could end the server (docs/tmuxFacts.md 50).
 */
import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { tmuxPid } from "../support/tmux/failureScenarios.ts";
import { userSession } from "../support/tmux/guestFixture.ts";
import { privateSocket, type PrivateSocket } from "../support/tmux/ownedFixture.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 30);

const later = (socket: PrivateSocket, ...args: readonly string[]): Promise<void> =>
  new Promise((resolve) => execFile("tmux", ["-u", "-S", socket.socketPath, ...args], () => resolve()));

test("a server of ours lives, however often we come back to it beside bursts of sessions", async () => {
  await using socket = privateSocket();
  userSession(socket, "kept");
  const pid = tmuxPid(socket);
  const over = new AbortController();
  const asked: Promise<void>[] = [];
  const bursts = (async () => {
    for (let made = 0; !over.signal.aborted; made += 1) {
      asked.push(later(socket, "new-session", "-d", "-s", `s${made}`, "exec cat"));
      if (made > 4) asked.push(later(socket, "kill-session", "-t", `=s${made - 4}`));
      await delay((made * 37) % 70);
    }
  })();
  const options = { socketPath: socket.socketPath, env: paneEnvironment(process.env), clock: systemClock };
  let connected = 0;
  for (let round = 0; round < ROUNDS && isThere(pid); round += 1) {
    try {
      await using server = await startOwnedServer(options);
      connected += server.status().state === "ready" ? 1 : 0;
    } catch (error) {
      console.log(String(error));
    }
  }
  over.abort();
  await bursts;
  await Promise.all(asked);
  console.log(JSON.stringify({ tmux: socket.tmux("-V").trim(), rounds: ROUNDS, connected }));
  expect(tmuxPid(socket)).toBe(pid);
  expect(connected).toBe(ROUNDS);
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
