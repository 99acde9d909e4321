/**
 * 200 sessions of a user's, one agent in each, all of them watched and idle: one control client of tmux each, because
 * output reaches only a client of the pane's own session (docs/tmuxFacts.md 9). Starting is what it costs; idling is not.
 */
import { loadavg } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import { attached, ours, userSession } from "../support/tmux/guestFixture.ts";
import { privateSocket, type PrivateSocket } from "../support/tmux/ownedFixture.ts";
import { mib, type Usage } from "../support/daemon/probedDaemon.ts";
import { report } from "../support/daemon/loadReport.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { guestEngine } from "../support/daemon/cliBuild.ts";
import { cpuMsOf } from "../support/daemon/processCost.ts";
import { hasStrace } from "../support/daemon/spawnScenario.ts";

/** A guest in a process of its own that watches every pane of a user's server, and what that costs the machine. */
const PROBE = fileURLToPath(new URL("../support/daemon/memoryProbe.mjs", import.meta.url));

interface WatchingGuest extends AsyncDisposable {
  readonly pid: number;
  /** From the first watch to the last pane's output flowing. */
  readonly watchMs: number;
  usage(): Promise<Usage>;
}

/** Resolves when all the panes are watched. */
async function watchingGuest(socket: PrivateSocket): Promise<WatchingGuest> {
  const body = `
    const { startGuestServer, systemClock } = await import(${JSON.stringify(guestEngine())});
    const server = await startGuestServer({
      socketPath: ${JSON.stringify(socket.socketPath)}, env: process.env, clock: systemClock,
    });
    const ignore = () => undefined;
    const startMs = performance.now();
    const closed = (error) => {
      console.error(error.code + ": " + error.message);
      process.exit(9);
    };
    for (const { id } of server.panes()) {
      server.output(id).subscribe({ advanced: ignore, gap: ignore, exited: ignore, closed });
    }
    await Promise.all(server.panes().map(({ id }) => server.capture(id)));
    process.send({ watchMs: performance.now() - startMs });`;
  const child = spawn(process.execPath, ["--expose-gc", "--import", PROBE, "--input-type=module", "-e", body], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const gone = once(child, "exit");
  const early = gone.then(([code]) => {
    throw new Error(`the guest ended with ${String(code)}`);
  });
  const [{ watchMs }] = (await Promise.race([once(child, "message"), early])) as [{ watchMs: number }];
  early.catch(() => undefined);
  return {
    pid: child.pid!,
    watchMs,
    usage: async () => {
      child.send("usage");
      const [usage] = (await once(child, "message")) as [Usage];
      return usage;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** The processes of all of our control clients; the guest itself may be all of them (docs/tmuxFacts.md 50). */
const clientPids = (socket: PrivateSocket, guest: WatchingGuest): readonly number[] => {
  const pids = new Set(attached(socket).flatMap(({ isOurs, pid }) => (isOurs ? [pid] : [])));
  pids.delete(guest.pid);
  return [...pids];
};

/** Bytes that they hold and share with nobody, counting what they share among them by parts. */
function clientBytes(
  socket: PrivateSocket,
  guest: WatchingGuest,
): { readonly clients: number; readonly bytes: number } {
  const bytes = clientPids(socket, guest).map((pid) => {
    const [, kib] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
    return Number(kib) * 1_024;
  });
  return {
    clients: attached(socket).filter(({ isOurs }) => isOurs).length,
    bytes: bytes.reduce((sum, one) => sum + one, 0),
  };
}

interface IdleCost {
  /** Of one core, in percent. */
  readonly daemonCpu: number;
  readonly clientsCpu: number;
  readonly tmuxCpu: number;
}

/** Nothing happens for so long. */
async function idleCost(socket: PrivateSocket, guest: WatchingGuest, forMs: number): Promise<IdleCost> {
  const clients = clientPids(socket, guest);
  const tmux = Number(socket.tmux("display-message", "-p", "#{pid}").trim());
  const used = (): readonly [number, number, number] => [
    cpuMsOf(guest.pid),
    clients.reduce((sum, pid) => sum + cpuMsOf(pid), 0),
    cpuMsOf(tmux),
  ];
  const before = used();
  const startMs = performance.now();
  await delay(forMs);
  const [after, elapsedMs] = [used(), performance.now() - startMs];
  const share = (index: 0 | 1 | 2): number => Math.round(((after[index] - before[index]) / elapsedMs) * 10_000) / 100;
  return { daemonCpu: share(0), clientsCpu: share(1), tmuxCpu: share(2) };
}

/** Processes that the daemon, or anything it has started, starts within so long; undefined without strace. */
async function startedWithin(guest: WatchingGuest, traceFile: string, forMs: number): Promise<number | undefined> {
  if (!hasStrace()) return undefined;
  const calls = "trace=execve,execveat,fork,vfork,clone,clone3";
  const strace = spawn("strace", ["-f", "-q", "-e", calls, "-o", traceFile, "-p", String(guest.pid)], {
    stdio: "ignore",
  });
  await eventually(() => /TracerPid:\t[1-9]/.test(readFileSync(`/proc/${guest.pid}/status`, "utf8")));
  await delay(forMs);
  strace.kill("SIGINT");
  await once(strace, "exit");
  const calledOf = readFileSync(traceFile, "utf8").split("\n");
  return calledOf.filter((line) => / execve|(?:v?fork|clone3?)\(/.test(line) && !/CLONE_THREAD/.test(line)).length;
}

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
