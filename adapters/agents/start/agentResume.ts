/**
 * Brings back what ran when a tmux server ended: its sessions and windows with their names and layouts, and in each pane the
 * agent that continues its own conversation, or a shell. An agent that runs is not started again; one whose conversation is
 * not known for certain is listed with the reason, and gets a shell in its place.
 */
import { existsSync } from "node:fs";
import type { Clock } from "../../../daemon/time/clock.ts";
import { sleep } from "../../../daemon/time/within.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { AppError, toAppError } from "../../../protocol/errors.ts";
import type { PaneId, SessionId, WindowId } from "../../../protocol/ids.ts";
import type { Agent } from "../catalogue.ts";
import type { AgentDirectory } from "../running/agentDirectory.ts";
import type { PlacedSessions, Place, PlacedAgent, PlacedPane, PlacedWindow } from "./placedSessions.ts";
import { agentsOf } from "./placedSessions.ts";
import {
  type AgentStarts,
  argsToResume,
  madePane,
  newWindow,
  type StartOutcome,
  type StartProgram,
} from "./agentStarts.ts";

export interface ResumeRequest {
  /** By the names of agents; undefined: all. */
  readonly names: ReadonlySet<string> | undefined;
  /** Only say what would be done. */
  readonly isPlan: boolean;
  /** A server that is known and not open, as in paths, and why: what ran on it is listed, and cannot be brought back now. */
  readonly closed?: { readonly name: string; readonly reason: string } | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface ResumedAgent {
  readonly agent: PlacedAgent;
  readonly place: Place;
  readonly cwd: string | undefined;
  readonly outcome: "planned" | "impossible" | "running" | "resumed" | "asking" | "late" | "ended" | "failed";
  readonly reason: string | undefined;
  readonly pane: PaneId | undefined;
}

interface AgentResumeOptions {
  readonly agents: AgentDirectory;
  readonly places: PlacedSessions;
  readonly starts: AgentStarts;
  readonly catalogue: readonly Agent[];
  readonly clock: Clock;
}

type Begin = (resumed: ResumedAgent, make: (program: StartProgram) => Promise<PaneId>) => Promise<PaneId | undefined>;

/** Several start at once, on a machine that may just have been started. */
const DEFAULT_TIMEOUT_MS = 180_000;

export class AgentResume {
  readonly #options: AgentResumeOptions;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(options: AgentResumeOptions) {
    this.#options = options;
  }

  /** One run at a time: what another run has brought back runs, and is not brought back again. @throws AppError NOT_FOUND */
  async resume(servers: ReadonlyMap<string, TmuxServer>, request: ResumeRequest): Promise<readonly ResumedAgent[]> {
    const run = this.#underWay.then(() => this.#resume(servers, request));
    this.#underWay = run.catch(() => undefined);
    return run;
  }

