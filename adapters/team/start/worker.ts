/** One worker: an interactive agent in the pane of its own session, and the prompt it gets once it is ready. */
import { basename } from "node:path";
import type { Delivery } from "../../../daemon/delivery/delivery.ts";
import { findProgram } from "../../../daemon/host/findProgram.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import type { Dialog } from "../../../daemon/readiness/readiness.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { untilSo } from "../../../daemon/time/within.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { TeamStartOutcome } from "../../../protocol/api/team.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Agent } from "../../agents/catalogue.ts";
import type { AgentMessages } from "../../agents/messages/agentMessages.ts";
import type { AgentDirectory } from "../../agents/running/agentDirectory.ts";
import type { AgentFacts } from "../../agents/running/runningAgent.ts";
import { AGENT_COLS, AGENT_ROWS, type AgentStarts } from "../../agents/start/agentStarts.ts";
import { onTmux, teamError } from "../teamErrors.ts";
import { EXIT_REPORTED_WITHIN_MS, SUBMIT_TIMEOUT_MS } from "../teamLimits.ts";
import type { TeamdOf } from "../teamd/discovery.ts";
import type { TeamPlace, TeamServers } from "../teamServers.ts";
import { recordOption, type StartRecord } from "./startRecord.ts";
import { guardPrompt } from "./workerPrompt.ts";

/** Whose extension this is, and the profile of `team.workerArgv`. */
export const PI = "pi";

/** How a worker is started. */
export interface TeamWorker {
  /** Its profile, and its name in the catalogue. */
  readonly agent: string;
  /** Its interactive program; executed without a shell. */
  readonly argv: readonly string[];
  /** Whether `argv` loads the hook that reports when pi is ready for a prompt. */
  readonly hooked: boolean;
  /** The variables of every worker, including PATH, in addition to its team, its name and its thread. */
  readonly environment: Readonly<Record<string, string>>;
  /** The default directory of a worker. */
  readonly homeDir: string;
  readonly readyTimeoutMs: number;
}

/** @param agent undefined: that of `team.workerArgv`. @throws AppError invalid_argument */
type WorkerOf = (agent?: string) => TeamWorker;

export const workerFinder =
  (own: TeamWorker, catalogue: readonly Agent[]): WorkerOf =>
  (agent = own.agent) => {
    if (agent === own.agent) return own;
    if (catalogue.some(({ name }) => name === agent)) return { ...own, agent, argv: [agent], hooked: false };
    const names = catalogue.map(({ name }) => name).join(", ");
    throw teamError("invalid_argument", `agent: ${JSON.stringify(agent)} is not known; give one of ${names}`);
  };

/** One that exists. */
export interface Worker extends TeamPlace {
  /** Undefined: by an earlier daemon, which did not come to the end of its start. */
  readonly madeAtMs?: number | undefined;
}

interface WorkerRequest {
  readonly worker: TeamWorker;
  readonly teamId: string;
  /** The name as tmux will report it. */
  readonly name: string;
  readonly cwd: string;
  /** Its pane has it from the beginning; undefined for a worker that no start made. */
  readonly record: StartRecord | undefined;
  /** That it goes on with. */
  readonly conversation?: Pick<AgentFacts, "sessionId" | "transcriptPath"> | undefined;
}

/** Refuses a program that cannot be started, before anything is made. @throws AppError worker_not_found */
export async function requireWorker({ agent, argv, environment }: TeamWorker, cwd: string): Promise<void> {
  const [name = agent] = argv;
  const path = environment["PATH"] ?? "";
  if ((await findProgram(name, path, cwd)) !== undefined) return;
  const where = name.includes("/") ? "does not exist or is not executable" : `was not found on PATH (${path})`;
  throw teamError(
    "worker_not_found",
    `${name} ${where}: install it for the user that runs the daemon, or set team.workerArgv (PI_TEAM_WORKER_ARGV), ` +
      "then restart the daemon if its PATH has changed",
  );
}

/** What the contract's operations work with. */
export interface TeamParts {
  readonly servers: TeamServers;
  readonly agents: AgentDirectory;
  readonly messages: AgentMessages;
  readonly delivery: Pick<Delivery, "interrupt">;
  readonly starts: Pick<AgentStarts, "bringUp">;
  readonly workerOf: WorkerOf;
  readonly teamdOf: TeamdOf;
  readonly clock: Clock;
  readonly log: Log;
}

