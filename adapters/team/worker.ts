/** One worker: an interactive pi as the process of its own session's pane, and the prompt it is given once it takes one. */
import { basename } from "node:path";
import type { SessionInfo, TmuxServer } from "../../daemon/server/tmuxServer.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { TeamContext } from "./context.ts";
import { onTmux, teamError } from "./errors.ts";
import { SUBMIT_TIMEOUT_MS, WORKER_COLS, WORKER_ROWS } from "./limits.ts";
import { untilReady } from "./untilReady.ts";
import { guardPrompt } from "./workerPrompt.ts";

const PROFILE = "pi";

export interface Worker {
  readonly session: SessionInfo;
  readonly pane: PaneId;
  readonly madeAtMs: number;
}

export interface WorkerRequest {
  readonly teamId: string;
  /** As tmux will report it. */
  readonly name: string;
  readonly cwd: string;
  /** Of its pane, from the first moment. */
  readonly marks: Readonly<Record<string, string>>;
}

/** @throws AppError ALREADY_EXISTS, tmux_error */
export async function makeWorker(
  { worker, servers, clock }: TeamContext,
  server: TmuxServer,
  { teamId, name, cwd, marks }: WorkerRequest,
): Promise<Worker> {
  const command = `tmux -f /dev/null -S ${servers.socketPath(teamId)} new-session -d -s ${name}`;
  const madeAtMs = clock.nowMs();
  const session = await onTmux(command, () =>
    server.createSession({
      name,
      cwd,
      marks,
      command: worker.argv,
      environment: { ...worker.environment, PI_TEAM_ID: teamId, PI_AGENT_ID: name },
      windowName: basename(worker.argv[0] ?? PROFILE),
      cols: WORKER_COLS,
      rows: WORKER_ROWS,
      remainOnExit: true,
      direct: true,
    }),
  );
  const pane = session.activePane;
  if (pane !== undefined) return { session, pane, madeAtMs };
  throw teamError("tmux_error", `${command}: the session has no pane`, { command, stderr: "the session has no pane" });
}

export interface Prompted {
  readonly promptSubmitted: boolean;
  /** Undefined: it took no prompt in time. */
  readonly readyMs: number | undefined;
  /** From then until the prompt was known to be taken. */
  readonly submitMs?: number | undefined;
}

/** Waits until the worker takes a prompt and gives it one. The session is kept whatever comes of it. */
export async function promptWorker(
  context: TeamContext,
  server: TmuxServer,
  { pane, madeAtMs }: Worker,
  prompt: string,
): Promise<Prompted> {
  const { clock, worker, readiness, delivery, log } = context;
  let readyMs: number | undefined;
  try {
    using watched = readiness.watch(server, pane, { profile: PROFILE });
    const { readyTimeoutMs: timeoutMs, hooked } = worker;
    if ((await untilReady(watched, { clock, timeoutMs, hooked })) !== "ready") {
      return { promptSubmitted: false, readyMs };
    }
    readyMs = Math.round(clock.nowMs() - madeAtMs);
    const text = guardPrompt(prompt);
    const { outcome } = await delivery.submit({ server, pane, text, profile: PROFILE, timeoutMs: SUBMIT_TIMEOUT_MS });
    const submitMs = Math.round(clock.nowMs() - madeAtMs) - readyMs;
    return { promptSubmitted: outcome === "submitted" || outcome === "queued", readyMs, submitMs };
  } catch (error) {
    // The worker is there, and whoever asked is told that it was not prompted.
    if (!(error instanceof AppError) || error.code === "INTERNAL_ERROR") throw error;
    log.warn("team.prompt.failed", { pane, code: error.code });
    return { promptSubmitted: false, readyMs };
  }
}
