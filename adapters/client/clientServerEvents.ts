/**
 * A tmux server's events as an async iterable: the whole tree first, then every change once and in order. A lost
 * connection is resumed after the last event delivered; if the daemon no longer has that event, a `reset` with the whole
 * tree comes. `applyTreeEvent` keeps a tree up to date with these events.
 */
import type { NativeServerEvent } from "../../protocol/api/nativeTree.ts";
import { SseLoss } from "./sseFollower.ts";
import { type CallOptions, type HttpCaller, TmuxwireError, isPassing } from "./clientHttp.ts";
import { clientFollower, streamError } from "./clientStream.ts";

export interface ServerEventsOptions extends CallOptions {
  /** The id of the last known event or tree. Default: begin with the whole tree. */
  readonly after?: string | undefined;
  /** Report readiness of every pane as well: each is watched meanwhile. */
  readonly readiness?: boolean | undefined;
  /** False: a lost connection is an error instead of a pause. Default true. */
  readonly resume?: boolean | undefined;
}

export interface ServerEventWithId {
  readonly id: string;
  readonly event: NativeServerEvent;
}

/** Ends only when the loop is left. @throws TmuxwireError when the daemon refuses; the signal's reason when it aborts */
export async function* followServer(
  http: HttpCaller,
  path: readonly string[],
  options: ServerEventsOptions = {},
): AsyncGenerator<ServerEventWithId, void, void> {
  const { after, readiness, resume = true, signal } = options;
  const follower = clientFollower<ServerEventWithId>(http, {
    path,
    query: () => ({ readiness }),
    decode: ({ data, id }) => {
      const event = JSON.parse(data) as NativeServerEvent;
      // The daemon is stopping, and another one may start.
      if (event.type === "closed")
        throw isPassing(event.code) ? new TmuxwireError(event.code, event.message) : new SseLoss("ended");
      return { id, event };
    },
    lastEventId: after,
    resume,
    signal,
  });
  try {
    yield* follower.events();
  } catch (error) {
    signal?.throwIfAborted();
    throw streamError(error, "the stream ended");
  }
}
