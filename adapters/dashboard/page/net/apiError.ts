/** A refusal in the server's words. */

export class ApiError extends Error {
  /** 0 without a response. */
  readonly status: number;
  /** `error_type` of the contract, or the `reason` beside it; `unreachable` without a response. */
  readonly errorType: string;
  readonly retryAfterMs: number | undefined;
  /** Text or keys have reached the pane before. */
  readonly textWritten: boolean;

  constructor(
    message: string,
    options: {
      readonly status: number;
      readonly errorType: string;
      readonly retryAfterMs?: number | undefined;
      readonly textWritten?: boolean | undefined;
    },
  ) {
    super(message);
    this.name = "ApiError";
    this.status = options.status;
    this.errorType = options.errorType;
    this.retryAfterMs = options.retryAfterMs;
    this.textWritten = options.textWritten ?? false;
  }

  /** A retry would get the same response. */
  get isFinal(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 408 && this.status !== 429;
  }
}
