/**
 * Starts workers, each request once. A request that repeats one in progress joins it; one that repeats an earlier request
 * finds its record on the worker's pane; neither types anything. If the first start was cut short, a repeated request
 * finishes it. The order makes failures harmless: nothing is made before the request, tmux, the worker's program and the
 * team have been checked, and what is made is kept.
 */
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { promptText } from "../../../daemon/delivery/prompt/promptText.ts";
import { requireSameRequest } from "../../../daemon/ops/once.ts";
import { untilSo } from "../../../daemon/time/within.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import {
  TEAM_DEFAULT_PREFIX,
  type TeamRestart,
  type TeamSessionRequest,
  type TeamStart,
  type TeamStartRequest,
} from "../../../protocol/api/team.ts";
import { AppError } from "../../../protocol/errors.ts";
import { initialCapture } from "../captureText.ts";
import { onTmux, teamError, withKey } from "../teamErrors.ts";
import { EXIT_WITHIN_MS, GONE_WITHIN_MS, MAX_NAME_TRIES, MAX_STARTS_PER_TEAM } from "../teamLimits.ts";
import { asTmuxNames, findNamed, nextSessionName, startPost } from "../names.ts";
import { panesOf, sessionEnd } from "../teamServers.ts";
import { isTaken, startResponse } from "./startResponse.ts";
import {
  type BegunRecord,
  beginRecord,
  isComplete,
  type PromptMark,
  readRecords,
  type StartRecord,
  writeRecord,
} from "./startRecord.ts";
import type { TeamdClient } from "../teamd/teamd.ts";
import {
  makeWorker,
  promptWorker,
  startOf,
  requireWorker,
  untilExitReported,
  type TeamParts,
  type Worker,
} from "./worker.ts";

/** A start in progress. */
interface UnderWay {
  readonly teamId: string;
  readonly begun: BegunRecord;
  /** The session name in the request. */
  readonly name: string | undefined;
  /** The session that it makes or finishes: from then on no other start does. */
  session?: string;
}

export class Starts {
  readonly #options: TeamParts;
  /** Later the record on the worker's pane tells. */
  readonly #underWay = new Map<UnderWay, Promise<TeamStart>>();

  constructor(options: TeamParts) {
    this.#options = options;
  }

  /** @throws AppError invalid_cwd, invalid_argument, session_exists, worker_not_found, tmux_*, teamd_unavailable, thread_*, RESOURCE_LIMIT */
  async start(request: TeamStartRequest): Promise<TeamStart> {
    const cwd = request.cwd ?? this.#options.workerOf().homeDir;
    await requireDirectory(cwd);
    requirePrompt(request.taskPrompt);
    this.#options.workerOf(request.agent);
    if (request.sessionName !== undefined && request.sessionPrefix !== undefined) {
      throw teamError("invalid_argument", "give either sessionName or sessionPrefix, not both");
    }
    return withKey(() => this.#startOnce({ ...request, cwd }));
  }

  async #startOnce(request: Located): Promise<TeamStart> {
    const { teamId, sessionName } = request;
    const name = sessionName === undefined ? undefined : asTmuxNames(sessionName);
    const own: UnderWay = { teamId, name, begun: beginRecord(request) };
    const { key, request: digest, prompt } = own.begun;
    const team = this.#startsOf(teamId);
    const sameKey = team.find(({ begun }) => key !== undefined && begun.key === key);
    if (sameKey !== undefined) requireSameRequest(sameKey.begun.request, digest);
    const sameName = team.find((other) => name !== undefined && other.name === name);
    const repeated = sameKey ?? sameName;
    if (repeated !== undefined) {
      requireSamePrompt(repeated.name ?? "", repeated.begun.prompt, prompt);
      return this.#joined(repeated);
    }
    if (team.length >= MAX_STARTS_PER_TEAM) {
      throw new AppError(
        "RESOURCE_LIMIT",
        `this team already has ${MAX_STARTS_PER_TEAM} starts in progress; wait for one to end`,
      );
    }
    const result = this.#run(own, request).finally(() => this.#underWay.delete(own));
    this.#underWay.set(own, result);
    return result;
  }

  #startsOf(teamId: string): readonly UnderWay[] {
    return [...this.#underWay.keys()].filter((start) => start.teamId === teamId);
  }

