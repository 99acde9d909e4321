/**
 * A user's tmux on a private socket, with whatever the test puts there, and a guest on it. What the user would notice of
 * a guest is one text, `userState`, so that a test can demand that nothing of it changes.
 */
import { spawn as spawnPty } from "@homebridge/node-pty-prebuilt-multiarch";
import { systemClock } from "../../../daemon/time/clock.ts";
import type { GuestServerOptions } from "../../../daemon/servers/guest/guestServer.ts";
import { startGuestServer } from "./guestEngine.ts";
import type { ServerEvent } from "../../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { eventually } from "../clock/eventually.ts";
import { privateSocket, type PrivateSocket } from "./ownedFixture.ts";
import { script } from "./panePrograms.ts";

/** Prints every line again in angle brackets, on a terminal in its usual mode. */
export const ECHOING_LINES = ["sh", "-c", 'stty -echo; echo "ready;"; while read -r line; do echo "<$line>"; done'];

/** Prints what it is given, byte for byte, and stays. */
export const ECHOING = script(
  `process.stdin.on("data", (d) => process.stdout.write(d)); process.stdout.write("ready;");`,
);

interface GuestFixture extends AsyncDisposable {
  readonly server: TmuxServer;
  readonly socket: PrivateSocket;
  readonly events: readonly ServerEvent[];
  readonly log: readonly { readonly event: string; readonly fields: object }[];
  /** Another guest on the same server. */
  another(options?: Partial<GuestServerOptions>): Promise<TmuxServer>;
}

