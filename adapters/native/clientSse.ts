/** A connection for server-sent events, read as they come, and the silence that ends it. */
import type { Timer } from "../../daemon/time/clock.ts";
import { type SseEvent, SseParser } from "../../protocol/text/sse.ts";
import { after, IDLE_MS } from "./clientEvents.ts";
import { type HttpCaller, TmuxwireError } from "./clientHttp.ts";

export interface SseRequest {
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Where to go on from. */
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Whether trying again may help: the daemon cannot be reached, or tmux cannot. */
export const isPassing = (error: unknown): boolean =>
  error instanceof TmuxwireError && (error.code === "CONNECTION_LOST" || error.code === "RESOURCE_LIMIT");

/**
 * One connection's events, without those that `decode` does not know.
 * @throws TmuxwireError when the daemon refuses; CONNECTION_LOST when the stream is cut; the signal's reason when it aborts
 */
export async function* sseEvents<Decoded>(
  http: HttpCaller,
  { path, query, lastEventId, signal }: SseRequest,
  decode: (event: SseEvent) => Decoded | undefined,
): AsyncGenerator<Decoded, void, void> {
  const idle = new AbortController();
  const response = await http.open({
    method: "GET",
    path,
    query,
    headers: { accept: "text/event-stream", ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }) },
    signal: signal === undefined ? idle.signal : AbortSignal.any([signal, idle.signal]),
  });
  const { body } = response;
  if (body === null) throw new TmuxwireError("INTERNAL_ERROR", "the stream has no body", { status: response.status });
  try {
    for await (const event of readSse(body, IDLE_MS)) {
      const decoded = decode(event);
      if (decoded !== undefined) yield decoded;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw new TmuxwireError("CONNECTION_LOST", "the stream was cut", { cause: error });
  } finally {
    idle.abort();
  }
}

/** Ends with the body. Throws when nothing came for `idleMs`, or when the body does. */
export async function* readSse(body: ReadableStream<Uint8Array>, idleMs: number): AsyncGenerator<SseEvent, void, void> {
  const reader = body.getReader();
  const parser = new SseParser();
  try {
    for (;;) {
      const { done, value } = await readWithin(reader, idleMs);
      if (done) return;
      for (const event of parser.push(value)) yield event;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

async function readWithin(reader: ReadableStreamDefaultReader<Uint8Array>, idleMs: number) {
  let timer: Timer | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = after(idleMs, () => reject(new Error("nothing came from the daemon")));
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } finally {
    timer?.cancel();
  }
}
