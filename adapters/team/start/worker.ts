/** One worker: an interactive agent in the pane of its own session, and the prompt it gets once it is ready. */
import { basename } from "node:path";
import type { SessionInfo } from "../../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { TeamStartOutcome } from "../../../protocol/api/team.ts";
import type { Readiness } from "../../../daemon/readiness/readiness.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { untilSettled } from "../../agents/start/untilSettled.ts";
import type { TeamContext, TeamWorker } from "../teamContext.ts";
import { onTmux, teamError } from "../teamErrors.ts";
import { SUBMIT_TIMEOUT_MS, WORKER_COLS, WORKER_ROWS } from "../teamLimits.ts";
import { findProgram } from "../../../daemon/host/findProgram.ts";
import { isTaken } from "./startResponse.ts";
import { untilEnded } from "./workerEnds.ts";
import { guardPrompt } from "./workerPrompt.ts";

export interface Worker {
  readonly session: SessionInfo;
  readonly pane: PaneId;
  readonly madeAtMs: number;
}

interface WorkerRequest {
  readonly worker: TeamWorker;
  readonly teamId: string;
  /** The name as tmux will report it. */
  readonly name: string;
  readonly cwd: string;
  readonly threadId: string;
  /** User options that its pane has from the beginning. */
  readonly userOptions: Readonly<Record<string, string>>;
}

/** What a start asks for. @throws AppError invalid_argument */
export function workerFor({ worker, catalogue }: TeamContext, agent: string | undefined): TeamWorker {
  if (agent === undefined || agent === worker.agent) return worker;
  if (catalogue.some(({ name }) => name === agent)) return { ...worker, agent, argv: [agent], hooked: false };
  const names = catalogue.map(({ name }) => name).join(", ");
  throw teamError("invalid_argument", `agent: ${JSON.stringify(agent)} is not known; give one of ${names}`);
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

/** @throws AppError ALREADY_EXISTS, tmux_error */
export async function makeWorker(
  { servers, agents, clock }: TeamContext,
  server: TmuxServer,
  { worker, teamId, name, cwd, threadId, userOptions }: WorkerRequest,
): Promise<Worker> {
  const command = `tmux -f /dev/null -S ${servers.socketPath(teamId)} new-session -d -s ${name}`;
  const madeAtMs = clock.nowMs();
  const session = await onTmux(command, () =>
    server.createSession({
      name,
      cwd,
      userOptions,
      command: worker.argv,
      environment: { ...worker.environment, PI_TEAM_ID: teamId, PI_AGENT_ID: name, PI_TEAM_THREAD_ID: threadId },
      windowName: basename(worker.argv[0] ?? worker.agent),
      cols: WORKER_COLS,
      rows: WORKER_ROWS,
      remainOnExit: "whereSafe",
      direct: true,
    }),
  );
  const pane = session.activePane;
  if (pane === undefined) throw teamError("tmux_error", `${command}: the session has no pane`, { command, stderr: "" });
  const [program = worker.agent, ...args] = worker.argv;
  // Without its environment, which may hold what `team.passEnvironment` names.
  const facts = { launch: { program, args, environment: {}, cwd, startedBy: `team:${teamId}` } };
  // Of another team, too, there may be a worker-1.
  const agentName = [name, `${teamId}-${name}`].find((wanted) => agents.isFreeName(wanted));
  agents.introduce(server, pane, { name: agentName, facts });
  return { session, pane, madeAtMs };
}

interface Prompted {
  readonly outcome: TeamStartOutcome;
  /** Why it was not taken. */
  readonly detail?: string | undefined;
  /** How long it took to be ready; undefined if it was not ready in time. */
  readonly readyMs: number | undefined;
  /** From then until the prompt was confirmed as taken. */
  readonly submitMs?: number | undefined;
}

/**
 * Waits until the worker is ready and gives it the prompt. The session is kept, whatever the outcome.
 * @param key of the delivery: with the same key nothing is typed twice, not even by another daemon.
 */
export async function promptWorker(
  context: TeamContext,
  server: TmuxServer,
  worker: TeamWorker,
  { pane, madeAtMs }: Worker,
  prompt: string,
  key: string,
): Promise<Prompted> {
  const { agents, clock, readiness, delivery, log } = context;
  const { agent: profile, hooked } = worker;
  let readyMs: number | undefined;
  try {
    using watched = readiness.watch(server, pane, { profile });
    const settle = { agents, clock, timeoutMs: worker.readyTimeoutMs, profile, hooked };
    const ready = await untilSettled(server, pane, watched, settle);
    if (ready === "asking") return { outcome: "not_ready", detail: asks(watched.current), readyMs };
    if (ready !== "ready") return { outcome: ready === "ended" ? "ended" : "not_ready", readyMs };
    readyMs = Math.round(clock.nowMs() - madeAtMs);
    try {
      const {
        outcome,
        repeated = false,
        details,
      } = await delivery.submit({
        server,
        pane,
        // The hook takes the guard away again.
        text: profile === context.worker.agent ? guardPrompt(prompt) : prompt,
        literal: profile !== context.worker.agent,
        profile,
        timeoutMs: SUBMIT_TIMEOUT_MS,
        idempotencyKey: key,
      });
      const submitMs = Math.round(clock.nowMs() - madeAtMs) - readyMs;
      const hasTaken = isTaken(outcome);
      if (!hasTaken) await untilEnded(watched, clock);
      return { outcome, readyMs, submitMs, detail: hasTaken ? undefined : whyNot(details?.screenNote, repeated) };
    } catch (error) {
      if (hasLeft(error) && (await untilEnded(watched, clock))) return { outcome: "ended", readyMs };
      throw error;
    }
  } catch (error) {
    // The worker exists; the response says that it got no prompt.
    if (!(error instanceof AppError) || error.code === "INTERNAL_ERROR") throw error;
    log.warn("team.prompt.failed", { pane, code: error.code });
    return { outcome: "refused", detail: error.message, readyMs };
  }
}

const asks = ({ dialog }: Readiness): string =>
  `the worker asks something first${dialog === undefined ? "" : `: ${dialog.text.split("\n").slice(0, 3).join(" ")}`}`;

/** Prefers what the worker shows, which says more than what was done. */
function whyNot(screenNote: string | undefined, isRepeated: boolean): string | undefined {
  if (screenNote !== undefined) return `the prompt was typed and Enter pressed; the worker shows: ${screenNote}`;
  return isRepeated ? CUT_SHORT : undefined;
}

const CUT_SHORT = "the daemon ended while it typed the prompt, so it is not typed again";

/** Whether its program no longer reads from the pane: it is ending, or was stopped. */
const hasLeft = (error: unknown): boolean =>
  error instanceof AppError && (error.details?.["reason"] === "program_changed" || error.details?.["state"] === "dead");
