/**
 * Starts agents, each request once, and gives each its prompt. Nothing is made before everything that can be checked has been.
 * An agent runs in front of a shell of its pane: when it ends, what it has printed stays there, with its exit status, and the
 * shell comes. The record of a start is on its pane from the beginning, so that a repeated request finds it even if the
 * daemon ended in between, and goes on where that one stopped; the prompt's own key keeps it from being typed twice.
 */
import { createHash, randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Delivery, DeliveryOutcome, SubmitRequest } from "../../../daemon/delivery/delivery.ts";
import { promptText } from "../../../daemon/delivery/prompt/promptText.ts";
import { findProgram } from "../../../daemon/host/findProgram.ts";
import type { Surroundings } from "../../../daemon/ops/log.ts";
import { Once, requireSameRequest } from "../../../daemon/ops/once.ts";
import { OnceTable } from "../../../daemon/ops/sql/onceTable.ts";
import type { Dialog, PaneReadiness, Readiness, ReadinessWatcher } from "../../../daemon/readiness/readiness.ts";
import { within } from "../../../daemon/time/within.ts";
import type { CreateSession } from "../../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { AppError, type ErrorCode, invalidArgument, toAppError } from "../../../protocol/errors.ts";
import type { PaneId, SessionId } from "../../../protocol/ids.ts";
import type { AgentTranscripts, BegunSession } from "../agentTranscript.ts";
import type { Agent } from "../catalogue.ts";
import type { AgentDirectory } from "../running/agentDirectory.ts";
import { type AgentFacts, hasTask, type RunningAgent } from "../running/runningAgent.ts";
import { CLOCK_SLACK_MS, type Transcripts } from "./transcripts.ts";
import { untilSettled } from "./untilSettled.ts";
import type { WorktreeRequest, Worktrees } from "./worktrees.ts";

export type StartPlace =
  | { readonly kind: "session"; readonly name?: string | undefined }
  | { readonly kind: "window"; readonly session: SessionId; readonly name?: string | undefined }
  | {
      readonly kind: "split";
      readonly pane: PaneId;
      readonly direction?: "horizontal" | "vertical" | undefined;
    }
  /** In a pane that the caller makes. */
  | { readonly kind: "made"; readonly make: (program: StartProgram) => Promise<PaneId> };

/** What a new pane runs, with the options that it has from the beginning, or at once. */
export type StartProgram = Required<Pick<CreateSession, "command" | "cwd" | "windowName" | "userOptions">> &
  Pick<CreateSession, "environment">;

export interface StartRequest {
  readonly server: TmuxServer;
  /** As in paths. */
  readonly serverName: string;
  readonly kind: Agent;
  /** A path, or a name on the pane's PATH; default: the agent's name. */
  readonly program?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** In addition to the server's. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Absolute. */
  readonly cwd: string;
  readonly name?: string | undefined;
  readonly where?: StartPlace | undefined;
  readonly prompt?: string | undefined;
  /** A conversation to go on with. */
  readonly resume?: string | undefined;
  /** Where that conversation is written, if it is known. */
  readonly transcriptPath?: string | undefined;
  readonly worktree?: WorktreeRequest | undefined;
  /** One that was made for it before; `cwd` is in it. */
  readonly madeWorktree?: string | undefined;
  /** Until it is ready; the prompt has as long again. */
  readonly timeoutMs?: number | undefined;
  readonly startedBy: string;
  readonly idempotencyKey?: string | undefined;
}

/** What brings a program that runs to its prompt. */
interface BringUpRequest extends Pick<
  StartRequest,
  "server" | "kind" | "prompt" | "timeoutMs" | "startedBy" | "idempotencyKey"
> {
  /** Whether one that is its pane's own program was started with a hook; undefined: it runs in front of a shell. */
  readonly hooked?: boolean | undefined;
  /** How its prompt is typed, if not as it is. */
  readonly typed?: Partial<Pick<SubmitRequest, "text" | "literal" | "timeoutMs" | "idempotencyKey">> | undefined;
}

/**
 * What a delivery says of the prompt, or: `ready`: it takes a prompt, and there was none. `asking`: it asks something first.
 * `late`: it was not ready in time. `ended`: it could not be started, or ended at once. `refused`: it did not take the prompt
 * in its state.
 */
export type StartOutcome = DeliveryOutcome | "ready" | "asking" | "late" | "ended" | "refused";

