/**
 * `fetch` over a unix socket, which Node's own does not support. The signature is the same, so the typed client needs no
 * change. Request bodies are small and sent whole; response bodies are streams.
 */
import type { IncomingMessage } from "node:http";
import { Agent, request as httpRequest } from "node:http";
import { Readable } from "node:stream";
import { AppError } from "../../protocol/errors.ts";

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Statuses whose `Response` must be made with a null body. */
const NO_BODY = new Set([204, 205, 304]);

export function unixFetch(socketPath: string): Fetch {
  const agent = new Agent({ keepAlive: true });
  return async (input, init) => {
    const request = new Request(input, init);
    const body = Buffer.from(await request.arrayBuffer());
    const { pathname, search, host } = new URL(request.url);
    const headers: Record<string, string> = { ...Object.fromEntries(request.headers), host };
    if (body.length > 0) headers["content-length"] = String(body.length);
    return new Promise((resolve, reject) => {
      const { signal, method } = request;
      const sent = httpRequest({ agent, socketPath, method, path: pathname + search, headers }, (incoming) => {
        // The request's signal also ends its response, as with `fetch`.
        const abort = (): void => void incoming.destroy(signal.reason as Error);
        signal.addEventListener("abort", abort, { once: true });
        incoming.once("close", () => signal.removeEventListener("abort", abort));
        resolve(responseOf(incoming));
      });
      const abort = (): void => void sent.destroy(signal.reason as Error);
      if (signal.aborted) abort();
      signal.addEventListener("abort", abort, { once: true });
      sent.once("close", () => signal.removeEventListener("abort", abort));
      sent.once("error", (error: NodeJS.ErrnoException) => {
        reject(signal.aborted ? (signal.reason as Error) : connectError(socketPath, error));
      });
      sent.end(body);
    });
  };
}

function responseOf(incoming: IncomingMessage): Response {
  const headers = new Headers();
  for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
    headers.append(incoming.rawHeaders[at] ?? "", incoming.rawHeaders[at + 1] ?? "");
  }
  const status = incoming.statusCode ?? 0;
  if (NO_BODY.has(status)) {
    incoming.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(incoming) as ReadableStream<Uint8Array>, { status, headers });
}

/** An error that says what to do about an unreachable socket. */
function connectError(socketPath: string, error: NodeJS.ErrnoException): Error {
  const { code } = error;
  if (code === "ENOENT" || code === "ECONNREFUSED") {
    const message = `no daemon listens on ${socketPath}: start one with \`tmuxwire serve\``;
    return new AppError("DAEMON_UNREACHABLE", message, { cause: error });
  }
  if (code === "EACCES" || code === "EPERM") {
    return new AppError("FORBIDDEN", `no permission to use ${socketPath}: run this as the daemon's user`, {
      cause: error,
    });
  }
  return error;
}
