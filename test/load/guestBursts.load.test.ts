/**
 * A user's tmux beside a guest that watches everything, while sessions are made and ended in bursts: the server must live
 * (docs/tmuxFacts.md 50), and streams must be on soon after. Environment: `ROUNDS`, `SEED`, `SESSIONS` per round,
 * `BUSY` loops beside it, `TMUX_CLIENTS=1`; the first tmux on PATH is what is tried.
 */
import { execFile, spawn as spawnProcess } from "node:child_process";
import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { spawn as spawnPty } from "@homebridge/node-pty-prebuilt-multiarch";
import { expect, test } from "vitest";
import { realReadiness } from "../support/agents/readinessWatch.ts";
import { dashboardFixture } from "../support/daemon/dashboardFixture.ts";
import { registerAll } from "../support/daemon/dashboardLoad.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import { startGuestServer } from "../support/tmux/guestEngine.ts";
import { userSession } from "../support/tmux/guestFixture.ts";
import { type PrivateSocket, privateSocket } from "../support/tmux/ownedFixture.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { localClients } from "../../daemon/host/clients/localClients.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import type { PaneId } from "../../protocol/ids.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 3);
const SEED = Number(process.env["SEED"] ?? 1);
const SESSIONS = Number(process.env["SESSIONS"] ?? 118);
const BUSY = Number(process.env["BUSY"] ?? 0);
/** Clients of tmux's own program, as where no others can be had: they wait until the server is calm. */
const TMUX_CLIENTS = process.env["TMUX_CLIENTS"] === "1";
/** Agents that the dashboard has a card for. */
const CARDS = 10;

type Random = (below: number) => number;

/** The same numbers for the same seed (mulberry32). */
function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** What the tmux command said; a session that has ended meanwhile is no fault. */
const ask = (socket: PrivateSocket, ...args: string[]): Promise<string> =>
  new Promise((resolve) =>
    execFile("tmux", ["-u", "-S", socket.socketPath, ...args], (_error, stdout) => resolve(stdout.trim())),
  );

const serverPid = (socket: PrivateSocket): Promise<string> => ask(socket, "display-message", "-p", "#{pid}");

/** A person at a terminal, who looks at one session for a moment. */
async function visit(socket: PrivateSocket, session: string, forMs: number): Promise<void> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: "/", TERM: "xterm-256color" };
  const pty = spawnPty("tmux", ["-u", "-S", socket.socketPath, "attach-session", "-t", `=${session}`], {
    env,
    cwd: "/",
  });
  const gone = new Promise<void>((resolve) => {
    pty.onExit(() => resolve());
  });
  await delay(forMs);
  // One of tmux 3.2 may ignore a hang-up (docs/tmuxFacts.md 3a).
  pty.kill("SIGKILL");
  await gone;
}

/** Sessions come and go in bursts; resolves when all that was asked has been done. */
async function bursts(socket: PrivateSocket, random: Random): Promise<void> {
  const under: Promise<unknown>[] = [];
  const alive: string[] = [];
  for (let made = 0; made < SESSIONS;) {
    for (let left = 5 + random(25); left > 0 && made < SESSIONS; left -= 1) {
      const kind = random(100);
      const some = alive[random(Math.max(1, alive.length))];
      if (kind < 70 || some === undefined) {
        made += 1;
        alive.push(`s${made}`);
        under.push(ask(socket, "new-session", "-d", "-s", `s${made}`, "exec cat"));
      } else if (kind < 82) {
        alive.splice(alive.indexOf(some), 1);
        under.push(ask(socket, "kill-session", "-t", `=${some}`));
      } else if (kind < 92) under.push(ask(socket, "rename-window", "-t", `=${some}:`, `w${random(1_000)}`));
      else if (kind < 95) under.push(ask(socket, "rename-session", "-t", `=${some}`, some));
      else under.push(visit(socket, "desk", 20 + random(200)));
      await delay(random(71));
    }
    // Mostly as a script pauses between two steps; now and then long enough for clients to come.
    await delay(random(5) > 0 ? 90 + random(71) : 300 + random(1_500));
  }
  await Promise.all(under);
}