export interface StartResult {
  /** Undefined if it never ran, or was not recognised. */
  readonly agentId: string | undefined;
  readonly pane: PaneId;
  readonly outcome: StartOutcome;
  /** Why the prompt was not taken; one line. */
  readonly reason: string | undefined;
  /** What its screen says since the prompt, where that speaks against it. Foreign text, one line. */
  readonly screenNote?: string | undefined;
  readonly dialog: Dialog | undefined;
  /** The end of what stands on its screen, if that is not as wished. Foreign text. */
  readonly screen: string | undefined;
  readonly worktree: string | undefined;
  /** From the creation of its pane until it was ready, and until the prompt was taken. */
  readonly readyMs: number | undefined;
  readonly takenMs: number | undefined;
}

export interface AgentStartsOptions extends Surroundings {
  readonly agents: AgentDirectory;
  readonly transcripts: AgentTranscripts;
  readonly conversations: Pick<Transcripts, "turn">;
  readonly worktrees: Worktrees;
  readonly readiness: Pick<ReadinessWatcher, "watch">;
  readonly delivery: Pick<Delivery, "submit">;
  /** What panes of an owned server begin with. */
  readonly paneEnvironment: Readonly<Record<string, string>>;
}

const DEFAULT_TIMEOUT_MS = 60_000;
/** Of a new session on an owned server: agents lay out their screens for a terminal of some width. */
export const AGENT_COLS = 120;
export const AGENT_ROWS = 40;
const MAX_NAME_TRIES = 100;
const SCREEN_ROWS = 20;
/** A conversation has a prompt within this of an Enter that was not confirmed; until then it is looked at so often. */
const WRITTEN_WITHIN_MS = 15_000;
const WRITTEN_LOOK_MS = 500;
/** tmux has refused the pane; after anything else it may be there. */
const NOT_MADE: ReadonlySet<ErrorCode> = new Set([
  "ALREADY_EXISTS",
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "TMUX_COMMAND_FAILED",
]);
/** The record on the pane: a digest of the key. */
const RECORD = "agent_start";

/**
 * Keys that interrupt the agent do not end the shell that waits for it. A program that is killed leaves the terminal as it
 * was: the next shell needs it in its usual state.
 */
const SCRIPT = [
  "trap : INT QUIT",
  'name=$1; shift; "$@"; s=$?',
  "trap - INT QUIT; stty sane 2>/dev/null",
  String.raw`printf '\r\n[%s has ended, exit status %s]\r\n' "$name" "$s"`,
  'exec "${SHELL:-/bin/sh}"',
].join("; ");
const inFrontOfShell = (argv: readonly string[], title: string): readonly string[] => [
  "sh",
  "-c",
  SCRIPT,
  "sh",
  title,
  ...argv,
];

/** That are known by their keys. */
const MAX_STARTS = 1_000;

/** Arguments with which a program does something other than beginning a conversation of its own. */
const NOT_NEW = /^(?:-[rcp]|--(?:resume|continue|session\S*|fork\S*|print|no-session)(?:=.*)?)$/;

export class AgentStarts {
  readonly #options: AgentStartsOptions;
  /** In the agents' database. What was begun and not completed is not found: whoever repeats it looks for what it has made. */
  readonly #store: OnceTable<StartResult>;
  readonly #once: Once<StartResult>;
  /** Names of sessions for starts whose session does not exist yet, by server. */
  readonly #promised = new WeakMap<TmuxServer, Set<string>>();

