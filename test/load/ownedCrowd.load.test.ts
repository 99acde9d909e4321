/**
 * Programs that print, and sessions, windows and panes that are made and ended by the daemon and by several other clients at
 * the same moment: tmux lives, the daemon believes what tmux lists, and each window has one place in the hub.
 */
import { execFile } from "node:child_process";
import { expect, test } from "vitest";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { tmuxPid } from "../support/tmux/failureScenarios.ts";
import { believed, listed, randomFrom } from "../support/tmux/inventoryScenario.ts";
import { eventually } from "../support/clock/eventually.ts";
import { ownedFixture, type PrivateSocket } from "../support/tmux/ownedFixture.ts";
import { report, sinceMs } from "../support/daemon/loadReport.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 40);
const AT_ONCE = 12;
const SESSIONS_AT_MOST = 12;
const PRINTS = ["sh", "-c", "while sleep 0.01; do echo a line of some length; done"];
const IGNORED = () => undefined;

const later = (socket: PrivateSocket, ...args: readonly string[]): Promise<void> =>
  new Promise((resolve) => execFile("tmux", ["-u", "-S", socket.socketPath, ...args], () => resolve()));

/** One operation of ours or of another client; one that is refused, because its target has gone, is none. */
function operation(server: TmuxServer, socket: PrivateSocket, random: (below: number) => number, name: string) {
  const one = <T>(from: readonly T[]): T | undefined => from[random(from.length)];
  const [session, window, pane] = [one(server.sessions()), one(server.windows()), one(server.panes())];
  const other = (...args: readonly string[]) => later(socket, ...args);
  const start = () => server.createSession({ name, command: PRINTS }).catch(IGNORED);
  if (session === undefined || window === undefined || pane === undefined) return start();
  const isFull = server.sessions().length >= SESSIONS_AT_MOST;
  const operations: readonly (() => Promise<unknown>)[] = [
    isFull ? () => server.killSession(session.id).catch(IGNORED) : start,
    isFull ? () => other("kill-session", "-t", session.id) : () => other("new-session", "-d", "-s", name, ...PRINTS),
    () => server.killSession(session.id).catch(IGNORED),
    () => other("kill-session", "-t", session.id),
    () => other("new-window", "-d", "-t", `${session.id}:`, ...PRINTS),
    () => other("split-window", "-d", "-t", pane.id, ...PRINTS),
    () => other("kill-pane", "-t", pane.id),
    () => other("kill-window", "-t", window.id),
    () => other("break-pane", "-d", "-s", pane.id, "-t", `${session.id}:`),
    () => other("send-keys", "-t", pane.id, "C-c"),
    () => server.createSession({ name: `${name}q`, command: ["true"] }).catch(IGNORED),
  ];
  return operations[random(operations.length)]!();
}

test("a server of ours lives in a crowd", async () => {
  await using owned = await ownedFixture();
  const { server, socket } = owned;
  const random = randomFrom(Number(process.env["SEED"] ?? 1));
  const startMs = performance.now();
  await server.createSession({ name: "first", command: PRINTS });
  const pid = tmuxPid(socket);
  for (let round = 0; round < ROUNDS; round += 1) {
    const names = Array.from({ length: AT_ONCE }, (_, at) => `r${round}-${at}`);
    await Promise.all(names.map((name) => operation(server, socket, random, name)));
    // What has no session any more is closed, and what the hub has lost is back.
    await eventually(() => {
      const rows = socket.tmux("list-windows", "-a", "-F", "#{session_name} #{window_id}").trim().split("\n");
      const ids = (isHub: boolean) =>
        rows.filter((row) => row.startsWith("__tmuxwire-") === isHub).map((row) => row.split(" ")[1]!);
      // The first is the event pane's.
      const hub = ids(true).filter((id) => id !== "@0");
      return hub.toSorted().join() === [...new Set(ids(false))].toSorted().join();
    });
    await eventually(() => believed(server).join("\n") === listed(socket).join("\n"));
    expect(tmuxPid(socket)).toBe(pid);
  }
  report("owned.crowd", {
    tmux: socket.tmux("-V").trim(),
    rounds: ROUNDS,
    operations: ROUNDS * AT_ONCE,
    ms: sinceMs(startMs),
  });
  expect(owned.log).toEqual([]);
});
