/**
 * tmux servers for benches: each in a directory of its own under the system's temporary one, ended and removed at scope
 * end, and also when the bench is interrupted. Contenders never share a server: each is the only client of its own.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openPtyTransport } from "../daemon/host/clients/ptyTransport.ts";
import type { OpenTransport } from "../daemon/host/clients/transport.ts";
import { paneEnvironment } from "../daemon/ops/environment.ts";
import type { OutputSource } from "../daemon/tmux/outputSource.ts";
import { startOwnedServer } from "../daemon/servers/owned/ownedServer.ts";
import type { SessionInfo } from "../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../daemon/time/clock.ts";
import type { PaneId } from "../protocol/ids.ts";
import { check } from "./figures.ts";
import { NaiveClient, QUIET_SERVER } from "./naiveClient.ts";

/** Size of every pane; a six-byte token never wraps in 90 columns. */
export const COLS = 90;
export const ROWS = 24;

/** The name of every session. */
export const SESSION = "bench";

export const benchEnvironment = paneEnvironment(process.env);

export interface PrivateSocket extends AsyncDisposable {
  readonly directory: string;
  readonly socketPath: string;
  /** A tmux command in a process of its own; its stdout. */
  tmux(...args: string[]): string;
}

const live = new Set<string>();

export function privateSocket(): PrivateSocket {
  const directory = mkdtempSync(join(tmpdir(), "tmuxwire-bench-"));
  const socketPath = join(directory, "tmux.sock");
  live.add(directory);
  return {
    directory,
    socketPath,
    tmux: (...args) => {
      const { status, stdout, stderr } = runTmux(socketPath, args);
      check(status === 0, `tmux ${args[0]}: ${stderr}`);
      return stdout;
    },
    [Symbol.asyncDispose]: async () => {
      runTmux(socketPath, ["kill-server"]);
      // kill-server returns before the server is gone (docs/tmuxFacts.md 6).
      while (!/no server running|error connecting/.test(runTmux(socketPath, ["has-session"]).stderr)) await delay(5);
      rmSync(directory, { recursive: true, force: true });
      live.delete(directory);
    },
  };
}

/** For a bench that is interrupted: nothing of it stays behind. */
export function removePrivateServers(): void {
  for (const directory of live) {
    runTmux(join(directory, "tmux.sock"), ["kill-server"]);
    rmSync(directory, { recursive: true, force: true });
  }
}

const runTmux = (socketPath: string, args: readonly string[]) =>
  spawnSync("tmux", ["-u", "-f", "/dev/null", "-S", socketPath, ...args], { encoding: "utf8", env: benchEnvironment });

/** A pane of an owned server running `command`. */
export interface OwnedPane extends AsyncDisposable {
  readonly socket: PrivateSocket;
  readonly server: TmuxServer;
  readonly session: SessionInfo;
  readonly pane: PaneId;
  readonly source: OutputSource;
}

export async function ownedPane(
  command: readonly string[],
  open: OpenTransport = openPtyTransport,
): Promise<OwnedPane> {
  const socket = privateSocket();
  try {
    const server = await startOwnedServer({
      socketPath: socket.socketPath,
      env: benchEnvironment,
      clock: systemClock,
      transport: open,
    });
    const session = await server.createSession({ name: SESSION, command, cols: COLS, rows: ROWS });
    check(session.activePane !== undefined, "the session has no pane");
    const pane = session.activePane;
    return {
      socket,
      server,
      session,
      pane,
      source: server.output(pane),
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

/** A naive client attached to the only pane of a server of its own, running `command`. */
export interface NaivePane extends AsyncDisposable {
  readonly socket: PrivateSocket;
  readonly client: NaiveClient;
  readonly pane: string;
}

export async function naivePane(
  command: readonly string[],
  open: OpenTransport = openPtyTransport,
): Promise<NaivePane> {
  const socket = privateSocket();
  try {
    const client = await NaiveClient.attach({
      open,
      socketPath: socket.socketPath,
      env: benchEnvironment,
      cols: COLS,
      rows: ROWS,
      command,
    });
    const pane = (await client.command("display-message -p '#{pane_id}'")).trim();
    return {
      socket,
      client,
      pane,
      [Symbol.asyncDispose]: async () => {
        client.close();
        await socket[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await socket[Symbol.asyncDispose]();
    throw error;
  }
}

/** A pane nobody is attached to, running `command`: for subprocess ways. */
export function detachedPane(command: readonly string[]): PrivateSocket {
  const socket = privateSocket();
  const size = ["-x", String(COLS), "-y", String(ROWS)];
  socket.tmux(...QUIET_SERVER, "new-session", "-d", "-s", SESSION, ...size, ...command);
  return socket;
}