  constructor(options: AgentStartsOptions) {
    this.#options = options;
    this.#store = new OnceTable<StartResult>({
      prepare: (sql) => options.agents.database.prepare(sql),
      name: "starts",
      key: ["key"],
      maxRows: MAX_STARTS,
      nowUnixMs: options.nowUnixMs,
    });
    const onError = (error: unknown): void => options.log.error("agents.start.record.failed", { error });
    this.#once = new Once({ store: this.#store, onError });
  }

  /** @throws AppError INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, INCONSISTENT_STATE, CONNECTION_LOST and what worktrees throw */
  async start(request: StartRequest): Promise<StartResult & { readonly repeated: boolean }> {
    const { idempotencyKey } = request;
    if (idempotencyKey === undefined) return { ...(await this.#first(request, () => undefined)), repeated: false };
    const key = [JSON.stringify(["start", idempotencyKey])];
    const digest = digestOf(request);
    const earlier = this.#once.earlier(key, digest);
    if (earlier !== undefined) return { ...(await earlier), repeated: true };
    const begun = this.#store.begun(key);
    if (begun !== undefined) requireSameRequest(begun.request, digest);
    const result = await this.#once.run(key, digest, (begin) =>
      begun === undefined ? this.#first(request, begin) : this.#goOn(request),
    );
    return { ...result, repeated: begun !== undefined };
  }

  async #first(request: StartRequest, begin: () => void): Promise<StartResult> {
    const { kind, name, prompt, worktree } = request;
    await requireDirectory(request.cwd);
    if (name !== undefined) this.#options.agents.requireFreeName(name);
    if (prompt !== undefined) promptText(prompt);
    const argv = await this.#argvOf(request);
    const made =
      worktree === undefined
        ? undefined
        : await this.#options.worktrees.create(request.cwd, worktree, name ?? kind.name);
    const cwd = made?.cwd ?? request.cwd;
    const session = this.#newSession(request, cwd);
    begin();
    const madeMs = this.#options.clock.nowMs();
    const command = inFrontOfShell(withOptions(request, argv, session.args), name ?? kind.name);
    const pane = await this.#makePane({ ...request, cwd }, command).catch(async (error: unknown) => {
      if (made !== undefined && NOT_MADE.has(toAppError(error).code)) await this.#unmake(made.worktree.name);
      throw error;
    });
    const path = made?.worktree.path ?? request.madeWorktree;
    const withdraw = this.#introduce(request, pane, factsOf(request, cwd, session, path));
    const result = await this.bringUp(request, pane, madeMs, path);
    // Its pane stays, and would keep its name taken.
    if (result.outcome === "ended") withdraw();
    return result;
  }

  /** What was made for an agent that does not come. */
  async #unmake(worktree: string): Promise<void> {
    const { worktrees, log } = this.#options;
    await worktrees.remove(worktree).catch((error: unknown) => log.warn("agents.start.worktree", { error }));
  }

  /** Its daemon ended after it had begun. @throws AppError INCONSISTENT_STATE if nothing of it is left */
  async #goOn(request: StartRequest): Promise<StartResult> {
    const { server, idempotencyKey = "" } = request;
    const records = await server.paneUserOptions(RECORD);
    const [pane] = [...records].find(([, record]) => record === digest(idempotencyKey)) ?? [];
    if (pane === undefined) {
      throw new AppError(
        "INCONSISTENT_STATE",
        "an earlier start with this key was cut short, and no pane of it is left; look at `tmuxwire panes`, then start with a new key",
      );
    }
    const worktree = this.#options.agents.inPane(server, pane)?.worktree;
    this.#introduce(request, pane, factsOf(request, request.cwd, { args: [] }, worktree));
    return this.bringUp(request, pane, this.#options.clock.nowMs(), worktree);
  }

  /** @throws AppError INVALID_ARGUMENT, NOT_FOUND */
  async #argvOf(request: StartRequest): Promise<readonly string[]> {
    const { kind, program = kind.name, args = [], resume, environment, cwd, server } = request;
    if (resume !== undefined && kind.resume === undefined) {
      throw invalidArgument(`${kind.title} cannot be started with a conversation's id; leave out resume`);
    }
    // It would be parsed as an option of the agent's.
    if (resume?.startsWith("-") === true) throw invalidArgument("resume must not begin with -");
    const path = environment?.["PATH"] ?? this.#options.paneEnvironment["PATH"] ?? "";
    // The PATH of a user's own server is its own.
    const isKnown = program.includes("/") || environment?.["PATH"] !== undefined || server.status().kind === "owned";
    if (isKnown && (await findProgram(program, path, cwd)) === undefined) {
      const where = program.includes("/")
        ? "does not exist or is not executable"
        : `is not on the PATH of the server (${path})`;
      throw new AppError("NOT_FOUND", `${program} ${where}; install it, or give its path as program`);
    }
    // Behind its own arguments: to some programs the first word is what to do.
    return withOptions(request, [program, ...args], resume === undefined ? [] : [...(kind.resume ?? []), resume]);
  }

  /** How its conversation will be known. */
  #newSession({ kind, args = [], resume, transcriptPath, environment }: StartRequest, cwd: string): BegunSession {
    if (resume !== undefined) return { args: [], sessionId: resume, transcriptPath };
    const begin = this.#options.transcripts.get(kind.name)?.begin;
    const isPlain = args[0]?.startsWith("-") !== false && !args.some((word) => NOT_NEW.test(word));
    if (begin === undefined || !isPlain) return { args: [] };
    return begin(randomUUID(), { cwd, environment: { ...this.#options.paneEnvironment, ...environment } });
  }

  /** Whoever appears in the pane has this name and these facts. Returns what withdraws that. */
  #introduce({ server, name }: StartRequest, pane: PaneId, facts: AgentFacts): () => void {
    const { agents, log } = this.#options;
    try {
      return agents.introduce(server, pane, { name, facts });
    } catch (error) {
      // Somebody else has taken the name in between: it runs under the name of its kind.
      log.warn("agents.start.name", { code: toAppError(error).code });
      return agents.introduce(server, pane, { facts });
    }
  }

  /** @throws AppError ALREADY_EXISTS, INVALID_ARGUMENT, NOT_FOUND, INCONSISTENT_STATE, CONNECTION_LOST */
  async #makePane(request: StartRequest, command: readonly string[]): Promise<PaneId> {
    const { server, where = { kind: "session" }, cwd, environment, name, kind, idempotencyKey } = request;
    const record = digest(idempotencyKey ?? randomUUID());
    const windowName = name ?? kind.name;
    const program = { command, cwd, environment };
    const userOptions = { [RECORD]: record };
    if (where.kind === "made") return where.make({ ...program, windowName, userOptions });
    if (where.kind === "session") {
      return this.#makeSession(server, where.name, windowName, {
        ...program,
        windowName,
        userOptions,
      });
    }
    if (where.kind === "window") {
      return newWindow(server, where.session, { ...program, windowName: where.name ?? windowName, userOptions });
    }
    const { pane, direction } = where;
    return madePane(server, { kind: "split-window", pane, direction, detached: true, ...program }, userOptions);
  }

  async #makeSession(
    server: TmuxServer,
    wanted: string | undefined,
    stem: string,
    program: Omit<Parameters<TmuxServer["createSession"]>[0], "name">,
  ): Promise<PaneId> {
    const promised = this.#promised.get(server) ?? new Set<string>();
    this.#promised.set(server, promised);
    const size = server.status().kind === "guest" ? {} : { cols: AGENT_COLS, rows: AGENT_ROWS };
    for (let tries = 1; ; tries += 1) {
      const name = wanted ?? (tries === 1 ? stem : `${stem}-${tries}`);
      if (wanted === undefined && (promised.has(name) || server.findSession(name) !== undefined)) continue;
      promised.add(name);
      try {
        const { activePane } = await server.createSession({ name, ...size, ...program });
        if (activePane !== undefined) return activePane;
        throw new AppError("INCONSISTENT_STATE", `session ${name} ended at once; look at \`tmuxwire sessions\``);
      } catch (error) {
        const isTaken = error instanceof AppError && error.code === "ALREADY_EXISTS";
        if (!isTaken || wanted !== undefined || tries > MAX_NAME_TRIES) throw error;
      } finally {
        promised.delete(name);
      }
    }
  }

  /** Until it is ready, and until it has taken its prompt. @throws AppError as a delivery does, unless its state is the reason */
  async bringUp(request: BringUpRequest, pane: PaneId, madeMs: number, worktree?: string): Promise<StartResult> {
    const { server, kind, hooked, timeoutMs = DEFAULT_TIMEOUT_MS } = request;
    const { clock, readiness, agents, log } = this.#options;
    const endMs = clock.nowMs() + timeoutMs;
    using watched = readiness.watch(server, pane, hooked === undefined ? {} : { profile: kind.name });
    let refusal: AppError | undefined;
    let readyMs: number | undefined;
    let seen: Readiness | undefined;
    const sinceMade = (): number => Math.round(clock.nowMs() - madeMs);
    const result = async (outcome: StartOutcome, more: Partial<StartResult> = {}): Promise<StartResult> => {
      const isFine = outcome === "ready" || outcome === "submitted" || outcome === "queued";
      const agentId = (this.#agentIn(server, pane) ?? agents.lastInPane(server, pane))?.id;
      log.info("agents.started", { agent: kind.name, outcome, readyMs });
      const screen = isFine ? undefined : await this.#screenOf(server, pane);
      return {
        agentId,
        pane,
        outcome,
        reason: undefined,
        dialog: undefined,
        screen,
        worktree,
        readyMs,
        takenMs: undefined,
        ...more,
      };
    };
    for (;;) {
      const leftMs = endMs - clock.nowMs();
      const state = await untilSettled(server, pane, watched, {
        agents,
        clock,
        timeoutMs: leftMs,
        profile: kind.name,
        hooked,
        seen,
      });
      if (state === "late") {
        const reason = refusal?.message ?? `it was not ready within ${timeoutMs / 1_000} s`;
        return result("late", { reason });
      }
      if (state === "ended") return result("ended", { reason: "it has ended; its last words are on its screen" });
      if (state === "asking") {
        return result("asking", { reason: ASKING, dialog: watched.current.dialog });
      }
      readyMs ??= sinceMade();
      if (request.prompt === undefined) return result("ready");
      seen = watched.current;
      try {
        return await this.#prompt(request, pane, watched, result, sinceMade);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== "WRONG_STATE") throw error;
        const { state: then, reason } = error.details ?? {};
        if (then === "asking") return result("asking", { reason: ASKING, dialog: watched.current.dialog });
        // Without a shell behind it, one that no longer reads from its pane is about to end.
        const isEnding = hooked !== undefined && (then === "dead" || reason === "program_changed");
        if (!isEnding && !MAY_PASS.has(String(then))) return result("refused", { reason: error.message });
        refusal = error;
      }
    }
  }

  async #prompt(
    { server, kind, prompt = "", idempotencyKey, hooked, typed, timeoutMs, startedBy }: BringUpRequest,
    pane: PaneId,
    watched: PaneReadiness,
    result: (outcome: StartOutcome, more?: Partial<StartResult>) => Promise<StartResult>,
    sinceMade: () => number,
  ): Promise<StartResult> {
    const { delivery, agents, nowUnixMs } = this.#options;
    const agent = this.#agentIn(server, pane);
    const sinceUnixMs = nowUnixMs();
    const isInFrontOfShell = hooked === undefined;
    const request = {
      text: prompt,
      timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
      idempotencyKey: idempotencyKey === undefined ? undefined : `agent_start:${digest(idempotencyKey)}`,
      addressee: isInFrontOfShell ? { isAgent: true, process: agent?.process } : undefined,
      ...typed,
    };
    const { idempotencyKey: key } = request;
    const { outcome, details } = await delivery.submit({
      ...request,
      server,
      pane,
      profile: kind.name,
      by: startedBy,
    });
    const isConfirmed = outcome === "submitted" || outcome === "queued";
    // What has a hook says itself that it works.
    const isLate = outcome === "echoed_unconfirmed" && agent !== undefined && isInFrontOfShell;
    const isTaken = isConfirmed || (isLate && (await this.#hasTaken(agent, prompt, sinceUnixMs, watched)));
    if (isTaken && agent !== undefined) agents.taken(agent, { text: prompt, sinceUnixMs, by: startedBy, key });
    // A question came instead of the turn.
    if (!isTaken && isInFrontOfShell && watched.current.state === "asking") {
      return result("asking", { reason: ASKING, dialog: watched.current.dialog });
    }
    if (isTaken) return result(isConfirmed ? outcome : "submitted", { takenMs: sinceMade() });
    return result(outcome, { reason: details?.screenNote ?? WHY[outcome], screenNote: details?.screenNote });
  }

  /** A first turn may show later than a delivery waits for it; its conversation or its hooks then tell. */
  async #hasTaken(agent: RunningAgent, prompt: string, sinceUnixMs: number, watched: PaneReadiness): Promise<boolean> {
    const { clock, transcripts, conversations } = this.#options;
    const hasHeard = (): boolean => hasTask(agent, prompt, sinceUnixMs);
    if (!transcripts.has(agent.kind.name)) return hasHeard();
    const endMs = clock.nowMs() + WRITTEN_WITHIN_MS;
    for (;;) {
      if (hasHeard() || (await conversations.turn(agent, prompt, sinceUnixMs - CLOCK_SLACK_MS))?.isTaken === true)
        return true;
      const leftMs = endMs - clock.nowMs();
      if (leftMs <= 0 || agent.endedUnixMs !== undefined || watched.current.state === "asking") return false;
      await within<void>(clock, Math.min(leftMs, WRITTEN_LOOK_MS), undefined, (end) => watched.subscribe(() => end()));
    }
  }

  /** Looked for now: its screen may be recognised before its process is, or before its launcher hands over to it. */
  #agentIn(server: TmuxServer, pane: PaneId): RunningAgent | undefined {
    this.#options.agents.check();
    return this.#options.agents.inPane(server, pane);
  }

  async #screenOf(server: TmuxServer, pane: PaneId): Promise<string | undefined> {
    try {
      const { lines } = await server.capture(pane);
      const written = lines.filter((line) => line.trim() !== "");
      return written.slice(-SCREEN_ROWS).join("\n");
    } catch {
      return undefined;
    }
  }
}

