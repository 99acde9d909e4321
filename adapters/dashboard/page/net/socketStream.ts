/**
 * A stream of events over a WebSocket, as a response whose body they are. A browser keeps six connections to a server for the
 * requests of all its tabs together, and far more of these: the seventh tab would wait for as long as six are open.
 */
import type { Clock } from "../../../../daemon/time/clock.ts";

const OPENS_WITHIN_MS = 5_000;

/** Resolves with undefined if none can be opened: the daemon refuses it, or a proxy does not pass it on. */
export function socketStream(path: string, signal: AbortSignal, clock: Clock): Promise<Response | undefined> {
  const url = new URL(path, location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(url);
  const end = (): void => socket.close();
  const late = clock.callAt(clock.nowMs() + OPENS_WITHIN_MS, end);
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  const encoder = new TextEncoder();
  return new Promise((resolve) => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        socket.addEventListener("message", ({ data }) => {
          if (!isCancelled) controller.enqueue(encoder.encode(String(data)));
        });
        socket.addEventListener("close", () => {
          signal.removeEventListener("abort", end);
          late.cancel();
          if (!isCancelled) controller.close();
          resolve(undefined);
        });
      },
      cancel: () => {
        isCancelled = true;
        end();
      },
    });
    socket.addEventListener("open", () => {
      late.cancel();
      resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
    });
  });
}
