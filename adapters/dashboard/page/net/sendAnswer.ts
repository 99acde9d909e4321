/**
 * One answer or prompt, delivered once: every try has the same idempotency key, so a try that the daemon has already carried out gets
 * the same response and is not typed twice. Retried are responses that the contract calls temporary (502, 503) and none.
 */
import type { Clock } from "../../../../daemon/time/clock.ts";
import { sleep } from "../../../../daemon/time/within.ts";
import { Refused } from "../../../pages/askServer.ts";
import type { DashboardDelivery } from "../../../../protocol/api/dashboard.ts";
import type { NativeDelivery } from "../../../../protocol/api/native/nativeDelivery.ts";
import type { AgentCard } from "../model/agentCard.ts";
import { type Answer, farAnswerBody, respondBody } from "../model/answers.ts";
import type { Answered, Api } from "./api.ts";

export type AnswerResult =
  | {
      readonly kind: "delivered";
      readonly delivery: string;
      /** Undefined: not measured. */
      readonly latencyMs: number | undefined;
      /** What the screen says since: foreign text. */
      readonly screenNote: string | undefined;
    }
  | {
      readonly kind: "failed";
      readonly errorType: string;
      readonly message: string;
      readonly textWritten: boolean;
    };

interface SendOnceOptions {
  /** Every try has the same idempotency key. */
  readonly send: (signal: AbortSignal) => Promise<Answered>;
  readonly clock: Clock;
  /** Before each try after the first. */
  readonly onRetry: (tryNumber: number) => void;
}

interface SendAnswerOptions extends Omit<SendOnceOptions, "send"> {
  readonly api: Pick<Api, "respond" | "operate">;
  readonly card: AgentCard;
  readonly answer: Answer;
  readonly idempotencyKey: string;
}

/** Pauses before the second and the third try, for a short and a longer loss of connection. */
const RETRY_PAUSES_MS = [400, 1_500];
export const MAX_ANSWER_TRIES = RETRY_PAUSES_MS.length + 1;
/** The daemon's own limit on a delivery is shorter. */
const TRY_TIMEOUT_MS = 30_000;
/** A longer Retry-After is not waited for: the person decides. */
const MAX_RETRY_AFTER_MS = 5_000;

export async function sendAnswer(options: SendAnswerOptions): Promise<AnswerResult> {
  const { api, card, answer, idempotencyKey } = options;
  if (card.far !== undefined) return sendFarAnswer(options);
  const { agent_id: agentId, question } = card;
  const body = respondBody(answer, question);
  const result = await sendOnce({ ...options, send: (signal) => api.respond(agentId, body, idempotencyKey, signal) });
  if (result instanceof Refused) {
    const { code: errorType, message, details } = result;
    return { kind: "failed", errorType, message, textWritten: details["text_written"] === true };
  }
  const { delivery, latency_ms: latencyMs, screen_note: screenNote } = result.body as DashboardDelivery;
  return { kind: "delivered", delivery, latencyMs, screenNote };
}

/** To an agent on another machine, by the daemon there; a key is its interruption. */
async function sendFarAnswer(options: SendAnswerOptions): Promise<AnswerResult> {
  const { api, card, answer, idempotencyKey } = options;
  const { running, question } = card;
  const body = farAnswerBody(answer, question);
  if (body === undefined && answer.kind !== "keys") {
    const message = "no button stands for what it asks: open its pane, and take control to answer";
    return { kind: "failed", errorType: "question_unreadable", message, textWritten: false };
  }
  const path = (what: string): string => agentPath(running?.id ?? "", what);
  // An interruption has no key: tried again it could be pressed twice, which is another key to some agents.
  const result =
    body === undefined
      ? await tryOnce({ ...options, send: (signal) => api.operate("POST", path("interrupt"), {}, undefined, signal) })
      : await sendOnce({
          ...options,
          send: (signal) => api.operate("POST", path("answer"), body, idempotencyKey, signal),
        });
  if (result instanceof Refused) {
    const { code, message, details } = result;
    const reason = typeof details["reason"] === "string" ? details["reason"] : code.toLowerCase();
    // Of a machine that cannot be reached, unless it was lost meanwhile.
    const isSure = code === "DAEMON_UNREACHABLE" && details["delivery"] === undefined;
    const errorType = isSure ? "pane_not_found" : reason;
    return { kind: "failed", errorType, message, textWritten: details["textWritten"] === true };
  }
  if (body === undefined)
    return { kind: "delivered", delivery: "interrupted", latencyMs: undefined, screenNote: undefined };
  const { outcome, latencyMs, details } = result.body as NativeDelivery;
  return { kind: "delivered", delivery: outcome, latencyMs, screenNote: details?.screenNote };
}

/** Of an operation on an agent. */
export const agentPath = (id: string, what: string): string => `/v1/agents/${encodeURIComponent(id)}/${what}`;

export async function sendOnce(options: SendOnceOptions): Promise<Answered | Refused> {
  const { clock, onRetry } = options;
  for (let tries = 1; ; tries++) {
    // oxlint-disable-next-line no-await-in-loop -- a try needs the previous outcome
    const result = await tryOnce(options);
    if (!(result instanceof Refused)) return result;
    const pauseMs = RETRY_PAUSES_MS[tries - 1];
    const askedMs = result.retryAfterMs ?? 0;
    if (!mayPass(result) || pauseMs === undefined || askedMs > MAX_RETRY_AFTER_MS) return result;
    // oxlint-disable-next-line no-await-in-loop -- see above
    await sleep(clock, Math.max(pauseMs, askedMs));
    onRetry(tries + 1);
  }
}

async function tryOnce({ send, clock }: Omit<SendOnceOptions, "onRetry">): Promise<Answered | Refused> {
  const abort = new AbortController();
  const timer = clock.callAt(clock.nowMs() + TRY_TIMEOUT_MS, () => abort.abort());
  try {
    return await send(abort.signal);
  } catch (error) {
    return error instanceof Refused ? error : new Refused(String(error), 0, "unknown");
  } finally {
    timer.cancel();
  }
}

const mayPass = ({ status }: Refused): boolean => status === 0 || status === 502 || status === 503;