/** @param prepare what the user has done before the guest comes; without a session there is no server. */
export async function guestFixture(
  prepare: (socket: PrivateSocket) => void | Promise<void>,
  options: Partial<GuestServerOptions> = {},
): Promise<GuestFixture> {
  const socket = privateSocket();
  const log: { event: string; fields: object }[] = [];
  const events: ServerEvent[] = [];
  const start = (more: Partial<GuestServerOptions> = {}): Promise<TmuxServer> =>
    startGuestServer({
      socketPath: socket.socketPath,
      env: process.env,
      clock: systemClock,
      log: (event, fields) => {
        if (event !== "heartbeat.late") log.push({ event, fields });
      },
      ...options,
      ...more,
    });
  try {
    await prepare(socket);
    const server = await start();
    server.subscribe((event) => events.push(event));
    return {
      server,
      socket,
      events,
      log,
      another: start,
      [Symbol.asyncDispose]: async () => {
        await server.close();
        await socket[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await socket[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * A session as the user makes it, without anybody's configuration; window names stay as they are, so that states can be
 * compared. tmux 3.2 gives it the terminal's size, whatever `-x -y` say (docs/tmuxFacts.md, Versions), so it is resized.
 * Returns its active pane.
 */
export function userSession(socket: PrivateSocket, name: string, command: readonly string[] = ["cat"]): PaneId {
  const args = ["new-session", "-d", "-P", "-F", "#{pane_id}", "-x", "100", "-y", "30", "-s", name, "--", ...command];
  const ofSize = ["resize-window", "-t", `=${name}:`, "-x", "100", "-y", "30", ";"];
  const asOthers = ["set-option", "-wu", "-t", `=${name}:`, "window-size", ";"];
  const after = [...ofSize, ...asOthers, "set-option", "-g", "automatic-rename", "off"];
  return socket.tmux("-f", "/dev/null", ...args, ";", ...after).trim() as PaneId;
}

/** A person at a terminal, attached to a session. */
export interface UserClient extends AsyncDisposable {
  type(text: string): void;
  resize(cols: number, rows: number): void;
  /** Leaves as a closed terminal does. */
  leave(): Promise<void>;
}

export async function userClient(
  socket: PrivateSocket,
  session: string,
  size: { readonly cols: number; readonly rows: number } = { cols: 100, rows: 31 },
): Promise<UserClient> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: "/", TERM: "xterm-256color" };
  const pty = spawnPty("tmux", ["-u", "-S", socket.socketPath, "attach-session", "-t", `=${session}`], {
    cols: size.cols,
    rows: size.rows,
    env,
    cwd: "/",
  });
  const gone = new Promise<void>((resolve) => {
    pty.onExit(() => resolve());
  });
  const leave = async (): Promise<void> => {
    pty.kill("SIGHUP");
    await gone;
  };
  await eventually(() => attached(socket).some((client) => client.pid === pty.pid));
  return {
    type: (text) => pty.write(text),
    resize: (cols, rows) => pty.resize(cols, rows),
    leave,
    [Symbol.asyncDispose]: leave,
  };
}

/** Several people, who leave in the opposite order. */
export async function userClients(
  socket: PrivateSocket,
  where: readonly (readonly [session: string, size: { readonly cols: number; readonly rows: number }])[],
): Promise<{ readonly count: number } & AsyncDisposable> {
  const clients: UserClient[] = [];
  for (const [session, size] of where) clients.push(await userClient(socket, session, size));
  return {
    count: clients.length,
    [Symbol.asyncDispose]: async () => {
      for (const client of clients.reverse()) await client.leave();
    },
  };
}

interface AttachedClient {
  readonly pid: number;
  readonly session: string;
  readonly isOurs: boolean;
  readonly flags: string;
}

/** Every client that tmux lists; none when there is no server. */
export function attached(socket: PrivateSocket): readonly AttachedClient[] {
  let rows: string;
  try {
    rows = socket.tmux("list-clients", "-F", "#{client_pid} #{session_name} #{client_control_mode} #{client_flags}");
  } catch {
    return [];
  }
  return rows
    .split("\n")
    .filter((row) => row !== "")
    .map((row) => {
      const [pid, session = "", isControl, flags = ""] = row.split(" ");
      return { pid: Number(pid), session, isOurs: isControl === "1", flags };
    });
}

/** The sessions that control clients are attached to, sorted; once for each. */
export const ours = (socket: PrivateSocket): readonly string[] =>
  attached(socket)
    .filter((client) => client.isOurs)
    .map((client) => client.session)
    .sort();

const WINDOW_STATE =
  "#{session_id} #{window_id} #{window_index} #{window_name} #{window_width}x#{window_height} #{window_layout}" +
  " #{window_active} #{window_zoomed_flag}";
const PANE_STATE =
  "#{pane_id} #{pane_pid} #{pane_tty} #{pane_width}x#{pane_height} #{pane_active} #{pane_dead} #{pane_in_mode} #{pane_pipe}";

/** Everything a user could see of their server, but when things were last used. */
export function userState(socket: PrivateSocket): string {
  const sessions = socket.tmux("list-sessions", "-F", "#{session_id}").trim().split("\n");
  const panes = new Set(socket.tmux("list-panes", "-a", "-F", "#{pane_id}").trim().split("\n"));
  const asked = [
    ["list-sessions", "-F", "#{session_id} #{session_name} #{session_windows} #{session_attached} #{session_group}"],
    ["list-windows", "-a", "-F", WINDOW_STATE],
    ["list-panes", "-a", "-F", PANE_STATE],
    ["list-clients", "-F", "#{client_pid} #{session_id} #{client_width}x#{client_height} #{client_flags}"],
    ["list-buffers", "-F", "#{buffer_name}"],
    ["list-keys"],
    ["show-environment", "-g"],
    ...["-g", "-s", "-gw"].map((scope) => ["show-options", scope]),
    ...["-g", "-gw"].map((scope) => ["show-hooks", scope]),
    ...sessions.flatMap((id) => [
      ["show-options", "-t", id],
      ["show-options", "-w", "-t", id],
      ["show-hooks", "-t", id],
      ["show-environment", "-t", id],
    ]),
    ...[...panes].flatMap((id) => [
      ["show-options", "-p", "-t", id],
      ["show-options", "-w", "-t", id],
    ]),
  ];
  return asked.map((command) => `${command.join(" ")}\n${socket.tmux(...command)}`).join("\n");
}

/** Has every pane watched by somebody; resolves when all their output flows. */
export async function watchAll(server: TmuxServer): Promise<void> {
  const ignore = (): void => undefined;
  for (const { id } of server.panes()) {
    server.output(id).subscribe({ advanced: ignore, gap: ignore, exited: ignore, closed: ignore });
  }
  await Promise.all(server.panes().map(({ id }) => server.capture(id)));
}

/** The pane that input to this session reaches. */
export function paneOf(server: TmuxServer, session: string): PaneId {
  const pane = server.findSession(session)?.activePane;
  if (pane === undefined) throw new Error(`no session ${session}: ${JSON.stringify(server.status())}`);
  return pane;
}