const ASKING = "it asks something first; answer it, then give it the prompt";
/** States that a program that starts goes through. */
const MAY_PASS = new Set(["starting", "busy", "unknown"]);

const WHY: Readonly<Record<DeliveryOutcome, string | undefined>> = {
  submitted: undefined,
  queued: undefined,
  echoed_unconfirmed: "the prompt was typed and Enter pressed, but it did not confirm it",
  not_echoed: "the prompt was pasted but did not appear on the screen, so Enter was not pressed",
  indeterminate: "the connection was lost while the prompt was typed; it may or may not have taken it",
};

export const newWindow = (
  server: TmuxServer,
  session: SessionId,
  { windowName: name, userOptions, command, cwd, environment }: Partial<StartProgram>,
): Promise<PaneId> =>
  madePane(server, { kind: "new-window", session, name, detached: true, command, cwd, environment }, userOptions);

/** With the options that it has from the beginning. */
export async function madePane(
  server: TmuxServer,
  request: Parameters<TmuxServer["layout"]["run"]>[0],
  options: StartProgram["userOptions"] = {},
): Promise<PaneId> {
  const { pane } = await server.layout.run(request);
  if (pane === undefined) throw new AppError("INCONSISTENT_STATE", "tmux has made no pane; look at `tmuxwire panes`");
  for (const [name, value] of Object.entries(options)) await server.setPaneUserOption(pane, name, value);
  return pane;
}

