/**
 * `fetch` over a unix socket, which Node's own does not support, with connections that are kept. Request bodies are
 * small and sent whole; response bodies are streams. A command, which asks once and ends, uses `socketFetch`.
 */
import type { IncomingMessage } from "node:http";
import { Agent, request as httpRequest } from "node:http";
import { Readable } from "node:stream";
import { connectError, NO_BODY, type SocketRequest } from "./socketFetch.ts";

/** Its requests are those of `socketFetch`. @param also further headers of each request */
export function unixFetch(socketPath: string, also: Readonly<Record<string, string>> = {}): typeof globalThis.fetch {
  const agent = new Agent({ keepAlive: true });
  return (async (url: string, { method = "GET", headers: given, body = "", signal }: SocketRequest = {}) => {
    const { pathname, search, host } = new URL(url);
    const headers: Record<string, string> = { ...also, ...given, host };
    if (body !== "") headers["content-length"] = String(Buffer.byteLength(body));
    return new Promise((resolve, reject) => {
      const sent = httpRequest({ agent, socketPath, method, path: pathname + search, headers }, (incoming) => {
        // The request's signal also ends its response, as with `fetch`.
        const abort = (): void => void incoming.destroy(signal?.reason as Error);
        signal?.addEventListener("abort", abort, { once: true });
        incoming.once("close", () => signal?.removeEventListener("abort", abort));
        resolve(new SocketResponse(incoming));
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
  }) as unknown as typeof globalThis.fetch;
}

/** The part of `Response` that the client uses. */
class SocketResponse implements Pick<Response, "status" | "ok" | "headers" | "body" | "text" | "json"> {
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
    if (this.#body === null) return "";
    const chunks: Buffer[] = [];
    for await (const chunk of this.#incoming) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString("utf8");
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text()) as unknown;
  }
}
