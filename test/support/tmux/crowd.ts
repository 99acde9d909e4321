/**
 * Programs that print, and sessions, windows and panes that are made and ended by the daemon and by several other clients at
 * the same moment: tmux lives, the daemon believes what tmux lists, and each window has one place in the hub.
 */
import { execFile } from "node:child_process";
import { expect } from "vitest";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { tmuxPid } from "./failureScenarios.ts";
import { believed, listed, randomFrom } from "./inventoryScenario.ts";
import { eventually } from "../clock/eventually.ts";
import { guestFixture, userSession } from "./guestFixture.ts";
import { ownedFixture, type PrivateSocket } from "./ownedFixture.ts";

export const AT_ONCE = 12;
const SESSIONS_AT_MOST = 12;
/** A user's server ends with its last session, so this one stays. */
const LAST = "last";
const PRINTS = ["sh", "-c", "while sleep 0.01; do echo a line of some length; done"];
const IGNORED = () => undefined;

const later = (socket: PrivateSocket, ...args: readonly string[]): Promise<void> =>
  new Promise((resolve) => execFile("tmux", ["-u", "-S", socket.socketPath, ...args], () => resolve()));

/** One operation of ours or of another client; one that is refused, because its target has gone, is none. */
function operation(server: TmuxServer, socket: PrivateSocket, random: (below: number) => number, name: string) {
  const one = <T>(from: readonly T[]): T | undefined => from[random(from.length)];
  const sessions = server.sessions().filter((each) => each.name !== LAST);
  const windows = sessions.flatMap((each) => each.windows);
  const panes = server.panes().filter((each) => windows.includes(each.window));
  const [session, window, pane] = [one(sessions), one(windows), one(panes)];
  const [to, toPane] = [one(sessions), one(panes)];
  const other = (...args: readonly string[]) => later(socket, ...args);
  const start = () => server.createSession({ name, command: PRINTS }).catch(IGNORED);
  if (session === undefined || window === undefined || pane === undefined || to === undefined || toPane === undefined)
    return start();
  const isFull = server.sessions().length >= SESSIONS_AT_MOST;
  const operations: readonly (() => Promise<unknown>)[] = [
    isFull ? () => server.killSession(session.id).catch(IGNORED) : start,
    isFull ? () => other("kill-session", "-t", session.id) : () => other("new-session", "-d", "-s", name, ...PRINTS),
    () => server.killSession(session.id).catch(IGNORED),
    () => other("kill-session", "-t", session.id),
    () => other("new-window", "-d", "-t", `${session.id}:`, ...PRINTS),
    () => other("split-window", "-d", "-t", pane.id, ...PRINTS),
    () => other("kill-pane", "-t", pane.id),
    () => other("kill-window", "-t", window),
    () => other("break-pane", "-d", "-s", pane.id, "-t", `${session.id}:`),
    () => other("join-pane", "-d", "-s", pane.id, "-t", toPane.id),
    () => other("swap-pane", "-d", "-s", pane.id, "-t", toPane.id),
    () => other("move-window", "-d", "-s", `${session.id}:${window}`, "-t", `${to.id}:`),
    () => other("rename-session", "-t", session.id, `${name}r`),
    () => other("send-keys", "-t", pane.id, "C-c"),
    () => server.createSession({ name: `${name}q`, command: ["true"] }).catch(IGNORED),
  ];
  return operations[random(operations.length)]!();
}

/** Every window of a session has one place in our hub, and the hub holds nothing else but the event pane's. */
function isHubTrue(socket: PrivateSocket): boolean {
  const rows = socket.tmux("list-windows", "-a", "-F", "#{session_name} #{window_id}").trim().split("\n");
  const ids = (isHub: boolean) =>
    rows.filter((row) => row.startsWith("__tmuxwire-") === isHub).map((row) => row.split(" ")[1]!);
  const hub = ids(true).filter((id) => id !== "@0");
  return hub.toSorted().join() === [...new Set(ids(false))].toSorted().join();
}

/** Returns which tmux it was. */
export async function crowd(kind: "owned" | "guest", seed: number, rounds: number): Promise<string> {
  const first = (socket: PrivateSocket) => void userSession(socket, LAST);
  await using fixture = await (kind === "owned" ? ownedFixture() : guestFixture(first));
  const { server, socket } = fixture;
  const random = randomFrom(seed);
  if (kind === "owned") await server.createSession({ name: LAST, command: ["cat"] });
  const pid = tmuxPid(socket);
  const read = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    for (const { id } of server.panes()) {
      if (read.has(id)) continue;
      read.add(id);
      server.output(id).subscribe({ advanced: IGNORED, gap: IGNORED, exited: IGNORED, closed: IGNORED });
    }
    const names = Array.from({ length: AT_ONCE }, (_, at) => `r${round}-${at}`);
    await Promise.all(names.map((name) => operation(server, socket, random, name)));
    if (kind === "owned") await eventually(() => isHubTrue(socket));
    await eventually(() => believed(server).join("\n") === listed(socket).join("\n"));
    expect(tmuxPid(socket)).toBe(pid);
  }
  // A guest tells which tmux it found.
  expect(fixture.log.filter(({ event }) => event !== "tmux.old")).toEqual([]);
  return socket.tmux("-V").trim();
}
