/** Requests of the typed client, and their errors. Runs in browsers and Node alike: it uses only `fetch`. */
import type { NativeErrorResponse } from "../../protocol/api/native/nativeResponses.ts";
import {
  OPERATION_ROUTES,
  type OperationName,
  type OperationNames,
  type OperationRoute,
  VERSION_HEADER,
} from "../../protocol/api/operationRoutes.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { parseJson } from "../../protocol/text/jsonObject.ts";

/** The daemon's error, or `DAEMON_UNREACHABLE` if there was no response. Decide by `code`, show `message`. */
export class TmuxwireError extends Error {
  readonly code: ErrorCode;
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** The daemon's version, where the response says it. */
  readonly daemonVersion: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      readonly status?: number;
      readonly details?: Readonly<Record<string, unknown>> | undefined;
      readonly daemonVersion?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "TmuxwireError";
    this.code = code;
    this.status = options.status ?? 0;
    this.details = options.details;
    this.daemonVersion = options.daemonVersion;
  }
}

const PASSING = ["CONNECTION_LOST", "SHUTTING_DOWN", "DAEMON_UNREACHABLE"] as const satisfies readonly ErrorCode[];

/** Whether a retry may succeed: the daemon is gone, or it currently has no connection to tmux. */
export const isPassing = (code: string): code is (typeof PASSING)[number] => PASSING.some((known) => known === code);

export interface ClientOptions {
  /** Such as `http://127.0.0.1:7420`. */
  readonly url: string;
  readonly token?: string | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface PerformOptions extends CallOptions {
  /** For instance a UUID. A request with the same key for the same pane only returns the first one's result. */
  readonly idempotencyKey?: string | undefined;
}

export interface HttpRequest extends CallOptions {
  readonly method: "GET" | "POST" | "DELETE";
  /** Segments, not yet encoded. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export class HttpCaller {
  readonly #url: string;
  readonly #token: string | undefined;
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: ClientOptions) {
    this.#url = options.url.replace(/\/+$/, "");
    this.#token = options.token;
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  get url(): string {
    return this.#url;
  }

  get token(): string | undefined {
    return this.#token;
  }

  /** Performs an operation by its name. @throws TmuxwireError; the signal's reason when it aborts */
  perform<Output>(
    name: OperationName,
    names: OperationNames,
    input: object = {},
    { signal, idempotencyKey }: PerformOptions = {},
  ): Promise<Output> {
    const { method, path }: OperationRoute = OPERATION_ROUTES[name];
    const segments = path.split("/").slice(1);
    return this.json({
      method,
      path: segments.map((segment) =>
        segment.startsWith(":") ? (names[segment.slice(1) as keyof OperationNames] ?? "") : segment,
      ),
      query: method === "GET" ? (input as HttpRequest["query"]) : undefined,
      body: method === "POST" ? input : undefined,
      signal,
      headers: idempotencyKey === undefined ? undefined : { "idempotency-key": idempotencyKey },
    });
  }

  /** Returns the response's JSON. @throws TmuxwireError; the signal's reason when it aborts */
  async json<Body>(request: HttpRequest): Promise<Body> {
    const response = await this.open(request);
    const text = await this.#guarded(request, () => response.text());
    // A late response has status 200 even if it is an error.
    const body = parseJson(text);
    if (body === undefined || isError(body)) throw errorFrom(text, response);
    return body as Body;
  }

  /** Returns the response if its status is a success. */
  async open(request: HttpRequest): Promise<Response> {
    const { method, path, body, signal, headers } = request;
    const url = `${this.#url}/${path.map((segment) => encodeURIComponent(segment)).join("/")}${queryOf(request)}`;
    const response = await this.#guarded(request, () =>
      this.#fetch(url, {
        method,
        headers: {
          ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      }),
    );
    if (response.ok) return response;
    const text = await this.#guarded(request, () => response.text());
    throw errorFrom(text, response);
  }

  async #guarded<Result>({ signal }: HttpRequest, run: () => Promise<Result>): Promise<Result> {
    try {
      return await run();
    } catch (error) {
      signal?.throwIfAborted();
      throw new TmuxwireError("DAEMON_UNREACHABLE", `cannot reach the daemon at ${this.#url}`, { cause: error });
    }
  }
}

function queryOf({ query = {} }: HttpRequest): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return "";
  return `?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&")}`;
}

const isError = (body: unknown): body is NativeErrorResponse =>
  typeof body === "object" && body !== null && "error" in body;

export const errorOf = ({ error }: NativeErrorResponse, { status, headers }: Response): TmuxwireError =>
  new TmuxwireError(error.code, error.message, {
    status,
    details: error.details,
    daemonVersion: headers.get(VERSION_HEADER) ?? undefined,
  });

function errorFrom(text: string, response: Response): TmuxwireError {
  const { status } = response;
  const body = parseJson(text);
  if (isError(body)) return errorOf(body, response);
  // Not our JSON, but a proxy's page or the plain-text 403 of an older daemon.
  const code = status === 403 ? "FORBIDDEN" : status === 401 ? "UNAUTHORIZED" : "INTERNAL_ERROR";
  return new TmuxwireError(code, `unexpected response ${status}: ${text.slice(0, 100)}`, { status });
}
