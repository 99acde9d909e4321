/**
 * Where agents run, on disk, so that it can be brought back when their tmux server is gone: each session that has an agent,
 * with its windows, their layouts, and the agent or the shell of each pane. Noted when an agent appears or is learnt about,
 * and when the layout changes. What has gone is noted only once the server has outlived it: a server that ends takes
 * everything with it, piece by piece.
 */
import { jsonOf, Table } from "../../../daemon/ops/sql/table.ts";
import type { Timed, Timer } from "../../../daemon/time/clock.ts";
import type { ServerStatus } from "../../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { TreeSession, TreeWindow } from "../../../daemon/tmux/layout.ts";
import type { AgentDirectory } from "../running/agentDirectory.ts";
import type { AgentFacts, RunningAgent } from "../running/runningAgent.ts";
import type { Transcripts } from "./transcripts.ts";

/** An agent as it ran. */
export interface PlacedAgent extends Pick<AgentFacts, "sessionId" | "transcriptPath" | "launch" | "worktree"> {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
}

export interface PlacedPane {
  readonly cwd: string | undefined;
  readonly agent: PlacedAgent | undefined;
}

export interface PlacedWindow {
  readonly name: string;
  readonly cols: number;
  readonly rows: number;
  readonly layout: string;
  readonly panes: readonly PlacedPane[];
  /** Indexes into `panes`; of one that has just closed: the first. */
  readonly activePane: number;
}

/** A session that had agents. */
export interface Place {
  /** Of the tmux server, while it ran. */
  readonly identity: string;
  /** As in paths. */
  readonly server: string;
  readonly session: string;
  readonly windows: readonly PlacedWindow[];
  readonly activeWindow: number;
}

interface KeptPlace extends Pick<Place, "identity" | "session" | "server"> {
  readonly place: Place;
  /** Their names. */
  readonly agents: readonly string[];
  readonly notedUnixMs: number;
}

interface PlacedSessionsOptions extends Timed {
  readonly agents: AgentDirectory;
  readonly transcripts: Transcripts;
  readonly onError: (error: unknown) => void;
}

/** A conversation that is not known when a turn ends is looked for again after this: some write their file later. */
const LOOK_AGAIN_MS = [500, 2_000, 10_000];
/** A server that ends has gone this long after its first pane. */
const SERVER_ENDS_WITHIN_MS = 5_000;
const MAX_PLACES = 500;

interface Asked {
  readonly state: string;
  timer: Timer | undefined;
}

interface Followed {
  readonly stop: () => void;
  timer: Timer | undefined;
}

export class PlacedSessions {
  readonly #options: PlacedSessionsOptions;
  readonly #table: Table<KeptPlace>;
  readonly #followed = new Map<TmuxServer, Followed>();
  readonly #unsubscribes: readonly (() => void)[];
  /** The state in which each agent was last asked for its conversation, and when it will be once more. */
  readonly #asked = new Map<string, Asked>();
  #isClosed = false;