/** @throws AppError ALREADY_EXISTS, tmux_error */
export async function makeWorker(
  { servers, agents, clock }: TeamParts,
  server: TmuxServer,
  { worker, teamId, name, cwd, record, conversation }: WorkerRequest,
): Promise<Worker> {
  const command = `tmux -f /dev/null -S ${servers.socketPath(teamId)} new-session -d -s ${name}`;
  const madeAtMs = clock.nowMs();
  const session = await onTmux(command, () =>
    server.createSession({
      name,
      cwd,
      userOptions: record === undefined ? {} : recordOption(record),
      command: worker.argv,
      environment: {
        ...worker.environment,
        PI_TEAM_ID: teamId,
        PI_AGENT_ID: name,
        PI_TEAM_THREAD_ID: record?.threadId ?? "",
      },
      windowName: basename(worker.argv[0] ?? worker.agent),
      cols: AGENT_COLS,
      rows: AGENT_ROWS,
      remainOnExit: "whereSafe",
      direct: true,
    }),
  );
  const place = servers.place(teamId, server, session);
  if (place === undefined)
    throw teamError("tmux_error", `${command}: the session has no pane`, { command, stderr: "" });
  const [program = worker.agent, ...args] = worker.argv;
  // Without its environment, which may hold what `team.passEnvironment` names.
  const facts = { ...conversation, launch: { program, args, environment: {}, cwd, startedBy: `team:${teamId}` } };
  // Of another team, too, there may be a worker-1.
  const agentName = [name, `${teamId}-${name}`].find((wanted) => agents.isFreeName(wanted));
  agents.introduce(server, place.pane, { name: agentName, facts });
  return { ...place, madeAtMs };
}

export const startOf = (
  agents: AgentDirectory,
  server: TmuxServer,
  { agent, hooked, readyTimeoutMs: timeoutMs }: TeamWorker,
) => ({ server, kind: agents.kind(agent), hooked, timeoutMs, startedBy: "team" });

interface Prompted extends Pick<StartRecord, "detail" | "readyMs"> {
  readonly outcome: TeamStartOutcome;
  /** From when it was ready until the prompt was confirmed as taken. */
  readonly submitMs?: number | undefined;
}

/**
 * Waits until the worker is ready and gives it the prompt. The session is kept, whatever the outcome.
 * @param key of the delivery: with the same key nothing is typed twice, not even by another daemon.
 */
export async function promptWorker(
  { agents, starts, clock, log }: TeamParts,
  program: TeamWorker,
  { server, pane, madeAtMs }: Worker,
  prompt: string,
  key: string,
): Promise<Prompted> {
  const isPi = program.agent === PI;
  // The hook takes the guard away again.
  const text = isPi ? guardPrompt(prompt) : prompt;
  const typed = { text, literal: !isPi, timeoutMs: SUBMIT_TIMEOUT_MS, idempotencyKey: key };
  try {
    const request = { ...startOf(agents, server, program), prompt, typed };
    const started = await starts.bringUp(request, pane, madeAtMs ?? clock.nowMs());
    const { outcome, reason, dialog, screenNote, readyMs, takenMs } = started;
    if (outcome === "ready" || outcome === "ended") return { outcome: "ended", readyMs };
    if (outcome === "asking" || outcome === "late" || outcome === "refused") {
      const detail = outcome === "asking" ? asks(dialog) : reason;
      if (readyMs !== undefined) return { outcome: "refused", detail, readyMs };
      return { outcome: "not_ready", detail: outcome === "asking" ? detail : undefined };
    }
    const isCutShort = outcome === "indeterminate" && madeAtMs === undefined;
    const detail = screenNote === undefined ? (isCutShort ? CUT_SHORT : undefined) : `${SHOWS}: ${screenNote}`;
    return { outcome, detail, readyMs, submitMs: takenMs === undefined ? undefined : takenMs - (readyMs ?? 0) };
  } catch (error) {
    // The worker exists; the response says that it got no prompt.
    if (!(error instanceof AppError) || error.code === "INTERNAL_ERROR") throw error;
    log.warn("team.prompt.failed", { pane, code: error.code });
    return { outcome: "refused", detail: error.message };
  }
}

const asks = (dialog: Dialog | undefined): string =>
  `the worker asks something first${dialog === undefined ? "" : `: ${dialog.text.split("\n").slice(0, 3).join(" ")}`}`;

const SHOWS = "the prompt was typed and Enter pressed; the worker shows";
const CUT_SHORT = "the daemon ended while it typed the prompt, so it is not typed again";

/** Waits until tmux has reported how the pane's program ended; the host reports a little earlier that it is gone. */
export const untilExitReported = (
  server: TmuxServer,
  pane: PaneId,
  clock: Clock,
  ms = EXIT_REPORTED_WITHIN_MS,
): Promise<boolean> => {
  const isReported = (): boolean => {
    const found = server.findPane(pane);
    return found === undefined || found.exit !== undefined;
  };
  return untilSo(clock, ms, isReported, (check) => server.subscribe(check));
};
