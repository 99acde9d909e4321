/** Requests as the add-in makes them, to an application in process or to a listener, with the response taken apart. */
import type { IncomingMessage } from "node:http";
import { Agent, request as httpRequest } from "node:http";
import { Agent as SecureAgent, request as httpsRequest } from "node:https";
import type { Hono } from "hono";
import type { GuardEnv } from "../../../adapters/kit/guard/requestGuard.ts";

export const ADDIN_ORIGIN = "https://localhost:3000";

export interface Answer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The parsed body, `{}` when it is not JSON. */
  readonly json: Record<string, unknown>;
  /** Whether the response came on a connection that had carried another. */
  readonly reusedConnection: boolean;
}

/** Headers of a request; `undefined` leaves one out. */
export type HeaderOverrides = Readonly<Record<string, string | undefined>>;

export interface Call {
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly headers?: HeaderOverrides | undefined;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** In process: the address the kernel gives for the other side. */
  readonly peer?: string | undefined;
}

export interface AddinClient {
  send(call: Call): Promise<Answer>;
  /** `POST /v1/tmux`. */
  tmux(body: unknown, headers?: HeaderOverrides, signal?: AbortSignal): Promise<Answer>;
  health(headers?: HeaderOverrides): Promise<Answer>;
}

function clientOver(send: (call: Call) => Promise<Answer>): AddinClient {
  return {
    send,
    tmux: (body, headers, signal) =>
      send({ body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers }, signal }),
    health: (headers) => send({ method: "GET", path: "/health", headers }),
  };
}

const present = (headers: HeaderOverrides): [string, string][] =>
  Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);

function answer(status: number, headers: Answer["headers"], text: string, reusedConnection: boolean): Answer {
  const isJson = headers["content-type"]?.startsWith("application/json") === true && text !== "";
  const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status, headers, text, json, reusedConnection };
}

/** A client of the application itself: no socket, so the peer's address is given with each call. */
export function inProcess(app: Hono<GuardEnv>): AddinClient {
  return clientOver(async (call) => {
    const request = new Request(`http://localhost:3341${call.path ?? "/v1/tmux"}`, {
      method: call.method ?? "POST",
      headers: present({ host: "localhost:3341", origin: ADDIN_ORIGIN, ...call.headers }),
      ...(call.body === undefined ? {} : { body: call.body }),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    });
    const remoteAddress = "peer" in call ? call.peer : "127.0.0.1";
    const response = await app.fetch(request, { incoming: { socket: { remoteAddress } } });
    return answer(response.status, Object.fromEntries(response.headers), await response.text(), false);
  });
}

export interface SocketClient extends AddinClient, Disposable {}

/** A client of a listener, on one kept connection. `ca` is what it trusts for https. */
export function overSocket(url: string, options: { readonly ca?: string | undefined } = {}): SocketClient {
  const secure = url.startsWith("https:");
  const agent = secure
    ? new SecureAgent({ keepAlive: true, maxSockets: 1, ca: options.ca })
    : new Agent({ keepAlive: true, maxSockets: 1 });
  const open = secure ? httpsRequest : httpRequest;
  const send = (call: Call): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const request = open(
        `${url}${call.path ?? "/v1/tmux"}`,
        {
          agent,
          method: call.method ?? "POST",
          headers: Object.fromEntries(present({ origin: ADDIN_ORIGIN, ...call.headers })),
          ...(call.signal === undefined ? {} : { signal: call.signal }),
        },
        (response: IncomingMessage) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const headers = Object.fromEntries(
              Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
            );
            const text = Buffer.concat(chunks).toString("utf8");
            resolve(answer(response.statusCode ?? 0, headers, text, request.reusedSocket));
          });
        },
      );
      request.on("error", reject);
      request.end(call.body);
    });
  return { ...clientOver(send), [Symbol.dispose]: () => agent.destroy() };
}