  constructor(options: PlacedSessionsOptions) {
    this.#options = options;
    this.#table = new Table<KeptPlace>({
      prepare: (sql) => options.agents.database.prepare(sql),
      name: "places",
      key: ["identity", "session"],
      decode: { place: jsonOf, agents: jsonOf },
    });
    const { agents } = options;
    this.#unsubscribes = [
      agents.subscribe(({ kind, agent }) => {
        if (kind === "ended") this.#forgetAsked(agent.id);
        else this.#askForConversation(agent);
        this.#follow(agent.server);
        this.#note(agent.server);
      }),
      // Its server has outlived it.
      agents.onEvent((event) => {
        if (event.kind === "gone") this.#forgetGone(event.id);
      }),
    ];
  }

  /** Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    for (const { stop, timer } of this.#followed.values()) {
      stop();
      timer?.cancel();
    }
    this.#followed.clear();
    for (const id of this.#asked.keys()) this.#forgetAsked(id);
  }

  /** Of servers that have ended, oldest first. @param isAlive tells by the server's identity */
  gone(isAlive: (identity: string) => boolean): readonly Place[] {
    return this.#read().filter(({ identity }) => !isAlive(identity));
  }

  /** These agents are not to be brought back any more. */
  forget(place: Place, agents: ReadonlySet<string>): void {
    const windows = place.windows.map((window) => ({
      ...window,
      panes: window.panes.map((pane) => (agents.has(pane.agent?.id ?? "") ? { ...pane, agent: undefined } : pane)),
    }));
    if (windows.some(({ panes }) => panes.some(({ agent }) => agent !== undefined))) this.#write({ ...place, windows });
    else this.#remove(place.identity, [place.session]);
  }

  #forgetGone(agent: string): void {
    for (const place of this.#read()) {
      if (agentsOf(place).some(({ id }) => id === agent)) this.forget(place, new Set([agent]));
    }
  }

  /** A conversation may be another after each turn. */
  #askForConversation(agent: RunningAgent): void {
    const state = `${agent.readiness?.state} ${agent.readiness?.sinceUnixMs}`;
    if (this.#isClosed || this.#asked.get(agent.id)?.state === state) return;
    this.#forgetAsked(agent.id);
    const asked: Asked = { state, timer: undefined };
    this.#asked.set(agent.id, asked);
    if (agent.readiness?.state !== "idle" && agent.readiness?.state !== "busy") return;
    this.#look(agent, asked, LOOK_AGAIN_MS).catch(this.#options.onError);
  }

  async #look(agent: RunningAgent, asked: Asked, [againMs, ...later]: readonly number[]): Promise<void> {
    const { transcripts, clock, onError } = this.#options;
    const found = await transcripts.sessionOf(agent);
    if (found !== undefined || againMs === undefined || this.#asked.get(agent.id) !== asked) return;
    asked.timer = clock.callAt(clock.nowMs() + againMs, () => void this.#look(agent, asked, later).catch(onError));
  }

  #forgetAsked(id: string): void {
    this.#asked.get(id)?.timer?.cancel();
    this.#asked.delete(id);
  }

  #follow(server: TmuxServer): void {
    if (this.#isClosed || this.#followed.has(server)) return;
    const stop = server.layout.watch(() => this.#note(server));
    this.#followed.set(server, { stop, timer: undefined });
  }

  /** @param hasOutlived the server has, whatever has gone */
  #note(server: TmuxServer, hasOutlived = false): void {
    try {
      this.#noteNow(server, hasOutlived);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #noteNow(server: TmuxServer, hasOutlived: boolean): void {
    const followed = this.#followed.get(server);
    const { identity, state } = server.status();
    if (this.#isClosed || followed === undefined || identity === undefined || state !== "ready") return;
    const places = this.#placesOf(server, identity);
    const earlier = this.#read().filter((place) => place.identity === identity);
    const now = new Set(places.flatMap(agentsOf).map(({ id }) => id));
    const isLess = earlier.flatMap(agentsOf).some(({ id }) => !now.has(id));
    if (isLess && !hasOutlived) {
      const { clock } = this.#options;
      followed.timer ??= clock.callAt(clock.nowMs() + SERVER_ENDS_WITHIN_MS, () => {
        followed.timer = undefined;
        this.#outlived(server);
      });
      return;
    }
    const known = new Map(earlier.map((place) => [place.session, JSON.stringify(place)]));
    for (const place of places) if (known.get(place.session) !== JSON.stringify(place)) this.#write(place);
    const sessions = new Set(places.map(({ session }) => session));
    this.#remove(
      identity,
      [...known.keys()].filter((session) => !sessions.has(session)),
    );
  }

  /** Asked of tmux: the connection may not know yet that the server is gone. */
  #outlived(server: TmuxServer): void {
    const note = ({ state }: ServerStatus): void => {
      if (state === "ready") this.#note(server, true);
    };
    server.check().then(note, this.#options.onError);
  }

  #placesOf(server: TmuxServer, identity: string): readonly Place[] {
    const agents = this.#options.agents.agents().filter((agent) => agent.server === server);
    const { sessions, windows } = server.layout.tree();
    const byPane = new Map<string, RunningAgent>(agents.map((agent) => [agent.pane, agent]));
    const byId = new Map(windows.map((window) => [window.id, window]));
    const places: Place[] = [];
    for (const session of sessions) {
      const own = session.windows.flatMap(({ window }) => byId.get(window) ?? []);
      if (!own.some(({ panes }) => panes.some((pane) => byPane.has(pane)))) continue;
      places.push(placeOf(server, session, own, byPane, identity, agents[0]!.serverName));
    }
    return places;
  }

  #read(): readonly Place[] {
    return this.#table.all("ORDER BY noted_unix_ms").map(({ place }) => place);
  }

  #write(place: Place): void {
    const { identity, session, server } = place;
    const agents = agentsOf(place).map(({ name }) => name);
    const notedUnixMs = this.#options.nowUnixMs();
    this.#table.save(this.#table.rowOf({ identity, session, server, place, agents, notedUnixMs }));
    this.#table.trim("noted_unix_ms", MAX_PLACES);
  }

  #remove(identity: string, sessions: readonly string[]): void {
    for (const session of sessions) this.#table.remove(identity, session);
  }
}

export const agentsOf = ({ windows }: Place): readonly PlacedAgent[] =>
  windows.flatMap(({ panes }) => panes.flatMap(({ agent }) => agent ?? []));

function placeOf(
  server: TmuxServer,
  { name: session, activeWindow }: TreeSession,
  windows: readonly TreeWindow[],
  agents: ReadonlyMap<string, RunningAgent>,
  identity: string,
  serverName: string,
): Place {
  const placed = windows.map((window): PlacedWindow => {
    const { name, cols, rows, layout, panes, activePane } = window;
    return {
      name,
      cols,
      rows,
      layout,
      panes: panes.map((pane): PlacedPane => {
        const agent = agents.get(pane);
        const pid = agent?.process.pid ?? server.findPane(pane)?.pid;
        const cwd = pid === undefined ? undefined : server.processes.cwdNow(pid);
        return { cwd, agent: agent === undefined ? undefined : placedAgent(agent) };
      }),
      activePane: Math.max(
        0,
        panes.findIndex((pane) => pane === activePane),
      ),
    };
  });
  const active = Math.max(
    0,
    windows.findIndex(({ id }) => id === activeWindow),
  );
  return { identity, server: serverName, session, windows: placed, activeWindow: active };
}

const placedAgent = ({ id, name, kind, sessionId, transcriptPath, launch, worktree }: RunningAgent): PlacedAgent => ({
  id,
  name,
  kind: kind.name,
  sessionId,
  transcriptPath,
  launch,
  worktree,
});
