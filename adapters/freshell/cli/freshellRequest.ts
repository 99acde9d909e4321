/**
 * One request to the server and its response as JSON, or why it failed: a fault of the Freshell contract with its exit code. Uses `node:http`, not `fetch`, which takes longer to load than
 * everything else a command does. A response may begin with blanks while the server waits; redirects are not followed, so
 * that the token goes nowhere else.
 */
import type { ClientRequest, RequestOptions } from "node:http";
import { IncomingMessage, request as httpRequest } from "node:http";
import { Socket } from "node:net";
import type { FaultStage, FreshellFault, OperationErrorCode } from "../../../protocol/api/freshell/freshellErrors.ts";
import { AppError, ERROR_SURFACES } from "../../../protocol/errors.ts";
import { fieldsOf, parseJson } from "../../../protocol/text/jsonObject.ts";

type CommandFault = FreshellFault<OperationErrorCode>;

/** The server is unreachable, which is not an error of the server's. */
const EXIT_UNREACHABLE = 69;

/** What the server has refused, or how the connection to it failed. */
export class CommandFailure extends AppError {
  readonly stage: FaultStage | undefined;
  readonly exitCode: number;

  constructor(
    { code, message, details, stage }: CommandFault,
    { exitCode = ERROR_SURFACES[code].exitCode, cause }: { readonly exitCode?: number; readonly cause?: unknown } = {},
  ) {
    super(code, message, { details, cause });
    this.stage = stage;
    this.exitCode = exitCode;
  }
}

export const isUnauthorized = (error: unknown): boolean =>
  error instanceof CommandFailure && error.code === "UNAUTHORIZED";

/** The connection to the server failed before a response came. */
export function unreachable(url: string, why: string, cause?: unknown): CommandFailure {
  const message = `no Freshell server at ${url}: ${why}; start one with \`tmuxwire serve --only freshell\`, or set FRESHELL_URL`;
  return serverLost(message, { retry: true, url }, cause);
}

const serverLost = (message: string, details: object, cause: unknown): CommandFailure =>
  new CommandFailure(
    { code: "INTERNAL_ERROR", message, details: { cause: "DAEMON_UNREACHABLE", ...details } },
    { exitCode: EXIT_UNREACHABLE, cause },
  );

export interface FreshellRequest {
  readonly url: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** From `/api` on, with its query. */
  readonly path: string;
  readonly body?: object | undefined;
  readonly token?: string | undefined;
  /** Whether repeating it has further effects; reading and waiting have none. Default: all but GET. */
  readonly changes?: boolean | undefined;
  /** Runs once the request is sent, for work that can overlap with the wait for the response. */
  readonly meanwhile?: (() => void) | undefined;
  readonly signal: AbortSignal;
}

/** A working server sends at least a blank every ten seconds. */
const SILENCE_MS = 30_000;
/** The longest response is a capture: 5,000 lines of 1,000 cells with colours. */
const MAX_RESPONSE_BYTES = 67_108_864;

/** @throws AppError; what `signal` aborts with. */
export async function freshellRequest<Body>(asked: FreshellRequest): Promise<Body> {
  const { text, status } = await exchange(asked);
  const body = parseJson(text);
  const fault = faultOf(body);
  if (fault !== undefined) throw new CommandFailure(fault);
  if (typeof body !== "object" || body === null || status >= 300) {
    throw unreachable(asked.url, `another program listens there (status ${status})`);
  }
  return body as Body;
}

async function exchange(asked: FreshellRequest): Promise<{ readonly text: string; readonly status: number }> {
  const { url, method, path, body, token, meanwhile, signal } = asked;
  signal.throwIfAborted();
  const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const headers = {
    accept: "application/json",
    ...(token === undefined ? {} : { "x-auth-token": token }),
    ...(payload === undefined ? {} : { "content-type": "application/json", "content-length": payload.length }),
  };
  const send = await requester(url);
  return new Promise((resolve, reject) => {
    const sent = send(url + path, { method, headers, agent: false, timeout: SILENCE_MS });
    let isConnected = false;
    const fail = (error: Error): void => {
      if (signal.aborted) reject(signal.reason as Error);
      else if (error instanceof CommandFailure) reject(error);
      else reject(isConnected ? cut(asked, error) : unreachable(url, reasonOf(error), error));
    };
    const abort = (): void => void sent.destroy(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    sent.once("close", () => signal.removeEventListener("abort", abort));
    sent.once("timeout", () => sent.destroy(new Error(`no data for ${SILENCE_MS / 1_000} s`)));
    sent.once("socket", (socket) => socket.once("connect", () => (isConnected = true)));
    sent.once("error", fail);
    sent.once("response", (incoming) => {
      readAll(url, incoming).then(
        (text) => resolve({ text, status: incoming.statusCode ?? 0 }),
        (error: unknown) => {
          sent.destroy();
          fail(error as Error);
        },
      );
    });
    if (meanwhile !== undefined) sent.once("finish", () => setImmediate(meanwhile));
    sent.end(payload);
  });
}

/**
 * Reads a fake response to warm up the code: a first run takes a millisecond or more, which is better spent before a wait's
 * response comes than after.
 */
export function rehearseResponse(url: string): void {
  const incoming = new IncomingMessage(new Socket());
  void readAll(url, incoming).then((text) => faultOf(parseJson(text)));
  incoming.complete = true;
  incoming.push(Buffer.from("{}"));
  incoming.push(null);
}

/** `node:https` is loaded only when needed. */
async function requester(url: string): Promise<(url: string, options: RequestOptions) => ClientRequest> {
  if (url.startsWith("http:")) return httpRequest;
  return (await import("node:https")).request;
}

/** By events: an async iterator would cost setup time after the response has arrived. */
function readAll(url: string, incoming: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > MAX_RESPONSE_BYTES) reject(unreachable(url, `its response exceeds ${MAX_RESPONSE_BYTES} bytes`));
    });
    incoming.once("error", reject);
    incoming.once("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
  });
}

/** A code unknown to us, from a newer server, is still an error. */
function faultOf(body: unknown): CommandFault | undefined {
  const error = fieldsOf(fieldsOf(body)?.["error"]) as Partial<FreshellFault> | undefined;
  if (typeof error?.code !== "string" || typeof error.message !== "string") return undefined;
  const { code, message, details, stage } = error;
  const isKnown = Object.hasOwn(ERROR_SURFACES, code);
  return {
    code: isKnown ? (code as CommandFault["code"]) : "INTERNAL_ERROR",
    message,
    details: isKnown ? details : { ...details, cause: code },
    stage,
  };
}

/** Sent, and no response: only a request that changes nothing can be repeated without checking. */
function cut({ url, method, changes = method !== "GET" }: FreshellRequest, cause: Error): CommandFailure {
  const unknown = changes ? "; check whether it was done before you repeat it" : "";
  return serverLost(
    `the server at ${url} did not finish its response: ${reasonOf(cause)}${unknown}`,
    { retry: !changes, url, delivery: changes ? "indeterminate" : undefined },
    cause,
  );
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host's name could not be resolved",
  EHOSTUNREACH: "there is no route to the host",
  ENETUNREACH: "there is no route to the host",
  ETIMEDOUT: "the connection timed out",
};

/** Several addresses of one host fail as one error, with the first one's code. */
function reasonOf(error: Error & { readonly code?: string | undefined }): string {
  return REASONS[error.code ?? ""] ?? (error.message === "" ? (error.code ?? error.name) : error.message);
}