  async #resume(servers: ReadonlyMap<string, TmuxServer>, request: ResumeRequest): Promise<readonly ResumedAgent[]> {
    const { names, isPlan, closed } = request;
    const { places } = this.#options;
    const alive = new Set([...servers.values()].map((server) => server.status().identity));
    const gone = places
      .gone((identity) => alive.has(identity))
      .filter(({ server }) => servers.has(server) || server === closed?.name);
    const known = new Set(gone.flatMap(agentsOf).map(({ name }) => name));
    for (const name of names ?? []) {
      if (!known.has(name)) {
        throw new AppError(
          "NOT_FOUND",
          `no agent ${JSON.stringify(name)} ran when a server ended; run \`tmuxwire resume\``,
        );
      }
    }
    const resumed: ResumedAgent[] = [];
    for (const place of gone) {
      const wanted = agentsOf(place).filter(({ name }) => names === undefined || names.has(name));
      const reason = servers.has(place.server) ? undefined : closed?.reason;
      const judged = wanted.map((agent) => this.#judge(place, agent, reason));
      if (isPlan || !judged.some(({ outcome }) => outcome === "planned")) resumed.push(...judged);
      else resumed.push(...(await this.#bringBack(servers.get(place.server)!, place, judged, request)));
    }
    return resumed;
  }

  /** @param reason for which nothing can be brought back there */
  #judge(place: Place, agent: PlacedAgent, reason: string | undefined): ResumedAgent {
    const { agents, catalogue } = this.#options;
    const { launch, sessionId, transcriptPath, kind, name } = agent;
    const cwd = paneOf(place, agent)?.cwd ?? launch?.cwd;
    const judged = { agent, place, cwd, pane: undefined };
    const cannot = (why: string): ResumedAgent => ({ ...judged, outcome: "impossible", reason: why });
    if (reason !== undefined) return cannot(reason);
    const running = agents.agents().find((each) => each.kind.name === kind && each.sessionId === sessionId);
    if (sessionId !== undefined && running !== undefined) {
      return { ...judged, outcome: "running", reason: `it runs as ${running.name}`, pane: running.pane };
    }
    const { resume, title = kind, transcript } = catalogue.find((each) => each.name === kind) ?? {};
    if (resume === undefined) return cannot(`${title} cannot be started with a conversation's id`);
    if (sessionId === undefined) return cannot("which conversation it had is not known; its hooks would tell");
    if (transcript === true && (transcriptPath === undefined || !existsSync(transcriptPath))) {
      return cannot("it had not begun a conversation");
    }
    if (cwd === undefined || !existsSync(cwd)) return cannot(`its directory is gone: ${cwd ?? "unknown"}`);
    if (agents.agents().some((each) => each.name === name))
      return cannot(`another agent is called ${name} now; rename that`);
    return { ...judged, outcome: "planned", reason: undefined };
  }

  /** The whole session if there is none of its name; else a window for each agent. */
  async #bringBack(
    server: TmuxServer,
    place: Place,
    judged: readonly ResumedAgent[],
    { timeoutMs = DEFAULT_TIMEOUT_MS }: ResumeRequest,
  ): Promise<readonly ResumedAgent[]> {
    const { places, starts, catalogue } = this.#options;
    const planned = new Map(judged.flatMap((each) => (each.outcome === "planned" ? [[each.agent.id, each]] : [])));
    const results = new Map<string, Promise<ResumedAgent>>();
    /** Resolves when its pane is there, and its start goes on; with undefined where it cannot be started. */
    const begin: Begin = (resumed, make) =>
      new Promise((resolve) => {
        const { agent } = resumed;
        const { program, environment, startedBy = "resume" } = agent.launch ?? {};
        const kind = catalogue.find(({ name }) => name === agent.kind)!;
        const making = async (started: StartProgram): Promise<PaneId> => {
          const pane = await make(started);
          resolve(pane);
          return pane;
        };
        const result = starts
          .start({
            server,
            serverName: place.server,
            kind,
            name: agent.name,
            program,
            args: agent.launch && argsToResume(kind, agent.launch),
            environment,
            cwd: resumed.cwd ?? "/",
            resume: agent.sessionId,
            startedBy,
            timeoutMs,
            where: { kind: "made", make: making },
            transcriptPath: agent.transcriptPath,
            madeWorktree: agent.worktree,
          })
          .then(({ outcome, reason, pane }): ResumedAgent => {
            this.#goesOn(agent, server, pane);
            return { ...resumed, outcome: outcomeOf(outcome), reason, pane };
          });
        results.set(
          agent.id,
          result.catch((error: unknown) => ({ ...resumed, outcome: "failed", reason: toAppError(error).message })),
        );
        result.catch(() => resolve(undefined));
      });
    try {
      const there = server.findSession(place.session);
      if (there === undefined) await this.#makeSession(server, place, planned, begin);
      else for (const each of planned.values()) await begin(each, (program) => newWindow(server, there.id, program));
    } catch (error) {
      const reason = toAppError(error).message;
      for (const each of planned.values()) {
        if (!results.has(each.agent.id))
          results.set(each.agent.id, Promise.resolve({ ...each, outcome: "failed", reason }));
      }
    }
    const done = await Promise.all(judged.map(async (each) => results.get(each.agent.id) ?? each));
    places.forget(place, new Set(done.flatMap(({ agent, outcome }) => (IS_BACK.has(outcome) ? [agent.id] : []))));
    return done;
  }

