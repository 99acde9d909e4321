/**
 * Starting workers, each request once: one that repeats a request under way joins it, one that repeats an earlier one
 * finds its record on the worker's pane, and neither types anything. The order is what makes a failure harmless: nothing
 * is made before the request, tmux and the thread are known to be good, and what is made is kept.
 */
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { promptText } from "../../daemon/delivery/promptText.ts";
import type { SessionInfo, TmuxServer } from "../../daemon/server/tmuxServer.ts";
import { TEAM_DEFAULT_PREFIX, type TeamStart, type TeamStartRequest } from "../../protocol/api/team.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { initialCapture } from "./captureText.ts";
import { type TeamContext, teamdOf } from "./context.ts";
import { onTmux, teamError } from "./errors.ts";
import { MAX_NAME_TRIES, MAX_STARTS_PER_TEAM } from "./limits.ts";
import { asTmuxNames, attachArgv, captureHint, nextSessionName, shellLine } from "./names.ts";
import { startPost } from "./posts.ts";
import { keyDigest, readRecords, recordMark, requestDigest, type StartRecord, writeRecord } from "./startRecord.ts";
import type { TeamdClient } from "./teamd.ts";
import { makeWorker, promptWorker, type Worker } from "./worker.ts";

interface UnderWay {
  readonly request: string;
  readonly result: Promise<TeamStart>;
}

/** One team's starts under way. */
interface TeamStarts {
  readonly byKey: Map<string, UnderWay>;
  readonly byName: Map<string, UnderWay>;
  /** Names promised to starts whose session is not there yet. */
  readonly promised: Set<string>;
  count: number;
}

export class Starts {
  readonly #context: TeamContext;
  readonly #teams = new Map<string, TeamStarts>();

  constructor(context: TeamContext) {
    this.#context = context;
  }

  /** @throws AppError invalid_cwd, invalid_argument, tmux_*, teamd_unavailable, thread_*, RESOURCE_LIMIT */
  async start(request: TeamStartRequest): Promise<TeamStart> {
    const cwd = request.cwd ?? this.#context.worker.homeDir;
    await requireDirectory(cwd);
    requirePrompt(request.taskPrompt);
    if (request.sessionName !== undefined && request.sessionPrefix !== undefined) {
      throw teamError("invalid_argument", "sessionName and sessionPrefix: give one of them");
    }
    const team = this.#team(request.teamId);
    const key = keyDigest(request.idempotencyKey);
    const digest = requestDigest(request);
    const name = request.sessionName === undefined ? undefined : asTmuxNames(request.sessionName);
    const repeated = (key === undefined ? undefined : team.byKey.get(key)) ?? team.byName.get(name ?? "");
    if (repeated !== undefined) {
      if (key !== undefined && team.byKey.get(key) === repeated) requireSame(repeated.request, digest);
      return { ...(await repeated.result), created: false, threadCreated: false };
    }
    if (team.count >= MAX_STARTS_PER_TEAM) {
      throw new AppError(
        "RESOURCE_LIMIT",
        `${MAX_STARTS_PER_TEAM} starts are under way in this team; wait for one to end`,
      );
    }
    const result = this.#run(team, { ...request, cwd });
    const underWay: UnderWay = { request: digest, result };
    team.count += 1;
    if (key !== undefined) team.byKey.set(key, underWay);
    if (name !== undefined) team.byName.set(name, underWay);
    try {
      return await result;
    } finally {
      team.count -= 1;
      if (key !== undefined) team.byKey.delete(key);
      if (name !== undefined) team.byName.delete(name);
      if (team.count === 0) this.#teams.delete(request.teamId);
    }
  }

