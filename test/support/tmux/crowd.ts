/**
 * Programs that print, and sessions, windows and panes that are made and ended by the daemon and by several other clients at
 * the same moment: tmux lives, the daemon believes what tmux lists, and each window has one place in the hub.
 */
import { execFile } from "node:child_process";
import { expect } from "vitest";
import type { LayoutOperation } from "../../../daemon/tmux/layout.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { tmuxPid } from "./failureScenarios.ts";
import { believed, listed, randomFrom } from "./inventoryScenario.ts";
import type { PaneId, WindowId } from "../../../protocol/ids.ts";
import { eventually } from "../clock/eventually.ts";
import { guestFixture, userSession } from "./guestFixture.ts";
import { ownedFixture, type PrivateSocket } from "./ownedFixture.ts";
import { DEAF } from "./output.ts";
import { text } from "./panePrograms.ts";

export const AT_ONCE = 12;
const SESSIONS_AT_MOST = 12;
/** A user's server ends with its last session, so this one stays. */
const LAST = "last";
const PRINTS = ["sh", "-c", "while sleep 0.01; do echo a line of some length; done"];
const IGNORED = () => undefined;
/** A guest tells which tmux it found; a client that is sent away comes back. */
const EXPECTED: ReadonlySet<string> = new Set([
  "tmux.old",
  "connection.lost",
  "connection.retry",
  "connection.restored",
]);

const later = (socket: PrivateSocket, ...args: readonly string[]): Promise<void> =>
  new Promise((resolve) => execFile("tmux", ["-u", "-S", socket.socketPath, ...args], () => resolve()));

/**
 * What happens at once: sessions start and end, and get windows and panes, by us and by others; one is refused where its target
 * has gone. One session is left alone by all that, and loses windows: to one other client, or to us several times. If two
 * others took its windows in one turn of tmux's loop, tmux itself would crash (docs/tmuxFacts.md 64).
 */
function operations(server: TmuxServer, socket: PrivateSocket, random: (below: number) => number, round: number) {
  const one = <T>(from: readonly T[]): T | undefined => from[random(from.length)];
  const other = (...args: readonly string[]) => later(socket, ...args);
  const layout = (operation: LayoutOperation) => server.layout.run(operation).catch(IGNORED);
  const started = server.sessions().filter((each) => each.name !== LAST);
  const losing = one(started);
  const rest = started.filter((each) => each !== losing);
  const panesIn = (windows: readonly WindowId[]) => server.panes().filter((each) => windows.includes(each.window));

  const coming = (name: string): (() => Promise<unknown>) => {
    const start = () => server.createSession({ name, command: PRINTS }).catch(IGNORED);
    const session = one(rest);
    const pane = session === undefined ? undefined : one(panesIn(session.windows));
    if (session === undefined || pane === undefined) return start;
    const { id } = session;
    const ends = [() => server.killSession(id).catch(IGNORED), () => other("kill-session", "-t", id)];
    const starts = [start, () => other("new-session", "-d", "-s", name, ...PRINTS)];
    return one([
      ...ends,
      ...(started.length < SESSIONS_AT_MOST ? starts : ends),
      () => other("new-window", "-d", "-t", `${id}:`, ...PRINTS),
      () => other("split-window", "-d", "-t", pane.id, ...PRINTS),
      () => layout({ kind: "new-window", session: id, command: PRINTS, detached: true }),
      () => other("rename-session", "-t", id, `${name}r`),
      () => server.createSession({ name: `${name}q`, command: ["true"] }).catch(IGNORED),
    ])!;
  };

  const going = (): readonly (() => Promise<unknown>)[] => {
    if (losing === undefined) return [];
    const to = one(rest)?.activePane;
    if (random(2) === 0) {
      return losing.windows.map((window) => () => layout({ kind: "kill-window", window }));
    }
    const [window, pane] = [one(losing.windows), one(panesIn(losing.windows))];
    if (window === undefined || pane === undefined) return [];
    return [
      one([
        () => other("kill-pane", "-t", pane.id),
        () => other("kill-window", "-t", window),
        () => other("break-pane", "-d", "-s", pane.id, "-t", `${losing.id}:`),
        ...(to === undefined ? [] : [() => other("join-pane", "-d", "-s", pane.id, "-t", to)]),
        ...(to === undefined ? [] : [() => other("move-window", "-d", "-s", `${losing.id}:${window}`, "-t", to)]),
      ])!,
    ];
  };
  return [...Array.from({ length: AT_ONCE - 2 }, (_, at) => coming(`r${round}-${at}`)), ...going()];
}

