/** A private owned server for one test: its own directory and socket, tmux ended and everything removed at scope end. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { paneEnvironment } from "../../../daemon/ops/environment.ts";
import { type OwnedServerOptions, startOwnedServer } from "../../../daemon/servers/owned/ownedServer.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../../daemon/time/clock.ts";

export interface PrivateSocket extends AsyncDisposable {
  readonly directory: string;
  readonly socketPath: string;
  /** A tmux command in a process of its own, against this server. */
  tmux(...args: string[]): string;
}

/** Asked without a process, which would be a tmux for each test. */
const takesConnections = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path, () => resolve(true));
    socket.on("error", () => resolve(false)).on("connect", () => socket.destroy());
  });

/** A socket path nobody else uses. */
export function privateSocket(parent = tmpdir()): PrivateSocket {
  const directory = mkdtempSync(join(parent, "tmuxwire-"));
  const socketPath = join(directory, "tmux.sock");
  const run = (args: readonly string[]) => spawnSync("tmux", ["-u", "-S", socketPath, ...args], { encoding: "utf8" });
  return {
    directory,
    socketPath,
    tmux: (...args) => {
      const { status, stdout, stderr } = run(args);
      if (status !== 0) throw new Error(`tmux ${args[0]}: ${stderr}`);
      return stdout;
    },
    [Symbol.asyncDispose]: async () => {
      for (let tries = 1; ; tries += 1) {
        run(["kill-server"]);
        // kill-server returns before the server is gone, and nothing announces that it is (docs/tmuxFacts.md 6).
        while (await takesConnections(socketPath)) await delay(5);
        try {
          // What was closed before it may still write there for a moment.
          return rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
        } catch (error) {
          // A tmux that was being started when its daemon was closed has come only now.
          if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY" || tries === 10) throw error;
        }
      }
    },
  };
}

export interface OwnedFixture extends AsyncDisposable {
  readonly server: TmuxServer;
  readonly socket: PrivateSocket;
  /** What the server logged, but for `heartbeat.late`: that the machine was elsewhere for seconds is no fault. */
  readonly log: readonly { readonly event: string; readonly fields: object }[];
}

export async function ownedFixture(options: Partial<OwnedServerOptions> = {}): Promise<OwnedFixture> {
  const socket = privateSocket();
  const log: { event: string; fields: object }[] = [];
  try {
    const server = await startOwnedServer({
      socketPath: socket.socketPath,
      env: paneEnvironment(process.env),
      clock: systemClock,
      log: (event, fields) => {
        if (event !== "heartbeat.late") log.push({ event, fields });
      },
      ...options,
    });
    return {
      server,
      socket,
      log,
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

/** The daemon's own connection is ended; resolves when it is back. */
export async function breakConnection({ server, socket }: OwnedFixture): Promise<void> {
  const back = new Promise<void>((resolve) => {
    let lost = false;
    const off = server.subscribe((event) => {
      if (event.kind !== "state") return;
      if (event.state === "connecting") lost = true;
      if (event.state !== "ready" || !lost) return;
      off();
      resolve();
    });
  });
  for (const client of socket.tmux("list-clients", "-F", "#{client_name}").split("\n").filter(Boolean)) {
    try {
      socket.tmux("detach-client", "-t", client);
    } catch (error) {
      // One that has left by itself meanwhile: a second daemon that was refused.
      if (!/can't find client/.test(String(error))) throw error;
    }
  }
  await back;
}
