/**
 * One tmux server of ours per team, reached when it is first asked for and left when nobody has asked for a while: the
 * sessions live in tmux, so leaving costs nothing but the connection. Asking about a team that has no server starts none.
 */
import { isAbsolute, join } from "node:path";
import { listenerOf } from "../../daemon/ops/processTable.ts";
import { saysGone, trySocket } from "../../daemon/server/guestSocket.ts";
import { type OwnedServerOptions, startOwnedServer } from "../../daemon/server/ownedServer.ts";
import type { TmuxServer } from "../../daemon/server/tmuxServer.ts";
import type { Clock, Timer } from "../../daemon/time/clock.ts";
import { AppError } from "../../protocol/errors.ts";
import { onTmux, teamError } from "./errors.ts";
import { MAX_OPEN_TEAMS, TEAM_IDLE_MS } from "./limits.ts";

export interface TeamServersOptions {
  /** Absolute; a team's socket is `ROOT/TEAM/tmux.sock`. */
  readonly rootDir: string;
  /** The whole environment of the servers and so of their panes. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly log?: ((team: string) => (event: string, fields: object) => void) | undefined;
  readonly start?: ((options: OwnedServerOptions) => Promise<TmuxServer>) | undefined;
  readonly idleMs?: number | undefined;
  readonly maxOpen?: number | undefined;
}

interface Entry {
  readonly server: Promise<TmuxServer>;
  users: number;
  lastUsedMs: number;
}

export class TeamServers {
  readonly #options: TeamServersOptions;
  readonly #open = new Map<string, Entry>();
  #timer: Timer | undefined;
  #closed = false;

  constructor(options: TeamServersOptions) {
    if (!isAbsolute(options.rootDir))
      throw new AppError("CONFIGURATION_INVALID", "the teams' directory must be absolute");
    this.#options = options;
  }

  get openCount(): number {
    return this.#open.size;
  }

  socketPath(teamId: string): string {
    return join(this.#options.rootDir, teamId, "tmux.sock");
  }

  /** With the team's server, made when there is none. @throws AppError tmux_not_installed, tmux_error, RESOURCE_LIMIT */
  use<T>(teamId: string, run: (server: TmuxServer) => Promise<T>): Promise<T> {
    return this.#withEntry(teamId, run);
  }

  /** With the team's server when it has one; nothing is started for a team that has none. */
  async useIfThere<T>(teamId: string, run: (server: TmuxServer | undefined) => Promise<T>): Promise<T> {
    if (!this.#open.has(teamId)) {
      const refusal = await trySocket(this.socketPath(teamId));
      // A server whose socket's file was deleted lives, and gets it back when it is reached.
      const isGone = refusal !== undefined && saysGone(refusal) && listenerOf(this.socketPath(teamId)) === undefined;
      if (isGone) return run(undefined);
    }
    return this.#withEntry(teamId, run);
  }

  /** Leaves every server; sessions go on. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    const entries = [...this.#open.values()];
    this.#open.clear();
    await Promise.allSettled(entries.map(async ({ server }) => (await server).close()));
  }

  async #withEntry<T>(teamId: string, run: (server: TmuxServer) => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const entry = this.#open.get(teamId) ?? this.#openTeam(teamId);
    entry.users += 1;
    try {
      const server = await entry.server;
      if (server.status().state !== "ready") throw this.#notReady(teamId);
      return await run(server);
    } finally {
      entry.users -= 1;
      entry.lastUsedMs = clock.nowMs();
      this.#arm();
    }
  }

  #openTeam(teamId: string): Entry {
    if (this.#closed) throw new AppError("CONNECTION_LOST", "the daemon is stopping");
    this.#makeRoom();
    const { env, clock, log, start = startOwnedServer } = this.#options;
    const socketPath = this.socketPath(teamId);
    const command = `tmux -f /dev/null -S ${socketPath} start-server`;
    const server = onTmux(command, () => start({ socketPath, env, clock, log: log?.(teamId) }));
    const entry: Entry = { server, users: 0, lastUsedMs: clock.nowMs() };
    this.#open.set(teamId, entry);
    server.catch(() => {
      // The next request tries again.
      if (this.#open.get(teamId) === entry) this.#open.delete(teamId);
    });
    return entry;
  }

  /** The team that was used longest ago is left for a new one. @throws AppError RESOURCE_LIMIT */
  #makeRoom(): void {
    if (this.#open.size < (this.#options.maxOpen ?? MAX_OPEN_TEAMS)) return;
    const [oldest] = [...this.#open].filter(([, entry]) => entry.users === 0).sort(byUse);
    if (oldest === undefined)
      throw new AppError("RESOURCE_LIMIT", "too many teams are at work; wait for a start to end");
    this.#leave(oldest[0]);
  }

  #leave(teamId: string): void {
    const entry = this.#open.get(teamId);
    this.#open.delete(teamId);
    void entry?.server.then((server) => server.close()).catch(() => undefined);
  }

  #arm(): void {
    this.#timer?.cancel();
    const { clock, idleMs = TEAM_IDLE_MS } = this.#options;
    const idle = [...this.#open].filter(([, entry]) => entry.users === 0).sort(byUse);
    const first = idle[0]?.[1];
    if (this.#closed || first === undefined) return;
    this.#timer = clock.callAt(first.lastUsedMs + idleMs, () => {
      for (const [teamId, entry] of idle) {
        if (entry.users === 0 && clock.nowMs() - entry.lastUsedMs >= idleMs) this.#leave(teamId);
      }
      this.#arm();
    });
  }

  #notReady(teamId: string): AppError {
    const command = `tmux -f /dev/null -S ${this.socketPath(teamId)} attach`;
    const stderr = "the connection to the team's tmux server is being made anew; try again shortly";
    return teamError("tmux_error", stderr, { command, stderr });
  }
}

const byUse = ([, a]: readonly [string, Entry], [, b]: readonly [string, Entry]): number => a.lastUsedMs - b.lastUsedMs;