/**
 * What goes on beside that, in panes that may end in the same moment: typing, looking, other sizes and places, programs that
 * are replaced by us (by others tmux can crash, docs/tmuxFacts.md 16; as 3.4 can of zoomed windows that others end, 65), and now and then one of our clients is sent away.
 */
function pastimes(server: TmuxServer, socket: PrivateSocket, random: (below: number) => number) {
  const one = <T>(from: readonly T[]): T | undefined => from[random(from.length)];
  const other = (...args: readonly string[]) => later(socket, ...args);
  const layout = (operation: LayoutOperation) => server.layout.run(operation).catch(IGNORED);
  const size = () => String(30 + random(90));
  const pastime = (): (() => Promise<unknown>) => {
    const [pane, second] = [one(server.panes()), one(server.panes())];
    if (pane === undefined || second === undefined) return async () => undefined;
    const { id, window } = pane;
    return one([
      () => server.input(id, [text("echo typed\r")]).catch(IGNORED),
      () => server.capture(id).catch(IGNORED),
      () => other("send-keys", "-t", id, "x"),
      () => other("resize-window", "-t", window, "-x", size(), "-y", size()),
      () => other("select-layout", "-t", window, "tiled"),
      () => other("swap-pane", "-d", "-s", id, "-t", second.id),
      () => other("copy-mode", "-t", id),
      () => other("clear-history", "-t", id),
      () => other("pipe-pane", "-t", id, "cat >/dev/null"),
      () => layout({ kind: "respawn-pane", pane: id, command: PRINTS }),
      () => layout({ kind: "swap-pane", pane: id, with: second.id }),
      () => layout({ kind: "resize-window", window, cols: 30 + random(90), rows: 20 + random(30) }),
      () => layout({ kind: "select-layout", window, layout: "even-vertical" }),
    ])!;
  };
  const away = async (): Promise<void> => {
    const client = one(socket.tmux("list-clients", "-F", "#{client_name}").trim().split("\n"));
    if (client !== undefined && client !== "") await other("detach-client", "-t", client);
  };
  return [...Array.from({ length: AT_ONCE / 2 }, pastime), ...(random(8) === 0 ? [away] : [])];
}

/** Every window of a session has one place in our hub, and the hub holds nothing else but the event pane's. */
function isHubTrue(socket: PrivateSocket): boolean {
  const rows = socket.tmux("list-windows", "-a", "-F", "#{session_name} #{window_id}").trim().split("\n");
  const ids = (isHub: boolean) =>
    rows.filter((row) => row.startsWith("__tmuxwire-") === isHub).map((row) => row.split(" ")[1]!);
  const [hub, others] = [ids(true), new Set(ids(false))];
  const [own, ...more] = hub.filter((id) => !others.has(id));
  return own !== undefined && more.length === 0 && new Set(hub).size === hub.length && hub.length === others.size + 1;
}

/** Returns which tmux it was. */
export async function crowd(kind: "owned" | "guest", seed: number, rounds: number): Promise<string> {
  const first = (socket: PrivateSocket) => void userSession(socket, LAST);
  await using fixture = await (kind === "owned" ? ownedFixture() : guestFixture(first, { idleMs: 50 }));
  const { server, socket } = fixture;
  const random = randomFrom(seed);
  if (kind === "owned") await server.createSession({ name: LAST, command: ["cat"] });
  const pid = tmuxPid(socket);
  const readers = new Map<PaneId, () => void>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [id, leave] of readers) {
      if (random(4) === 0) leave();
      if (random(4) === 0) readers.delete(id);
    }
    for (const { id } of server.panes()) {
      if (readers.has(id) || server.status().state !== "ready") continue;
      const closed = (): void => void readers.delete(id);
      readers.set(id, server.output(id).subscribe({ ...DEAF, closed }));
    }
    const all = [...operations(server, socket, random, round), ...pastimes(server, socket, random)];
    await Promise.all(all.map((operate) => operate()));
    await eventually(() => {
      expect(tmuxPid(socket)).toBe(pid);
      return server.status().state === "ready";
    });
    if (kind === "owned") await eventually(() => isHubTrue(socket));
    await eventually(() => believed(server).join("\n") === listed(socket).join("\n"));
    expect(tmuxPid(socket)).toBe(pid);
  }
  expect(fixture.log.filter(({ event }) => !EXPECTED.has(event))).toEqual([]);
  return socket.tmux("-V").trim();
}
