/** The responses of `POST /api/respond/:id`, as they go out and as they are kept. */
import type { Context } from "hono";
import type { GuardEnv } from "../../kit/guard/requestGuard.ts";
import { type Failure, failure } from "./failures.ts";

export interface RespondResponse {
  readonly status: 200 | Failure["status"];
  /** Without its members that are undefined. */
  readonly body: Readonly<Record<string, string | number | boolean | undefined>>;
  /** The same request again gets this one, and types nothing. */
  readonly isKept: boolean;
}

/** @param latencyMs undefined: nothing was tried */
export const failureResponse = (
  { status, errorType, message, reason, box, wasWritten, isUncertain }: Failure,
  latencyMs?: number,
): RespondResponse => ({
  status,
  body: {
    status: "error",
    error_type: errorType,
    message,
    reason,
    box,
    text_written: wasWritten === true ? true : undefined,
    latency_ms: latencyMs,
  },
  isKept: isUncertain,
});

export const refusalResponse = (...refusal: Parameters<typeof failure>): RespondResponse =>
  failureResponse(failure(...refusal));

export const agentNotFound = (agentId: number): RespondResponse =>
  refusalResponse(404, "agent_not_found", `Agent with ID ${agentId} not found.`);

export const respondWith = (c: Context<GuardEnv>, { status, body }: RespondResponse): Response => c.json(body, status);
