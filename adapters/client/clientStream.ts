/** The client's event streams: requests, retries, and what is thrown without a retry. */
import { systemClock } from "../../daemon/time/clock.ts";
import type { SseEvent } from "../../protocol/text/sse.ts";
import { SseFollower, SseLoss } from "./sseFollower.ts";
import { retryDelayMs } from "./clientEvents.ts";
import { type HttpCaller, type HttpRequest, isPassing, TmuxwireError } from "./clientHttp.ts";

/** The daemon sends a keep-alive every 15 s; three missing ones mean that the connection is dead. */
const SILENCE_MS = 45_000;

interface ClientFollowerOptions<Decoded> {
  readonly path: readonly string[];
  /** Called before each connection. */
  readonly query: (lastEventId: string | undefined) => HttpRequest["query"];
  readonly decode: (event: SseEvent) => Decoded | undefined;
  readonly lastEventId?: string | undefined;
  readonly resume: boolean;
  readonly signal: AbortSignal | undefined;
}

export function clientFollower<Decoded>(
  http: HttpCaller,
  { path, query, resume, ...options }: ClientFollowerOptions<Decoded>,
): SseFollower<Decoded> {
  return new SseFollower<Decoded>({
    ...options,
    clock: systemClock,
    silenceMs: SILENCE_MS,
    steadyMs: 0,
    open: (lastEventId, signal) =>
      http.open({
        method: "GET",
        path,
        query: query(lastEventId),
        headers: {
          accept: "text/event-stream",
          ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
        },
        signal,
      }),
    pauseMs: (loss, tries) => (resume && isWorthRetrying(loss) ? retryDelayMs(tries) : undefined),
  });
}

/** Whether a retry may help: the connection broke, or the daemon or tmux cannot be reached. */
const isWorthRetrying = (loss: unknown): boolean =>
  loss instanceof SseLoss ||
  (loss instanceof TmuxwireError && (isPassing(loss.code) || loss.code === "RESOURCE_LIMIT"));

/** The error for the stream's reader. */
export function streamError(error: unknown, ended: string): unknown {
  if (!(error instanceof SseLoss)) return error;
  const message = error.reason === "ended" ? ended : "the stream was cut";
  return new TmuxwireError("DAEMON_UNREACHABLE", message, { cause: error });
}
