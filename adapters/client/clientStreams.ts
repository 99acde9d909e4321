/**
 * The client's streams over server-sent events, as async iterables: a pane, a server, the agents. A lost connection is
 * resumed after the last event delivered.
 */
import { systemClock } from "../../daemon/time/clock.ts";
import type { NativeAgentEvent } from "../../protocol/api/native/nativeAgentEvents.ts";
import type { NativeServerEvent } from "../../protocol/api/native/nativeTree.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import type { SseEvent } from "../../protocol/text/sse.ts";
import { decodeBase64, type FollowOptions, type PaneEvent, paneEvent, retryDelayMs } from "./clientEvents.ts";
import { type HttpCaller, type HttpRequest, isPassing, TmuxwireError } from "./clientHttp.ts";
import { SseFollower, SseLoss } from "./sseFollower.ts";

/**
 * A pane's output as an async iterable over server-sent events. A lost connection is resumed from the last position, so
 * that every byte comes once and in order.
 * @throws TmuxwireError when the daemon refuses; the signal's reason when it aborts
 */
export async function* followPane(
  http: HttpCaller,
  path: readonly string[],
  options: FollowOptions,
): AsyncGenerator<PaneEvent, void, void> {
  const { from, readiness, input, resume = true, signal } = options;
  let isOpen = false;
  // A gap is delivered together with the snapshot that ends it, so that no gap is delivered twice.
  let gap: PaneEvent | undefined;
  const follower = clientFollower<PaneEvent>(http, {
    path,
    query: (lastEventId) => {
      gap = undefined;
      return { from: lastEventId === undefined ? from : undefined, readiness, input };
    },
    decode: ({ event, data, id }) => {
      const seen: PaneEvent | undefined =
        event === "output"
          ? { kind: event, bytes: decodeBase64(data), position: id }
          : paneEvent(event, JSON.parse(data) as object);
      // The daemon is stopping, not the pane: resume.
      if (seen?.kind === "closed" && isPassing(seen.code) && resume) throw new TmuxwireError(seen.code, seen.message);
      return seen;
    },
    resume,
    signal,
  });
  try {
    for await (const event of follower.events()) {
      if (event.kind === "gap") {
        gap = event;
        continue;
      }
      if (gap !== undefined) yield gap;
      gap = undefined;
      if (event.kind === "open" && isOpen) continue;
      isOpen = true;
      yield event;
      if (event.kind === "closed") return;
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (!isOpen || !(error instanceof TmuxwireError) || error.code !== "NOT_FOUND")
      throw streamError(error, "the stream ended before the pane did");
    yield { kind: "closed", code: error.code, message: error.message };
  }
}

export type AgentEventsOptions = Pick<FollowOptions, "resume" | "signal">;

export interface ServerEventsOptions extends AgentEventsOptions {
  /** The id of the last received event or tree. Default: begin with the whole tree. */
  readonly after?: string | undefined;
  /** Also report the readiness of every pane; each pane is watched meanwhile. */
  readonly readiness?: boolean | undefined;
  /** Also report the coding agents on this server. */
  readonly agents?: boolean | undefined;
}

export interface ServerEventWithId {
  readonly id: string;
  readonly event: NativeServerEvent;
}

/**
 * A tmux server's events: the whole tree first, then every change once and in order. If the daemon no longer has the last
 * event delivered, a `reset` with the whole tree comes. `applyTreeEvent` keeps a tree up to date with these events.
 * Ends only when the loop is left. @throws TmuxwireError when the daemon refuses; the signal's reason when it aborts
 */
export const followServer = (
  http: HttpCaller,
  path: readonly string[],
  { after, readiness, agents, resume, signal }: ServerEventsOptions,
): AsyncGenerator<ServerEventWithId, void, void> =>
  followEvents<ServerEventWithId>(http, {
    path,
    query: () => ({ readiness, agents }),
    decode: ({ data, id }) => {
      const event = JSON.parse(data) as NativeServerEvent;
      // The daemon is stopping, but another one may start.
      if (event.type === "closed")
        throw isPassing(event.code) ? new TmuxwireError(event.code, event.message) : new SseLoss("ended");
      return { id, event };
    },
    lastEventId: after,
    resume,
    signal,
  });

/** `closed` is the daemon's end, which is resumed or thrown. */
export type FollowedAgentEvent = Exclude<NativeAgentEvent, { readonly type: "closed" }>;

/** All agents of this machine; `TmuxwireClient.agentEvents` says how. */
export const followAgents = (
  http: HttpCaller,
  { resume, signal }: AgentEventsOptions,
): AsyncGenerator<FollowedAgentEvent, void, void> =>
  followEvents<FollowedAgentEvent>(http, {
    path: ["v1", "agent-events"],
    query: () => ({}),
    decode: ({ data }) => {
      const event = JSON.parse(data) as NativeAgentEvent;
      // The daemon is stopping, but another one may start.
      if (event.type === "closed") throw new TmuxwireError(event.code as ErrorCode, event.message);
      return event;
    },
    resume,
    signal,
  });

interface StreamOptions<Decoded> {
  readonly path: readonly string[];
  /** Called before each connection. */
  readonly query: (lastEventId: string | undefined) => HttpRequest["query"];
  readonly decode: (event: SseEvent) => Decoded | undefined;
  readonly lastEventId?: string | undefined;
  /** Default true. */
  readonly resume: boolean | undefined;
  readonly signal: AbortSignal | undefined;
}

async function* followEvents<Decoded>(
  http: HttpCaller,
  options: StreamOptions<Decoded>,
): AsyncGenerator<Decoded, void, void> {
  try {
    yield* clientFollower(http, options).events();
  } catch (error) {
    options.signal?.throwIfAborted();
    throw streamError(error, "the stream ended");
  }
}

/** The daemon sends a keep-alive every 15 s; after three missing ones the connection counts as dead. */
const SILENCE_MS = 45_000;

const clientFollower = <Decoded>(
  http: HttpCaller,
  { path, query, resume = true, ...options }: StreamOptions<Decoded>,
): SseFollower<Decoded> =>
  new SseFollower<Decoded>({
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

/** Whether a retry may help: the connection broke, or the daemon or tmux is unreachable. */
const isWorthRetrying = (loss: unknown): boolean =>
  loss instanceof SseLoss ||
  (loss instanceof TmuxwireError && (isPassing(loss.code) || loss.code === "RESOURCE_LIMIT"));

/** The error for the stream's reader. */
function streamError(error: unknown, ended: string): unknown {
  if (!(error instanceof SseLoss)) return error;
  const message = error.reason === "ended" ? ended : "the stream was cut";
  return new TmuxwireError("DAEMON_UNREACHABLE", message, { cause: error });
}
