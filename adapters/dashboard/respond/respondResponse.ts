/** The responses of `POST /api/respond/:id`, as they go out and as they are kept. */
import type { Context } from "hono";
import type { GuardEnv } from "../../kit/guard/requestGuard.ts";
import type { Failure } from "./failures.ts";

export interface RespondResponse {
  readonly status: 200 | 400 | 404 | 409 | 429 | 500 | 502 | 503;
  readonly body: Readonly<Record<string, string | number | boolean | null>>;
  /** The same request again gets this one, and types nothing. */
  readonly isKept: boolean;
}

export const refusalResponse = (
  status: RespondResponse["status"],
  errorType: string,
  message: string,
): RespondResponse => ({
  status,
  body: { status: "error", error_type: errorType, message },
  isKept: false,
});

export const agentNotFound = (agentId: number): RespondResponse =>
  refusalResponse(404, "agent_not_found", `Agent with ID ${agentId} not found.`);

export const failureResponse = (failure: Failure, latencyMs: number | undefined): RespondResponse => ({
  status: failure.status,
  body: {
    status: "error",
    error_type: failure.errorType,
    message: failure.message,
    ...(failure.reason === undefined ? {} : { reason: failure.reason }),
    ...(failure.box === undefined ? {} : { box: failure.box }),
    ...(failure.wasWritten === true ? { text_written: true } : {}),
    ...(latencyMs === undefined ? {} : { latency_ms: latencyMs }),
  },
  isKept: failure.isUncertain,
});

export const respondWith = (c: Context<GuardEnv>, { status, body }: RespondResponse): Response => c.json(body, status);
