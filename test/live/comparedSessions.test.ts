/**
 * The session that the base connection is on ends while tmux compares for it, and we are too busy to leave at once: up to
 * 3.6, tmux would crash with everything in it (docs/tmuxFacts.md 56a).
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import { attached, guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import { tmuxPid } from "../support/tmux/failureScenarios.ts";

/** tmux compares once a second. */
const BUSY_MS = 1_300;

/** Another process kills the session while this one reads nothing for long enough. */
async function killedWhileBusy(socketPath: string, session: string): Promise<void> {
  const killer = spawn("sh", ["-c", `sleep 0.1; tmux -S "$0" kill-session -t "=$1"`, socketPath, session]);
  const killed = once(killer, "exit");
  await new Promise((resolve) => setImmediate(resolve));
  const untilMs = performance.now() + BUSY_MS;
  while (performance.now() < untilMs);
  await killed;
}

test("a user's server lives when the base's session ends, whatever is compared and however busy we are", async () => {
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "first");
    userSession(socket, "second");
  });
  const { server, socket } = fixture;
  const pid = tmuxPid(socket);
  // Both of what is compared: for those who follow the tree, and for panes that nobody follows.
  const off = server.layout.watch(ignore);
  for (const pane of server.panes()) server.output(pane.id, { unfollowed: true }).subscribe(IGNORE);
  const base = attached(socket).find(({ isOurs }) => isOurs)?.session ?? "none";
  await killedWhileBusy(socket.socketPath, base);
  await eventually(() => server.status().state === "ready" && server.sessions().length === 1);
  expect(server.findSession(base)).toBeUndefined();
  expect(tmuxPid(socket)).toBe(pid);
  off();
});

const ignore = (): void => undefined;
const IGNORE = { advanced: ignore, gap: ignore, exited: ignore, closed: ignore };