  #team(teamId: string): TeamStarts {
    const known = this.#teams.get(teamId) ?? { byKey: new Map(), byName: new Map(), promised: new Set(), count: 0 };
    this.#teams.set(teamId, known);
    return known;
  }

  #run(team: TeamStarts, request: TeamStartRequest & { readonly cwd: string }): Promise<TeamStart> {
    const { servers } = this.#context;
    return servers.use(request.teamId, async (server) => {
      const earlier = await this.#earlier(server, request);
      if (earlier !== undefined) return earlier;
      const teamd = await teamdOf(this.#context, request);
      if (request.threadId !== undefined) await teamd.requireThread(request.threadId);
      const made = await this.#make(team, server, teamd, request);
      return "worker" in made ? this.#bringUp(server, teamd, request, made) : made;
    });
  }

  /** What an earlier request with this key or for this very session has made. */
  async #earlier(server: TmuxServer, request: TeamStartRequest): Promise<TeamStart | undefined> {
    const key = keyDigest(request.idempotencyKey);
    const named = request.sessionName === undefined ? undefined : server.findSession(request.sessionName);
    if (key === undefined && named === undefined) return undefined;
    const records = await onTmux("tmux list-panes", () => readRecords(server));
    for (const [pane, record] of records) {
      if (key === undefined || record.key !== key) continue;
      requireSame(record.request, requestDigest(request));
      const session = server.sessions().find((other) => other.activePane === pane);
      if (session !== undefined) return this.#answer(server, request, session, record);
    }
    if (named === undefined) return undefined;
    return this.#answer(
      server,
      request,
      named,
      named.activePane === undefined ? undefined : records.get(named.activePane),
    );
  }

  /** The session, with the thread it will be told of in; or what was there under its name. */
  async #make(
    team: TeamStarts,
    server: TmuxServer,
    teamd: TeamdClient,
    request: TeamStartRequest & { readonly cwd: string },
  ): Promise<Made | TeamStart> {
    const { sessionName, sessionPrefix = TEAM_DEFAULT_PREFIX, title } = request;
    let threadId = request.threadId;
    for (let tries = 1; ; tries += 1) {
      const taken = [...server.sessions().map((session) => session.name), ...team.promised];
      const name = sessionName === undefined ? nextSessionName(sessionPrefix, taken) : asTmuxNames(sessionName);
      team.promised.add(name);
      try {
        threadId ??= await teamd.createThread(title ?? `tmux: ${name}`);
        const record = begun(request, threadId);
        const { teamId, cwd } = request;
        const worker = await makeWorker(this.#context, server, { teamId, name, cwd, marks: recordMark(record) });
        return { worker, record, threadId, threadCreated: request.threadId === undefined };
      } catch (error) {
        if (!(error instanceof AppError && error.code === "ALREADY_EXISTS") || tries === MAX_NAME_TRIES) throw error;
        // Somebody else has made it in this moment, or has one whose name we could not know.
        const there = sessionName === undefined ? undefined : server.findSession(name);
        if (there !== undefined) return this.#answer(server, request, there, undefined);
      } finally {
        team.promised.delete(name);
      }
    }
  }

  async #bringUp(
    server: TmuxServer,
    teamd: TeamdClient,
    request: TeamStartRequest,
    { worker, record: made, threadId, threadCreated }: Made,
  ): Promise<TeamStart> {
    const { servers, log } = this.#context;
    const { teamId, taskPrompt, lines } = request;
    const { session, pane } = worker;
    const socketPath = servers.socketPath(teamId);
    const { promptSubmitted, readyMs, submitMs } = await promptWorker(this.#context, server, worker, taskPrompt);
    const record: StartRecord = { ...made, promptSubmitted, readyMs };
    await this.#note(server, pane, record);
    log.info("team.started", { team: teamId, session: session.name, promptSubmitted, readyMs, submitMs });
    try {
      await teamd.post(threadId, startPost({ sessionName: session.name, teamId, socketPath, taskPrompt }));
    } catch (error) {
      throw teamError(
        "thread_post_failed",
        `session ${session.name} runs, but it could not be announced in ${threadId}: ${(error as Error).message}`,
        { cause: error },
      );
    }
    const answer = this.#answer(server, request, session, record);
    return {
      ...answer,
      created: true,
      threadCreated,
      ...(lines === undefined
        ? {}
        : { capture: await initialCapture({ server, socketPath, sessionName: session.name, pane }, lines) }),
    };
  }

  /** A worker that is gone needs no record. */
  async #note(server: TmuxServer, pane: PaneId, record: StartRecord): Promise<void> {
    try {
      await writeRecord(server, pane, record);
    } catch (error) {
      this.#context.log.warn("team.record.failed", { pane, error });
    }
  }

  #answer(
    server: TmuxServer,
    { teamId, threadId }: TeamStartRequest,
    session: SessionInfo,
    record: StartRecord | undefined,
  ): TeamStart {
    const socketPath = this.#context.servers.socketPath(teamId);
    const pane = session.activePane;
    const window = server.windows().find((other) => pane !== undefined && other.panes.includes(pane));
    return {
      sessionName: session.name,
      created: false,
      windowName: window?.name ?? "",
      paneId: pane ?? "",
      socketPath,
      attachCommand: shellLine(attachArgv(socketPath, session.name)),
      captureHint: captureHint(session.name),
      threadId: record?.threadId ?? threadId ?? null,
      threadCreated: false,
      promptSubmitted: record?.promptSubmitted ?? false,
      readyMs: record?.readyMs ?? null,
    };
  }
}

interface Made {
  readonly worker: Worker;
  readonly record: StartRecord;
  readonly threadId: string;
  readonly threadCreated: boolean;
}

/** What is known before the worker is there. */
const begun = (request: TeamStartRequest, threadId: string): StartRecord => ({
  key: keyDigest(request.idempotencyKey),
  request: requestDigest(request),
  threadId,
  promptSubmitted: undefined,
  readyMs: undefined,
});

function requireSame(earlier: string, digest: string): void {
  if (earlier === digest) return;
  throw teamError("invalid_argument", "idempotencyKey: it belongs to another request; use a fresh one");
}

/** What could never be typed is refused before anything is made. @throws AppError invalid_argument */
function requirePrompt(prompt: string): void {
  try {
    promptText(prompt);
  } catch (error) {
    throw teamError("invalid_argument", `taskPrompt: ${(error as Error).message}`, { cause: error });
  }
}

/** @throws AppError invalid_cwd */
async function requireDirectory(cwd: string): Promise<void> {
  if (!isAbsolute(cwd) || cwd.includes("\0")) throw teamError("invalid_cwd", "cwd must be an absolute path");
  const stats = await stat(cwd).catch((cause: unknown) => {
    throw teamError("invalid_cwd", `cwd: ${cwd} does not exist`, { cause });
  });
  if (!stats.isDirectory()) throw teamError("invalid_cwd", `cwd: ${cwd} is not a directory`);
}
