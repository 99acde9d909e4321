/**
 * `fetch` over a unix socket, which Node's own does not support, with connections that are kept. The signature is the same,
 * so the typed client needs no change. Request bodies are small and sent whole; response bodies are streams. A command, which
 * asks once and ends, uses `socketFetch`.
 */
import type { IncomingMessage } from "node:http";
import { Agent, request as httpRequest } from "node:http";
import { Readable } from "node:stream";
import { connectError } from "./socketFetch.ts";

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Statuses whose `Response` must be made with a null body. */
const NO_BODY = new Set([204, 205, 304]);

/** @param also further headers of each request */
export function unixFetch(socketPath: string, also: Readonly<Record<string, string>> = {}): Fetch {
  const agent = new Agent({ keepAlive: true });
  return async (input, init) => {
    const { url, method, headers: given, body, signal } = await asked(input, init);
    const { pathname, search, host } = new URL(url);
    const headers: Record<string, string> = { ...also, ...given, host };
    if (body.length > 0) headers["content-length"] = String(body.length);
    return new Promise((resolve, reject) => {
      const sent = httpRequest({ agent, socketPath, method, path: pathname + search, headers }, (incoming) => {
        // The request's signal also ends its response, as with `fetch`.
        const abort = (): void => void incoming.destroy(signal?.reason as Error);
        signal?.addEventListener("abort", abort, { once: true });
        incoming.once("close", () => signal?.removeEventListener("abort", abort));
        resolve(new SocketResponse(incoming) as unknown as Response);
      });
      const abort = (): void => void sent.destroy(signal?.reason as Error);
      if (signal?.aborted === true) abort();
      signal?.addEventListener("abort", abort, { once: true });
      sent.once("close", () => signal?.removeEventListener("abort", abort));
      sent.once("error", (error: NodeJS.ErrnoException) => {
        reject(signal?.aborted === true ? (signal.reason as Error) : connectError(socketPath, error));
      });
      sent.end(body);
    });
  };
}

interface Asked {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly signal: AbortSignal | undefined;
}

/** What our client sends is read as it is: Node's own `Request` takes a command line longer to load than all else. */
async function asked(input: string | URL | Request, init: RequestInit = {}): Promise<Asked> {
  const { method = "GET", headers = {}, body = "", signal } = init;
  const isPlain = typeof input === "string" && typeof body === "string" && Object.getPrototypeOf(headers) === PLAIN;
  if (isPlain) {
    const plain = headers as Readonly<Record<string, string>>;
    return { url: input, method, headers: plain, body: Buffer.from(body), signal: signal ?? undefined };
  }
  const request = new Request(input, init);
  return {
    url: request.url,
    method: request.method,
    headers: Object.fromEntries(request.headers),
    body: Buffer.from(await request.arrayBuffer()),
    signal: request.signal,
  };
}
const PLAIN = Object.prototype;

/** The part of `Response` that is used, for the same reason. */
class SocketResponse implements Pick<Response, "status" | "ok" | "headers" | "body" | "text" | "json" | "arrayBuffer"> {
  readonly status: number;
  readonly #incoming: IncomingMessage;
  #body: ReadableStream<Uint8Array<ArrayBuffer>> | null | undefined;

  constructor(incoming: IncomingMessage) {
    this.status = incoming.statusCode ?? 0;
    this.#incoming = incoming;
    if (NO_BODY.has(this.status)) {
      incoming.resume();
      this.#body = null;
    }
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get headers(): Headers {
    const { rawHeaders } = this.#incoming;
    const headers = new Headers();
    for (let at = 0; at + 1 < rawHeaders.length; at += 2)
      headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
    return headers;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (this.#body === undefined)
      this.#body = Readable.toWeb(this.#incoming) as ReadableStream<Uint8Array<ArrayBuffer>>;
    return this.#body;
  }

  async text(): Promise<string> {
    return (await this.#whole()).toString("utf8");
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text()) as unknown;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return new Uint8Array(await this.#whole()).buffer;
  }

  async #whole(): Promise<Buffer> {
    if (this.#body === null) return Buffer.alloc(0);
    const chunks: Buffer[] = [];
    for await (const chunk of this.#incoming) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }
}