  /** What it was given before is its task still. */
  #goesOn({ id }: PlacedAgent, server: TmuxServer, pane: PaneId | undefined): void {
    const { agents } = this.#options;
    const now = pane === undefined ? undefined : agents.inPane(server, pane);
    const { task, lastMessage } = agents.remembered().find((before) => before.id === id)?.facts ?? {};
    if (now !== undefined && now.task === undefined) agents.note(now, { task, lastMessage });
  }

  async #makeSession(
    server: TmuxServer,
    place: Place,
    planned: ReadonlyMap<string, ResumedAgent>,
    begin: Begin,
  ): Promise<void> {
    const held: PaneId[] = [];
    /** The agent of the pane, or a shell: also for one that cannot be started, which is in no other's way. */
    const fill = async (
      pane: PlacedPane,
      make: (program: Partial<StartProgram>) => Promise<PaneId>,
      isAlone: boolean,
    ): Promise<PaneId> => {
      const resumed = planned.get(pane.agent?.id ?? "");
      const hold = async (program: StartProgram): Promise<PaneId> => {
        const id = await make({ ...program, command: [...HELD, ...(program.command ?? [])] });
        held.push(id);
        return id;
      };
      const made = resumed === undefined ? undefined : await begin(resumed, isAlone ? make : hold);
      return made ?? make(pane.cwd !== undefined && existsSync(pane.cwd) ? { cwd: pane.cwd } : {});
    };
    let session: SessionId | undefined;
    const windows: (WindowId | undefined)[] = [];
    try {
      for (const window of place.windows) {
        const [first, ...others] = window.panes;
        if (first === undefined) continue;
        const isAlone = others.length === 0;
        const makeFirst = async (program: Partial<StartProgram>): Promise<PaneId> => {
          if (session !== undefined) return newWindow(server, session, { ...program, windowName: window.name });
          const { name, cols, rows } = { name: place.session, cols: window.cols, rows: window.rows };
          const size = server.status().kind === "guest" ? {} : { cols, rows };
          const made = await server.createSession({ ...program, name, windowName: window.name, ...size });
          session = made.id;
          if (made.activePane === undefined) throw new AppError("INCONSISTENT_STATE", `session ${name} ended at once`);
          return made.activePane;
        };
        const panes = [await fill(first, makeFirst, isAlone)];
        for (const pane of others) {
          panes.push(await fill(pane, (program) => split(server, panes.at(-1)!, program), isAlone));
        }
        windows.push(await arrange(server, window, panes));
      }
    } finally {
      await this.#release(server, held);
    }
    const active = windows[place.activeWindow];
    if (active !== undefined && session !== undefined) {
      await server.layout.run({ kind: "select-window", window: active, session });
    }
  }

  /** They begin, now that their panes have their sizes. */
  async #release(server: TmuxServer, held: readonly PaneId[]): Promise<void> {
    if (held.length === 0) return;
    await sleep(this.#options.clock, SIZED_WITHIN_MS);
    for (const pane of held) {
      // One that has gone, or cannot be reached, has a start that will say so.
      await beginHeld(server, pane).catch(() => undefined);
    }
  }
}

/** What somebody has typed there meanwhile goes first (C-u): before an end of input it would be a part of a line. */
async function beginHeld(server: TmuxServer, pane: PaneId): Promise<void> {
  const { processes = [] } = await server.foreground(pane);
  // Somebody has begun it: to an agent these are keys, and C-d ends some.
  if (processes.some(({ isShell }) => !isShell)) return;
  await server.input(pane, [{ kind: "keys", keys: ["C-u", "C-d"] }]);
}

/**
 * A program can miss that its pane's size changes while it starts, and draw for the size before for as long as it runs. In a
 * window of several panes it begins at the end of its input (C-d, which shows nothing), or at a line that somebody enters.
 */
const HELD = ["sh", "-c", 'read -r _; exec "$@"', "sh"] as const;
/** A pane's program is told of a new size up to 250 ms after the change (server-client.c, 3.2 to 3.7). */
const SIZED_WITHIN_MS = 300;

const IS_BACK: ReadonlySet<ResumedAgent["outcome"]> = new Set(["resumed", "asking", "running", "late"]);

const outcomeOf = (outcome: StartOutcome): ResumedAgent["outcome"] => {
  if (outcome === "ready") return "resumed";
  return outcome === "asking" || outcome === "late" || outcome === "ended" ? outcome : "failed";
};

const paneOf = ({ windows }: Place, { id }: PlacedAgent): PlacedPane | undefined =>
  windows.flatMap(({ panes }) => panes).find(({ agent }) => agent?.id === id);

/** Panes of which the layout string says later how large they are: until then each has the same size. */
async function split(server: TmuxServer, beside: PaneId, program: Partial<StartProgram>): Promise<PaneId> {
  const window = server.findPane(beside)?.window;
  if (window !== undefined) await server.layout.run({ kind: "select-layout", window, layout: "tiled" });
  const { userOptions, command, cwd, environment } = program;
  return madePane(
    server,
    { kind: "split-window", pane: beside, detached: true, command, cwd, environment },
    userOptions,
  );
}

/** As it was; a window of another size gets as close to it as tmux can. */
async function arrange(
  server: TmuxServer,
  { layout, activePane }: PlacedWindow,
  panes: readonly PaneId[],
): Promise<WindowId | undefined> {
  const window = server.findPane(panes[0]!)?.window;
  if (window === undefined || panes.length === 1) return window;
  try {
    await server.layout.run({ kind: "select-layout", window, layout });
  } catch (error) {
    // A pane has closed already, or this tmux does not take the layout of another.
    const { code } = toAppError(error);
    if (code !== "INCONSISTENT_STATE" && code !== "INVALID_ARGUMENT" && code !== "TMUX_COMMAND_FAILED") throw error;
  }
  const active = panes[activePane];
  if (active !== undefined) await server.layout.run({ kind: "select-pane", pane: active });
  return window;
}