/** As a dashboard and its pages do: every pane's stream and readiness, again whenever it can be had. */
function watchEverything(
  server: TmuxServer,
): Disposable & { readonly look: () => void; readonly count: () => number; readonly heard: Set<PaneId> } {
  const readiness = realReadiness();
  const watched = new Set<PaneId>();
  const streaming = new Set<PaneId>();
  /** Panes of which a byte has come. */
  const heard = new Set<PaneId>();
  const look = (): void => {
    for (const { id } of server.panes()) {
      if (!watched.has(id)) {
        watched.add(id);
        readiness.watch(server, id);
      }
      if (streaming.has(id)) continue;
      try {
        const ignore = (): void => undefined;
        const closed = (): void => void streaming.delete(id);
        const advanced = (): void => void heard.add(id);
        server.output(id).subscribe({ advanced, gap: ignore, exited: ignore, closed });
        streaming.add(id);
      } catch {
        // Not now: a change of state says when.
      }
    }
  };
  const off = server.subscribe(look);
  look();
  return {
    look,
    count: () => watched.size,
    heard,
    [Symbol.dispose]: () => {
      off();
      readiness.close();
    },
  };
}

/**
 * How long it takes until nothing waits for a calm server any more and a byte of every pane has come over its stream (a
 * capture proves nothing: it is asked over another connection meanwhile); undefined when the server has died.
 */
async function untilStreaming(
  server: TmuxServer,
  { heard, look }: { readonly heard: Set<PaneId>; readonly look: () => void },
  { socket, isAlive }: { readonly socket: PrivateSocket; readonly isAlive: () => Promise<boolean> },
): Promise<number | undefined> {
  const startMs = performance.now();
  heard.clear();
  for (;;) {
    // No event tells of a new pane in a session that is known.
    look();
    const silent = server.panes().filter(({ id }) => !heard.has(id));
    if (!(await isAlive())) return undefined;
    if (server.panes().length > 0 && silent.length === 0 && server.status().waiting === undefined)
      return performance.now() - startMs;
    // The terminal echoes it. A pane that has ended keeps those behind it from it until it is no longer listed.
    await ask(socket, ...silent.flatMap(({ id }) => ["send-keys", "-t", id, "x", ";"]));
    await delay(20);
  }
}

interface RoundEnd {
  readonly streamsMs: number | undefined;
}

async function round(seed: number): Promise<RoundEnd> {
  const random = randomOf(seed);
  await using socket = privateSocket();
  const desk = userSession(socket, "desk");
  const before = await serverPid(socket);
  const isAlive = async (): Promise<boolean> => (await serverPid(socket)) === before;
  const begun = bursts(socket, random);
  // Half of the daemons come in the middle of it.
  await delay(random(2) * random(2_000));
  const transport = TMUX_CLIENTS ? localClients.open : undefined;
  const server = await startGuestServer({
    socketPath: socket.socketPath,
    env: process.env,
    clock: systemClock,
    transport,
  });
  try {
    using all = watchEverything(server);
    await using dashboard = await dashboardFixture(server);
    await registerAll(dashboard.url, [desk, ...server.panes().map(({ id }) => id)].slice(0, CARDS));
    await begun;
    expect(all.count()).toBeGreaterThan(0);
    return { streamsMs: (await isAlive()) ? await untilStreaming(server, all, { socket, isAlive }) : undefined };
  } finally {
    await begun;
    await server.close();
  }
}

test(`${ROUNDS} rounds of bursts`, { timeout: 120_000 * ROUNDS }, async () => {
  const busy = Array.from({ length: BUSY }, () =>
    spawnProcess("nice", ["-n", "10", process.execPath, "-e", "for(;;);"], { stdio: "ignore" }),
  );
  const tmuxVersion = await new Promise<string>((resolve) =>
    execFile("tmux", ["-V"], (_e, out) => resolve(out.trim())),
  );
  const streamsMs: number[] = [];
  const faults: string[] = [];
  let crashes = 0;
  try {
    for (let done = 1; done <= ROUNDS; done += 1) {
      try {
        const { streamsMs: took } = await round(SEED * 1_000 + done);
        if (took === undefined) crashes += 1;
        else streamsMs.push(took);
      } catch (error) {
        // One round's fault must not hide what the others show.
        faults.push(`round ${done}: ${String(error)}`);
        report("guestBursts", { fault: faults.at(-1) });
      }
      const load = loadavg()[0]?.toFixed(2);
      report("guestBursts", {
        tmuxVersion,
        rounds: done,
        crashes,
        busy: BUSY,
        sessions: SESSIONS,
        ...spread(streamsMs),
        load,
      });
    }
  } finally {
    for (const child of busy) child.kill("SIGKILL");
  }
  expect(faults).toEqual([]);
  expect(crashes).toBe(0);
  // One at a time takes as long as it takes.
  if (!TMUX_CLIENTS) expect(spread(streamsMs).maxMs).toBeLessThan(5_000);
});
