/**
 * What happens on a tmux server as an async iterable: the whole tree first, then every change once and in order. A
 * connection that is lost is made again after the last event that was handed out; if the daemon does not know that place
 * any more, a `reset` with the whole tree comes. `applyTreeEvent` keeps a tree true by these events.
 */
import type { NativeServerEvent } from "../../protocol/api/nativeTree.ts";
import type { SseEvent } from "../../protocol/text/sse.ts";
import { pause, retryDelayMs } from "./clientEvents.ts";
import { type CallOptions, type HttpCaller, TmuxwireError } from "./clientHttp.ts";
import { isPassing, sseEvents } from "./clientSse.ts";

export interface ServerEventsOptions extends CallOptions {
  /** The id of the last event that is known: that of a tree, or of an event. Default: begin with the whole tree. */
  readonly after?: string | undefined;
  /** That of every pane as well: each is watched meanwhile. */
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
  const { signal, resume = true } = options;
  let { after } = options;
  let tries = 0;
  for (;;) {
    try {
      const request = { path, query: { readiness: options.readiness }, lastEventId: after, signal };
      for await (const told of sseEvents(http, request, eventOf)) {
        // The daemon stops, and another one may come.
        if (told.event.type === "closed") break;
        tries = 0;
        after = told.id;
        yield told;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!resume || !isPassing(error)) throw error;
    }
    if (!resume) throw new TmuxwireError("CONNECTION_LOST", "the stream ended");
    await pause(retryDelayMs(tries), signal);
    tries += 1;
  }
}

const eventOf = ({ data, id }: SseEvent): ServerEventWithId => ({ id, event: JSON.parse(data) as NativeServerEvent });