/** Of a key or a request, short enough for a pane's option. */
export const digest = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 22);

function digestOf(request: StartRequest): string {
  const { serverName, kind, program, args, environment, cwd, name, where, prompt, resume, worktree } = request;
  const parts = [serverName, kind.name, program, args, environment, cwd, name, where, prompt, resume, worktree];
  return digest(JSON.stringify(parts.map((part) => part ?? null)));
}

/** Where the agent's own options end; a program that starts it may have its command behind `--` (`op run -- AGENT`). */
const optionsEnd = (program: string, kind: Agent, words: readonly string[]): number =>
  basename(program) === kind.name && words.includes("--") ? words.indexOf("--") : words.length;

const withOptions = (
  { kind, program = kind.name }: StartRequest,
  argv: readonly string[],
  options: readonly string[],
): readonly string[] => argv.toSpliced(optionsEnd(program, kind, argv), 0, ...options);

/** Its arguments without those of its first start alone, and without a prompt behind `--`, which it has been given. */
export function argsToResume(kind: Agent, { program, args }: NonNullable<AgentFacts["launch"]>): readonly string[] {
  if (basename(program) !== kind.name) return args;
  const once = new Set(kind.once);
  return args.slice(0, optionsEnd(program, kind, args)).filter((word, at, words) => {
    const isValue = !word.startsWith("-") && once.has(words[at - 1] ?? "");
    return !isValue && !once.has(word.replace(/=.*/su, ""));
  });
}

function factsOf(
  { kind, program = kind.name, args = [], environment = {}, startedBy }: StartRequest,
  cwd: string,
  { sessionId, transcriptPath }: BegunSession,
  worktree: string | undefined,
): AgentFacts {
  return { sessionId, transcriptPath, worktree, launch: { program, args, environment, cwd, startedBy } };
}

/** @throws AppError INVALID_ARGUMENT */
async function requireDirectory(cwd: string): Promise<void> {
  const stats = await stat(cwd).catch(() => undefined);
  if (stats?.isDirectory() !== true) throw invalidArgument(`cwd: ${cwd} is not a directory`);
}
