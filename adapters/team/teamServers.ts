/**
 * One owned tmux server per team, connected on the first request and disconnected after a while in which there was none and
 * no agent ran; the sessions live in tmux and stay. Listing a team that has no server does not start one.
 */
import { isAbsolute, join } from "node:path";
import type { Host } from "../../daemon/host/host.ts";
import { localHost } from "../../daemon/host/localHost.ts";
import { meansGone, trySocket } from "../../daemon/servers/guest/guestSocket.ts";
import { type OwnedServerOptions, startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { Clock, Timer } from "../../daemon/time/clock.ts";
import { untilSo } from "../../daemon/time/within.ts";
import { AppError, shuttingDown } from "../../protocol/errors.ts";
import type { PaneInfo, SessionInfo } from "../../daemon/tmux/inventory.ts";
import { shellStatusOf } from "../../daemon/tmux/outputSource.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { TeamSessionRequest } from "../../protocol/api/team.ts";
import { findNamed } from "./names.ts";
import { readRecords, type StartRecord } from "./start/startRecord.ts";
import { onTmux, sessionNotFound, teamError } from "./teamErrors.ts";
import { MAX_OPEN_TEAMS, RECONNECT_WITHIN_MS, TEAM_IDLE_MS } from "./teamLimits.ts";
import { findProgram } from "../../daemon/host/findProgram.ts";

/** pi needs these to read keys such as Shift-Enter, else it shows a warning (the second exists from tmux 3.5 on). */
const SERVER_OPTIONS = { "extended-keys": "on", "extended-keys-format": "csi-u" } as const;

interface TeamServersOptions {
  /** Absolute; a team's socket is `ROOT/TEAM/tmux.sock`. */
  readonly rootDir: string;
  /** The whole environment of the servers; further variables are passed with each worker. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly ringBytes?: number | undefined;
  /** Default: this machine. */
  readonly host?: Host | undefined;
  readonly log?: ((team: string) => (event: string, fields: object) => void) | undefined;
  readonly start?: ((options: OwnedServerOptions) => Promise<TmuxServer>) | undefined;
  /** Called with each server that is connected; what it returns is called before that is disconnected. */
  readonly onConnected?: ((teamId: string, server: TmuxServer) => () => void) | undefined;
  /** Whether an agent runs there: the server stays connected for as long. */
  readonly hasAgents?: ((server: TmuxServer) => boolean) | undefined;
}

/** A worker's session, with the pane that it was started in, however its window was split since; else its active pane. */
export interface TeamPlace {
  readonly server: TmuxServer;
  readonly socketPath: string;
  readonly session: SessionInfo;
  readonly sessionName: string;
  readonly pane: PaneId;
  /** Of the start that made it. */
  readonly record: StartRecord | undefined;
}

interface Entry {
  readonly server: Promise<TmuxServer>;
  /** Once it is connected. */
  connected?: { readonly server: TmuxServer; readonly leave: () => void };
  users: number;
  lastUsedMs: number;
}

export class TeamServers {
  readonly #options: TeamServersOptions;
  readonly #host: Host;
  readonly #open = new Map<string, Entry>();
  #timer: Timer | undefined;
  #closed = false;

  constructor(options: TeamServersOptions) {
    if (!isAbsolute(options.rootDir))
      throw new AppError("CONFIGURATION_INVALID", "the teams' directory must be absolute");
    this.#options = options;
    this.#host = options.host ?? localHost();
  }

  get openCount(): number {
    return this.#open.size;
  }

  socketPath(teamId: string): string {
    return join(this.#options.rootDir, teamId, "tmux.sock");
  }

  /** Runs with the team's server, which is started if there is none. @throws AppError tmux_not_installed, tmux_error, RESOURCE_LIMIT */
  async use<T>(teamId: string, run: (server: TmuxServer) => Promise<T>): Promise<T> {
    const entry = this.#open.get(teamId) ?? this.#openTeam(teamId);
    entry.users += 1;
    try {
      const server = await entry.server;
      await this.#untilResponds(teamId, server);
      return await run(server);
    } finally {
      entry.users -= 1;
      entry.lastUsedMs = this.#options.clock.nowMs();
      this.#arm();
    }
  }

  /** Runs with the team's server if it has one; does not start one. */
  async useIfThere<T>(teamId: string, run: (server: TmuxServer | undefined) => Promise<T>): Promise<T> {
    const open = await this.#open.get(teamId)?.server.catch(() => undefined);
    // A connection whose server has just ended reconnects by itself; until then the team has no server.
    if (open === undefined || !(await responds(open))) {
      const { sockets } = this.#host;
      const refusal = await trySocket(sockets, this.socketPath(teamId));
      // A server whose socket file was deleted is alive, and gets the file back on connecting.
      const isGone =
        refusal !== undefined && meansGone(refusal) && sockets.listenerOf(this.socketPath(teamId)) === undefined;
      if (isGone) return run(undefined);
    }
    return this.use(teamId, run);
  }

  /** Runs with the session of exactly this name: `worker-1` never finds `worker-10`. @throws AppError session_not_found */
  withSession<T>(
    { teamId, sessionName }: Pick<TeamSessionRequest, "teamId" | "sessionName">,
    run: (found: TeamPlace) => Promise<T>,
  ): Promise<T> {
    return this.useIfThere(teamId, async (server) => {
      const records = server && (await readRecords(server));
      const place = server && this.place(teamId, server, findNamed(server, sessionName), records);
      if (place === undefined) throw sessionNotFound(sessionName);
      return run(place);
    });
  }

  /** @param records absent: it has just been made, and has one pane */
  place(
    teamId: string,
    server: TmuxServer,
    session: SessionInfo | undefined,
    records: ReadonlyMap<PaneId, StartRecord> = new Map(),
  ): TeamPlace | undefined {
    if (session === undefined) return undefined;
    const pane = panesOf(server, session).find(({ id }) => records.has(id))?.id ?? session.activePane;
    if (pane === undefined) return undefined;
    const socketPath = this.socketPath(teamId);
    return { server, session, sessionName: session.name, pane, socketPath, record: records.get(pane) };
  }

  /** Checked before anything is made for a team. @throws AppError tmux_not_installed */
  async requireTmux(): Promise<void> {
    if ((await findProgram("tmux", this.#options.env["PATH"] ?? "", "/")) !== undefined) return;
    throw teamError(
      "tmux_not_installed",
      "tmux is not installed; install tmux 3.2 or newer (Debian: `apt-get install tmux`, macOS: `brew install tmux`)",
    );
  }

  /** Disconnects from every server; sessions keep running. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    const entries = [...this.#open.values()];
    this.#open.clear();
    await Promise.allSettled(entries.map(disconnect));
  }

  /** Waits until the server responds, so that no stale inventory of an ended server is reported. @throws AppError tmux_error */
  async #untilResponds(teamId: string, server: TmuxServer): Promise<void> {
    const { clock } = this.#options;
    const untilMs = clock.nowMs() + RECONNECT_WITHIN_MS;
    while (!(await responds(server))) {
      const { state } = server.status();
      if (state === "closed" || state === "degraded" || clock.nowMs() >= untilMs) throw this.#notReady(teamId);
      const hasChanged = (): boolean => server.status().state !== "connecting";
      await untilSo(clock, untilMs - clock.nowMs(), hasChanged, (check) => server.subscribe(check));
    }
  }

  #openTeam(teamId: string): Entry {
    if (this.#closed) throw shuttingDown();
    this.#makeRoom();
    const { env, clock, log, ringBytes, start = startOwnedServer } = this.#options;
    const socketPath = this.socketPath(teamId);
    const command = `tmux -f /dev/null -S ${socketPath} start-server`;
    const own = { socketPath, env, clock, ringBytes, host: this.#host, log: log?.(teamId) };
    const request = { ...own, serverOptions: SERVER_OPTIONS };
    const connecting = onTmux(command, () => start(request)).then((server) => {
      entry.connected = { server, leave: this.#options.onConnected?.(teamId, server) ?? (() => undefined) };
      return server;
    });
    const entry: Entry = { server: connecting, users: 0, lastUsedMs: clock.nowMs() };
    this.#open.set(teamId, entry);
    connecting.catch(() => {
      // So that the next request tries again.
      if (this.#open.get(teamId) === entry) this.#open.delete(teamId);
    });
    return entry;
  }

  /** Disconnects the least recently used team to make room for a new one. @throws AppError RESOURCE_LIMIT */
  #makeRoom(): void {
    if (this.#open.size < MAX_OPEN_TEAMS) return;
    const [oldest] = this.#idle();
    if (oldest === undefined) throw new AppError("RESOURCE_LIMIT", "too many teams are busy; wait for a start to end");
    this.#leave(oldest[0]);
  }

  #leave(teamId: string): void {
    const entry = this.#open.get(teamId);
    this.#open.delete(teamId);
    if (entry !== undefined) void disconnect(entry).catch(() => undefined);
  }

  /** Least recently used first. */
  #idle(): readonly (readonly [string, Entry])[] {
    const idle = [...this.#open].filter(([, entry]) => entry.users === 0);
    return idle.sort(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs);
  }

  #arm(): void {
    this.#timer?.cancel();
    const { clock } = this.#options;
    const [first] = this.#idle();
    if (this.#closed || first === undefined) return;
    this.#timer = clock.callAt(first[1].lastUsedMs + TEAM_IDLE_MS, () => {
      for (const [teamId, entry] of this.#idle()) {
        if (clock.nowMs() - entry.lastUsedMs < TEAM_IDLE_MS) continue;
        const isWorking = entry.connected !== undefined && this.#options.hasAgents?.(entry.connected.server) === true;
        if (isWorking) entry.lastUsedMs = clock.nowMs();
        else this.#leave(teamId);
      }
      this.#arm();
    });
  }

  #notReady(teamId: string): AppError {
    const command = `tmux -f /dev/null -S ${this.socketPath(teamId)} attach`;
    const message = "the team's tmux server is not connected; try again shortly";
    return teamError("tmux_error", message, { command, stderr: "" });
  }
}

export const panesOf = (server: TmuxServer, session: SessionInfo): readonly PaneInfo[] =>
  server
    .windows()
    .filter(({ id }) => session.windows.includes(id))
    .flatMap(({ panes }) => panes.flatMap((pane) => server.findPane(pane) ?? []));

export type SessionEnd = ReturnType<typeof sessionEnd>;

export function sessionEnd({ server, session, pane }: Pick<TeamPlace, "server" | "session" | "pane">) {
  const panes = panesOf(server, session);
  return {
    /** True if every program in it has ended. */
    dead: panes.length > 0 && panes.every(({ exit }) => exit !== undefined),
    /** The exit status of the worker's pane, as a shell reports it; null while it runs, or if it is unknown. */
    exitStatus: shellStatusOf(server.findPane(pane)?.exit) ?? null,
  };
}

async function disconnect(entry: Entry): Promise<void> {
  const server = await entry.server;
  entry.connected?.leave();
  await server.close();
}

/** Whether the server itself replies now. */
const responds = async (server: TmuxServer): Promise<boolean> => (await server.check()).state === "ready";
