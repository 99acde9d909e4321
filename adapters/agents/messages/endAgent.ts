/**
 * Ends an agent the way a person would: with its own words, once nothing would be lost. Only with `force` is more done: its
 * turn is interrupted, its box emptied, and if it still runs its process group is hung up and then killed. Its pane and the
 * shell below it stay.
 */
import type { Delivery } from "../../../daemon/delivery/delivery.ts";
import { isRunning } from "../../../daemon/panes/foreground.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import type { NativeEndedAgent } from "../../../protocol/api/native/nativeAgentMessages.ts";
import { AppError, isCutShort, toAppError } from "../../../protocol/errors.ts";
import type { AgentDirectory } from "../running/agentDirectory.ts";
import { stateOf } from "../running/agentState.ts";
import type { RunningAgent } from "../running/runningAgent.ts";
import type { AgentMessages } from "./agentMessages.ts";
import { addresseeOf } from "./messageQueue.ts";

interface EndParts {
  readonly agents: AgentDirectory;
  readonly messages: AgentMessages;
  readonly delivery: Delivery;
  readonly clock: Clock;
}

interface EndRequest {
  readonly force: boolean;
  /** For its own way. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A process that is hung up or killed is gone within this, on a busy machine. */
const SIGNAL_WITHIN_MS = 5_000;

/** @throws AppError WRONG_STATE (`details.lost`: what would be), TIMEOUT: it still runs */
export async function endAgent(parts: EndParts, agent: RunningAgent, request: EndRequest): Promise<NativeEndedAgent> {
  const { messages, clock } = parts;
  const startedMs = clock.nowMs();
  const done = (endedBy: NativeEndedAgent["endedBy"], cancelled = 0): NativeEndedAgent => ({
    endedBy,
    cancelled,
    elapsedMs: Math.round(clock.nowMs() - startedMs),
  });
  if (agent.endedUnixMs !== undefined) return done("before");
  const release = messages.hold(agent);
  try {
    const waiting = messages.waitingFor(agent);
    if (!request.force) await requireNothingLost(parts, agent, waiting.length);
    const words = agent.kind.exit;
    if (words === undefined && !request.force) {
      throw new AppError(
        "WRONG_STATE",
        `how ${agent.kind.title} is told to end is not known; end it in its pane, or force it`,
      );
    }
    for (const { id } of waiting) messages.cancel(id);
    if (words !== undefined) await leave(parts, agent, words, request);
    if (await hasEnded(parts, agent, request.timeoutMs, request.signal)) return done("itself", waiting.length);
    if (!request.force) throw runsOn(agent);
    for (const name of ["SIGHUP", "SIGKILL"] as const) {
      signal(agent, name);
      if (await hasEnded(parts, agent, SIGNAL_WITHIN_MS, request.signal)) return done(name, waiting.length);
    }
    throw runsOn(agent);
  } finally {
    release();
  }
}

/** @throws AppError WRONG_STATE */
async function requireNothingLost({ agents, delivery }: EndParts, agent: RunningAgent, waiting: number): Promise<void> {
  const { server, pane, name } = agent;
  await agents.probe(agent);
  const { state } = stateOf(agent);
  const typed = state === "ready" ? (await delivery.look({ server, pane })).typed : undefined;
  const lost = [
    ...(state === "busy" ? ["its turn"] : []),
    ...(state === "asking" ? ["the question that it has open"] : []),
    ...(typed === undefined || typed === "" ? [] : ["the text in its box"]),
    ...(waiting === 0 ? [] : [waiting === 1 ? "a message that waits for it" : `${waiting} messages that wait for it`]),
  ];
  if (lost.length === 0 && state === "ready") return;
  const why = lost.length === 0 ? `it is ${state}` : `lost would be: ${lost.join(", ")}`;
  throw new AppError(
    "WRONG_STATE",
    `the agent ${JSON.stringify(name)} was not ended: ${why}; wait for it, or force it`,
    {
      details: { state, lost, waiting, ...(typed === undefined || typed === "" ? {} : { box: typed }) },
    },
  );
}

/** Tells it to end. What is refused with `force` is left to signals. */
async function leave(
  { agents, delivery }: EndParts,
  agent: RunningAgent,
  words: string,
  { force, timeoutMs, signal: caller }: EndRequest,
): Promise<void> {
  const { server, pane } = agent;
  const addressee = addresseeOf(agent);
  try {
    if (force) {
      if ((await agents.probe(agent)).state === "busy") await delivery.interrupt(server, pane, addressee);
      // A question is answered by nobody: a signal ends it.
      if ((await agents.probe(agent)).state !== "idle") return;
      const { typed = "" } = await delivery.look({ server, pane });
      if (typed !== "") await delivery.clear(server, pane);
    }
    await delivery.submit({ server, pane, text: words, addressee, timeoutMs, signal: caller, by: "end" });
  } catch (error) {
    const { code, details } = toAppError(error);
    const isGone = code === "NOT_FOUND" || details?.["reason"] === "program_changed";
    if (isCutShort(error) || !(force || isGone)) throw error;
  }
}

async function hasEnded(
  { agents, messages }: EndParts,
  agent: RunningAgent,
  timeoutMs: number,
  caller: AbortSignal | undefined,
): Promise<boolean> {
  try {
    agents.check();
    await messages.reached(agent, { for: ["ended"], stalledSec: 1, timeoutMs, signal: caller });
    return true;
  } catch (error) {
    if (toAppError(error).code === "TIMEOUT") return false;
    throw error;
  }
}

/** Its process group, unless that is the shell's it was started from. */
function signal({ process, server, pane }: RunningAgent, name: "SIGHUP" | "SIGKILL"): void {
  const { processes } = server;
  if (!isRunning(process, processes)) return;
  const group = processes.statNow(process.pid)?.group;
  const panePid = server.findPane(pane)?.pid;
  const shell = panePid === undefined ? undefined : processes.statNow(panePid)?.group;
  processes.signal(group === undefined || group <= 1 || group === shell ? process.pid : -group, name);
}

const runsOn = ({ name }: RunningAgent): AppError =>
  new AppError(
    "TIMEOUT",
    `the agent ${JSON.stringify(name)} was told to end and still runs; look at its pane, or force it`,
  );
