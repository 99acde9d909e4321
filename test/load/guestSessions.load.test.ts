/**
 * 200 sessions of a user's, one agent in each, all of them watched and idle: one control client of tmux each, because
 * output reaches only a client of the pane's own session (docs/tmuxFacts.md 9). Starting is what it costs; idling is not.
 */
import { loadavg } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import { attached, ours, userSession } from "../support/tmux/guestFixture.ts";
import { clientBytes, watchingGuest, idleCost, startedWithin } from "../support/daemon/watchingGuest.ts";
import { privateSocket } from "../support/tmux/ownedFixture.ts";
import { mib } from "../support/daemon/probedDaemon.ts";
import { report } from "../support/daemon/loadReport.ts";

const IDLE_MS = Number(process.env["IDLE_MS"] ?? 20_000);

test.each([0, 1, 50, 200])("%i sessions, watched", async (sessions) => {
  await using socket = privateSocket();
  userSession(socket, "desk");
  for (let index = 0; index < sessions; index += 1) userSession(socket, `agent-${index}`);
  await using guest = await watchingGuest(socket);
  const clients = clientBytes(socket, guest);
  expect(clients.clients).toBe(sessions + 1);
  const { rss, heapUsed, descriptors } = await guest.usage();
  const idle = await idleCost(socket, guest, IDLE_MS);
  const started = await startedWithin(guest, join(socket.directory, "trace"), IDLE_MS / 4);
  report("guestSessions", {
    sessions,
    watchMs: Math.round(guest.watchMs),
    daemonRssMiB: mib(rss),
    daemonHeapMiB: mib(heapUsed),
    descriptors,
    clientsMiB: mib(clients.bytes),
    perClientMiB: mib(clients.bytes / clients.clients),
    ...idle,
    started: started ?? "no strace",
    load: loadavg()[0]?.toFixed(2),
  });
  expect(mib(rss)).toBeLessThan(150);
  // Terminals of others that come and go are a reason to look, so a busy machine shows here.
  expect(idle.daemonCpu + idle.clientsCpu).toBeLessThan(5);
  expect(started ?? 0).toBe(0);
  await guest[Symbol.asyncDispose]();
  await eventually(() => attached(socket).length === 0);
  expect(ours(socket)).toEqual([]);
});
