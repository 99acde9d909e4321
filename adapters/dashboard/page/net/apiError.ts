/** A refusal in the server's words. */

export class ApiError extends Error {
  /** 0 when there was no answer. */
  readonly status: number;
  /** `error_type` of the contract, or the `reason` beside it; `unreachable` without an answer. */
  readonly errorType: string;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options: { readonly status: number; readonly errorType: string; readonly retryAfterMs?: number | undefined },
  ) {
    super(message);
    this.name = "ApiError";
    this.status = options.status;
    this.errorType = options.errorType;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Asking again would be answered the same. */
  get isFinal(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 408 && this.status !== 429;
  }
}