  async #joined(other: UnderWay): Promise<TeamStart> {
    return { ...(await this.#underWay.get(other)!), created: false, threadCreated: false };
  }

  async #run(own: UnderWay, request: Located): Promise<TeamStart> {
    const { servers, workerOf, teamdOf } = this.#options;
    const earlier = await servers.useIfThere(request.teamId, async (server) =>
      server === undefined ? undefined : this.#earlier(own, server, request),
    );
    if (earlier !== undefined) return earlier;
    // Checked before there is anything to undo.
    await servers.requireTmux();
    await requireWorker(workerOf(request.agent), request.cwd);
    const teamd = await teamdOf(request);
    if (request.threadId === undefined) await teamd.requireTeam();
    else await teamd.requireThread(request.threadId);
    return servers.use(request.teamId, async (server) => {
      const made = await this.#make(own, server, teamd, request);
      if (!("worker" in made)) return made;
      const { worker, record, threadId } = made;
      const response = await this.#bringUp(worker, record, request, (post) => teamd.post(threadId, post));
      return { ...response, created: true, threadCreated: request.threadId === undefined };
    });
  }

  /** The result of an earlier request with this key or for this session; finishes it if it was cut short. */
  async #earlier(own: UnderWay, server: TmuxServer, request: Located): Promise<TeamStart | undefined> {
    const { key, request: digest, prompt } = own.begun;
    const named = request.sessionName === undefined ? undefined : findNamed(server, request.sessionName);
    if (key === undefined && named === undefined) return undefined;
    const records = await readRecords(server);
    let session = named;
    for (const [pane, record] of records) {
      if (key === undefined || record.key !== key) continue;
      requireSameRequest(record.request, digest);
      session = server.sessions().find((other) => panesOf(server, other).some(({ id }) => id === pane)) ?? session;
    }
    const place = this.#options.servers.place(request.teamId, server, session, records);
    if (place === undefined) return undefined;
    const { sessionName, record } = place;
    const underWay = record && this.#startsOf(own.teamId).find((other) => other.session === sessionName);
    // If it ended before it took a prompt, or its start was cut short, the response says that instead.
    const hasPrompt = underWay !== undefined || (record?.outcome !== undefined && record.outcome !== "ended");
    if (hasPrompt && record?.prompt !== undefined) requireSamePrompt(sessionName, record.prompt, prompt);
    if (underWay !== undefined) return this.#joined(underWay);
    const { threadId } = record ?? {};
    if (record === undefined || threadId === undefined || isComplete(record) || record.request !== digest) {
      return startResponse(place, record, request.threadId);
    }
    // Its daemon ended between making the worker and announcing it: the rest is done, and nothing twice.
    own.session = sessionName;
    const teamd = await this.#options.teamdOf(request);
    return this.#bringUp(place, record, request, (post) => teamd.postOnce(threadId, post));
  }

  /** Ends a worker, and starts the same agent again under its name, with its conversation if that is known. @throws AppError session_not_found, tmux_error */
  restart(request: TeamSessionRequest): Promise<TeamRestart> {
    const { servers, agents, starts, clock, workerOf } = this.#options;
    return servers.withSession(request, async ({ server, session, sessionName, pane, record }) => {
      const { teamId } = request;
      if (this.#startsOf(teamId).some((start) => start.session === sessionName)) {
        throw teamError(
          "session_exists",
          `session ${sessionName} is still being started; wait until it has its prompt`,
        );
      }
      agents.check();
      const before = agents.lastInPane(server, pane);
      const { kind, sessionId, transcriptPath, launch } = before ?? {};
      const program = workerOf(record?.agent ?? kind?.name);
      const there = launch?.cwd ?? (await onTmux("tmux display-message", () => server.describePane(pane))).cwd;
      const cwd = there === "" ? program.homeDir : there;
      await requireWorker(program, cwd);
      const goesOn = sessionId === undefined || kind?.resume === undefined ? [] : [...kind.resume, sessionId];
      // It may be restarted again before it has said which one it is in.
      const conversation = goesOn.length === 0 ? undefined : { sessionId, transcriptPath };
      await onTmux(`tmux kill-session -t =${sessionName}`, () => server.killSession(session.id));
      // Its name, and its conversation, are free once its process has ended.
      const hasEnded = (): boolean => before?.endedUnixMs !== undefined;
      if (before !== undefined) await untilSo(clock, GONE_WITHIN_MS, hasEnded, (check) => agents.subscribe(check));
      agents.check();
      const worker = { ...program, argv: [...program.argv, ...goesOn] };
      const made = await makeWorker(this.#options, server, {
        worker,
        teamId,
        name: sessionName,
        cwd,
        record,
        conversation,
      });
      const { outcome } = await starts.bringUp(startOf(agents, server, program), made.pane, clock.nowMs());
      const state = (outcome === "ended" ? "dead" : outcome) as TeamRestart["state"];
      return { sessionName, paneId: made.pane, resumed: goesOn.length > 0, state };
    });
  }

  /** Makes the session and the thread that announces it; or returns the response for an existing session of that name. */
  async #make(own: UnderWay, server: TmuxServer, teamd: TeamdClient, request: Located): Promise<Made | TeamStart> {
    const { sessionName, sessionPrefix = TEAM_DEFAULT_PREFIX, title, teamId, cwd } = request;
    const worker = this.#options.workerOf(request.agent);
    for (let tries = 1; ; tries += 1) {
      const promised = this.#startsOf(teamId).flatMap(({ session }) => session ?? []);
      const taken = [...server.sessions().map((session) => session.name), ...promised];
      const name = own.name ?? nextSessionName(sessionPrefix, taken);
      own.session = name;
      try {
        // The worker is a participant of the thread, so that its messages reach it; another name needs another thread.
        const threadId = request.threadId ?? (await teamd.createThread(title ?? `tmux: ${name}`, [name]));
        const record = { ...own.begun, threadId };
        const made = await makeWorker(this.#options, server, { worker, teamId, name, cwd, record });
        return { worker: made, record, threadId };
      } catch (error) {
        if (!(error instanceof AppError && error.code === "ALREADY_EXISTS") || tries === MAX_NAME_TRIES) throw error;
        // Another client has just made it, or has one whose name we could not know of.
        const there = sessionName === undefined ? undefined : server.findSession(name);
        const place = this.#options.servers.place(teamId, server, there);
        if (place !== undefined) return startResponse(place, undefined, request.threadId);
      }
    }
  }

  /** Until it has its prompt and is announced. */
  async #bringUp(
    worker: Worker,
    begun: StartRecord,
    request: Located,
    post: (message: string) => Promise<void>,
  ): Promise<TeamStart> {
    const { server, pane, sessionName, socketPath } = worker;
    const { teamId, taskPrompt, lines, threadId } = request;
    const { clock } = this.#options;
    const record = begun.outcome === undefined ? await this.#prompted(worker, begun, request) : begun;
    const { outcome, readyMs } = record;
    if (outcome === "ended") await untilExitReported(server, pane, clock);
    // What it was given may have ended it.
    else if (readyMs !== undefined && !isTaken(outcome)) await untilExitReported(server, pane, clock, EXIT_WITHIN_MS);
    const { dead, exitStatus } = sessionEnd(worker);
    const ended = dead ? { exitStatus } : undefined;
    try {
      await post(startPost({ sessionName, teamId, socketPath, taskPrompt, ended }));
    } catch (error) {
      throw teamError(
        "thread_post_failed",
        `session ${sessionName} ${dead ? "has ended" : "is running"}, but posting to thread ${record.threadId} failed: ` +
          `${(error as Error).message}; repeat the request with its idempotencyKey to post it`,
        { cause: error },
      );
    }
    await this.#note(worker, { ...record, announced: true });
    const response = await startResponse(worker, record, threadId);
    return lines === undefined ? response : { ...response, capture: await initialCapture(worker, lines) };
  }

  async #prompted(worker: Worker, begun: StartRecord, { teamId, taskPrompt }: Located): Promise<StartRecord> {
    const key = `team_start:${begun.request}`;
    const program = this.#options.workerOf(begun.agent);
    const { submitMs, ...prompted } = await promptWorker(this.#options, program, worker, taskPrompt, key);
    const record = { ...begun, ...prompted };
    await this.#note(worker, record);
    const { outcome, readyMs } = record;
    this.#options.log.info("team.started", { team: teamId, session: worker.sessionName, outcome, readyMs, submitMs });
    return record;
  }

  /** Writes the record, unless the worker is gone. */
  async #note({ server, pane }: Worker, record: StartRecord): Promise<void> {
    try {
      await writeRecord(server, pane, record);
    } catch (error) {
      this.#options.log.warn("team.record.failed", { pane, error });
    }
  }
}

/** A request with its directory filled in. */
type Located = TeamStartRequest & { readonly cwd: string };

interface Made {
  readonly worker: Worker;
  readonly record: StartRecord;
  readonly threadId: string;
}

/**
 * A session is given only one prompt; another one would never be typed.
 * @throws AppError session_exists
 */
function requireSamePrompt(sessionName: string, earlier: PromptMark, asked: PromptMark): void {
  if (earlier.digest === asked.digest) return;
  throw teamError(
    "session_exists",
    `session ${sessionName} was started with another prompt, ${JSON.stringify(earlier.start)}, so ` +
      `${JSON.stringify(asked.start)} was not sent; give another sessionName, or omit it`,
  );
}

/** Refuses text that cannot be typed, before anything is made. @throws AppError invalid_argument */
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
