/**
 * `POST /api/respond/:id` (docs/contracts/dashboard.md §2). The order of the refusals is the contract's: body, agent, pane,
 * state, delivery. One answer per agent is under way at a time; a second one is told that the agent does not wait.
 */
import type { DeliveryOutcome } from "../../../daemon/delivery/delivery.ts";
import { respondSchema } from "../../../protocol/api/dashboard.ts";
import { type AddresseeRequest, readersNow } from "../../../daemon/delivery/pane/addressee.ts";
import { toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { type Agent, type AnswerUnderWay, openTask } from "../agents/agent.ts";
import type { Route } from "../../kit/guard/routes.ts";
import { MAX_KEY_CHARS, RESPOND_MAX_BODY_BYTES } from "../dashboardLimits.ts";
import type { DashboardParts } from "../dashboardParts.ts";
import { agentIdOf, POST, REFUSED } from "../dashboardRoutes.ts";
import { AnswerKeys, requestHash } from "./answerKeys.ts";
import { type Answer, type Delivered, deliverAnswer, pressSlowly } from "./deliverAnswer.ts";
import * as failures from "./failures.ts";
import { parseRespond, type RespondRequest } from "./respondRequest.ts";

export function respondRoutes(parts: DashboardParts): readonly Route[] {
  const answers = new AnswerKeys(parts);
  return [
    {
      ...POST,
      path: "/api/respond/:id{[0-9]+}",
      maxRawBytes: RESPOND_MAX_BODY_BYTES,
      response: { ...REFUSED, 200: respondSchema },
      errors: ["NOT_FOUND", "RESOURCE_LIMIT"],
      idempotent: true,
      handle: async (c) => {
        const key = c.req.header("idempotency-key")?.trim().slice(0, MAX_KEY_CHARS);
        const bytes = c.get("raw");
        return failures.respondWith(
          c,
          await respond(parts, answers, agentIdOf(c), bytes, key === "" ? undefined : key),
        );
      },
    },
  ];
}

async function respond(
  parts: DashboardParts,
  answers: AnswerKeys,
  agentId: number,
  bytes: Uint8Array,
  key: string | undefined,
): Promise<failures.RespondResponse> {
  const { book, clock } = parts;
  const startedMs = clock.nowMs();
  const request = parseRespond(bytes);
  if ("status" in request) return request;
  const agent = book.find(agentId);
  if (agent === undefined) return failures.agentNotFound(agentId);
  const { tmuxPaneId } = agent.record;
  const readers = tmuxPaneId === undefined ? undefined : readersNow(parts.server, tmuxPaneId);
  const identity = { agentId, key, hash: requestHash(bytes) };
  const earlier = await answers.earlier(identity);
  if (earlier !== undefined) return earlier;
  const pane = await targetOf(parts, agent, request);
  if (typeof pane !== "string") return pane;
  const addressee = { ...parts.panes.addresseeOf(agent), readers };
  const target: Target = { agent, pane, addressee, latencyMs: () => Math.round(clock.nowMs() - startedMs) };
  if (request.mode === "keys") return answers.first(identity, () => pressed(parts, target, request.keys));
  parts.store.requireWritable();
  // Finding the reason of a refusal may have taken a moment.
  if (agent.answer !== undefined) return notWaiting("processing");
  return answers.first(identity, () => delivered(parts, target, request));
}

interface Target {
  readonly agent: Agent;
  readonly pane: PaneId;
  /** Among who read from its pane as the answer arrived: whoever comes after that is not the one who is answered. */
  readonly addressee: AddresseeRequest;
  /** Since then. */
  readonly latencyMs: () => number;
}

const notWaiting = (state: string): failures.Failure =>
  failures.wrongState(`Agent is not awaiting input (current state: ${state}).`);

/** The pane to type into, or why there is none. */
async function targetOf(
  parts: DashboardParts,
  agent: Agent,
  { mode, dialogId }: RespondRequest,
): Promise<PaneId | failures.Failure> {
  const { tmuxPaneId } = agent.record;
  if (tmuxPaneId === undefined) return failures.noPane("send input");
  await parts.panes.places.identified(agent);
  const state = openTask(agent)?.state ?? "no_task";
  // A task that has ended with its pane is not the reason that helps.
  const isWaiting =
    state === "awaiting_input" || (state === "no_task" && parts.panes.places.livePane(agent) === undefined);
  if (mode !== "keys") {
    if (!isWaiting) return parts.panes.places.hasEnded(agent) ? failures.PROGRAM_ENDED : notWaiting(state);
    if (agent.answer !== undefined) return notWaiting("processing");
  }
  const pane = await failures.usablePane(parts, agent, tmuxPaneId);
  // The connection may have been lost and made anew.
  if (typeof pane !== "string" || mode === "keys") return pane;
  if (openTask(agent)?.state !== "awaiting_input") return notWaiting("no_task");
  const isOthers = agent.othersTurnId !== undefined && agent.question?.turn.id === agent.othersTurnId;
  return isOthers && dialogId === undefined ? failures.ASKED_BY_ANOTHER : pane;
}

async function pressed(
  parts: DashboardParts,
  target: Target,
  keys: readonly string[],
): Promise<failures.RespondResponse> {
  const { agent, pane, latencyMs } = target;
  try {
    await pressSlowly(parts, target, keys);
  } catch (error) {
    return timed(await explained(parts, pane, error), latencyMs());
  }
  return successResponse(agent, {
    mode: "keys",
    new_state: openTask(agent)?.state ?? "idle",
    latency_ms: latencyMs(),
    delivery: "submitted",
  });
}

async function delivered(parts: DashboardParts, target: Target, request: Answer): Promise<failures.RespondResponse> {
  const { panes, desk, log } = parts;
  const { agent, pane, addressee } = target;
  const { question } = agent;
  using underWay = begun(parts, agent, turnText(request));
  let result: Delivered | undefined;
  let failure: failures.Failure | undefined;
  try {
    result = await deliverAnswer(parts, { pane, watch: panes.watchOf(agent), question, addressee }, request);
    failure = FAILED[result.outcome];
  } catch (error) {
    failure = await explained(parts, pane, error);
    // What stands on the screen is no reason where nobody reads it any more.
    const isRefused = failure.status === 409 && failure.body.reason === undefined && !failure.isKept;
    if (isRefused && panes.places.hasEnded(agent)) failure = failures.PROGRAM_ENDED;
    if (failure.body.error_type === "unknown") log.error("dashboard.respond.failed", { agent: agent.record.id, error });
  }
  const latencyMs = target.latencyMs();
  const screenNote = result?.details?.screenNote;
  // A hook that has reported the prompt knows better than a connection that was lost meanwhile.
  if (failure !== undefined && !underWay.isRecorded) {
    if (failure.isKept) {
      const unsure = failure === failures.NOT_ECHOED ? "not_echoed" : "indeterminate";
      const delivery = failures.isLeftInBox(failure) ? "not_entered" : unsure;
      desk.delivered(agent, { delivery, screenNote, mode: request.mode, latencyMs });
      desk.refreshCard(agent, "respond_failed");
    }
    // Its state follows at once.
    if (failure.body.reason === failures.PROGRAM_CHANGED) panes.evaluate(agent);
    return timed(failure, latencyMs);
  }
  // A hook that has reported the prompt is the program's own word for it.
  const outcome = underWay.isRecorded || result === undefined || failure !== undefined ? "submitted" : result.outcome;
  desk.delivered(agent, { delivery: outcome, screenNote, mode: request.mode, latencyMs });
  if (underWay.isRecorded) desk.refreshCard(agent, "respond");
  const isTaken = outcome !== "echoed_unconfirmed";
  underWay.record({ isReported: result?.isPrompt !== true, isTaken });
  const newState = isTaken ? "processing" : (openTask(agent)?.state ?? "idle");
  const told = { latency_ms: latencyMs, delivery: outcome, screen_note: screenNote };
  return successResponse(agent, { mode: request.mode, new_state: newState, ...told });
}

/** A pane that ends takes its connection with it, which is not the reason that helps. */
async function explained({ server, panes }: DashboardParts, pane: PaneId, thrown: unknown): Promise<failures.Failure> {
  const failure = failures.failureOf(thrown);
  if (toAppError(thrown).code !== "CONNECTION_LOST" || failure.isKept) return failure;
  await panes.presence.settled();
  const error = await server.describePane(pane).then(() => undefined, toAppError);
  return error?.code === "NOT_FOUND" ? failures.paneGone(pane) : failure;
}

/** The agent's answer until it is disposed of: recorded once, by its delivery or by a hook, whichever is first. */
function begun({ desk, panes }: DashboardParts, agent: Agent, text: string): AnswerUnderWay & Disposable {
  const { question } = agent;
  let isRecorded = false;
  const answer: AnswerUnderWay & Disposable = {
    text,
    get isRecorded() {
      return isRecorded;
    },
    record: ({ isReported, isTaken }) => {
      if (isRecorded) return;
      isRecorded = true;
      const turn = { text, answersTurnId: question?.turn.id, isEchoPending: !isReported };
      desk.answered(agent, turn, isTaken, agent.question?.turn.id === question?.turn.id);
    },
    [Symbol.dispose]: () => {
      agent.answer = undefined;
      panes.screens.answerOver(agent);
    },
  };
  agent.answer = answer;
  return answer;
}

const FAILED: Readonly<Partial<Record<DeliveryOutcome, failures.Failure>>> = {
  not_echoed: failures.NOT_ECHOED,
  indeterminate: failures.INDETERMINATE,
};

/** Its text in the history. */
function turnText(request: Answer): string {
  switch (request.mode) {
    case "text":
    case "other":
      return request.text;
    case "select":
      return request.label === undefined || request.label.trim() === ""
        ? `[selected option ${request.index}]`
        : request.label;
    case "multi_select": {
      const parts = request.answers.map(({ indices, isMulti }, place) =>
        isMulti ? `Q${place + 1}: options [${indices.join(", ")}]` : `Q${place + 1}: option ${indices[0] ?? 0}`,
      );
      return `[multi-select: ${parts.join(", ")}]`;
    }
  }
}

const timed = (failure: failures.Failure, latency_ms: number): failures.Failure => ({
  ...failure,
  body: { ...failure.body, latency_ms },
});

const successResponse = (agent: Agent, told: failures.RespondResponse["body"]): failures.RespondResponse => ({
  status: 200,
  body: { status: "ok", agent_id: agent.record.id, ...told },
  isKept: true,
});
