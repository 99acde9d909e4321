/** The answers of `POST /api/respond/:id`, as they go out and as they are kept. */
import type { Failure } from "./failures.ts";

export interface RespondAnswer {
  readonly status: 200 | 400 | 404 | 409 | 429 | 500 | 502 | 503;
  readonly body: Readonly<Record<string, string | number | boolean | null>>;
  /** The same request again gets this one, and types nothing. */
  readonly isKept: boolean;
}

export const refusalAnswer = (status: RespondAnswer["status"], errorType: string, message: string): RespondAnswer => ({
  status,
  body: { status: "error", error_type: errorType, message },
  isKept: false,
});

export const failureAnswer = (failure: Failure, latencyMs: number | undefined): RespondAnswer => ({
  status: failure.status,
  body: {
    status: "error",
    error_type: failure.errorType,
    message: failure.message,
    ...(failure.reason === undefined ? {} : { reason: failure.reason }),
    ...(latencyMs === undefined ? {} : { latency_ms: latencyMs }),
  },
  isKept: failure.isUncertain,
});
