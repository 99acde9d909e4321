/** A request of a page, and a refusal in the server's words. */

export class Refused extends Error {
  /** 0 without a response. */
  readonly status: number;
  /** By the contract; `unreachable` without a response. */
  readonly code: string;
  readonly retryAfterMs: number | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    status: number,
    code: string,
    more: { readonly retryAfterMs?: number | undefined; readonly details?: Refused["details"] | undefined } = {},
  ) {
    super(message);
    this.name = "Refused";
    this.status = status;
    this.code = code;
    this.retryAfterMs = more.retryAfterMs;
    this.details = more.details ?? {};
  }

  /** A retry would get the same response. */
  get isFinal(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 408 && this.status !== 429;
  }
}

export type Fetch = (path: string, init?: RequestInit) => Promise<Response>;

/** How a contract reports an error: from the body of a refusal. */
export interface ErrorShape {
  readonly unreachable: string;
  readonly read: (
    body: unknown,
    status: number,
  ) => { readonly message: string; readonly code: string; readonly details?: Refused["details"] | undefined };
}

/** A successful response. @throws Refused */
export async function askServer(fetch: Fetch, path: string, init: RequestInit, shape: ErrorShape): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch {
    throw new Refused(shape.unreachable, 0, "unreachable");
  }
  if (response.ok) return response;
  const { message, code, details } = shape.read(await jsonOf(response), response.status);
  const retryAfterSec = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterMs = retryAfterSec > 0 ? retryAfterSec * 1_000 : undefined;
  throw new Refused(message, response.status, code, { retryAfterMs, details });
}

/** Undefined: no JSON, or cut off. */
export const jsonOf = (response: Response): Promise<unknown> => response.json().catch(() => undefined);
