/**
 * A pane's stream over server-sent events as an async iterable. A connection that is lost is made again from the last
 * position that was handed out, so every byte comes once and in order whatever happens between.
 */
import type { StreamEventData } from "../../protocol/api/nativeStream.ts";
import type { SseEvent } from "../../protocol/text/sse.ts";
import { decodeBase64, type FollowOptions, type PaneEvent, pause, retryDelayMs } from "./clientEvents.ts";
import { type HttpCaller, TmuxwireError } from "./clientHttp.ts";
import { isPassing, sseEvents } from "./clientSse.ts";

/** @throws TmuxwireError when the daemon refuses; the signal's reason when it aborts */
export async function* followPane(
  http: HttpCaller,
  path: readonly string[],
  options: FollowOptions = {},
): AsyncGenerator<PaneEvent, void, void> {
  const { signal, from, resume = true } = options;
  let position: string | undefined;
  let tries = 0;
  for (;;) {
    try {
      for await (const event of connectOnce(http, path, position ?? from, position, options)) {
        tries = 0;
        // The daemon is stopping: the pane is not, and what comes next goes on with it.
        if (event.kind === "closed" && event.code === "CONNECTION_LOST" && resume) break;
        if (event.kind === "open" && position !== undefined) continue;
        if (event.kind !== "readiness" && "position" in event) position = event.position;
        yield event;
        if (event.kind === "closed") return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (position !== undefined && error instanceof TmuxwireError && error.code === "NOT_FOUND") {
        yield { kind: "closed", code: error.code, message: error.message };
        return;
      }
      if (!resume || !isPassing(error)) throw error;
    }
    if (!resume) throw new TmuxwireError("CONNECTION_LOST", "the stream ended before the pane did");
    await pause(retryDelayMs(tries), signal);
    tries += 1;
  }
}

async function* connectOnce(
  http: HttpCaller,
  path: readonly string[],
  from: string | undefined,
  lastEventId: string | undefined,
  { signal, readiness }: FollowOptions,
): AsyncGenerator<PaneEvent, void, void> {
  const query = { from: lastEventId === undefined ? from : undefined, readiness };
  // A gap is handed out with the snapshot that ends it, so that none is handed out twice.
  let gap: PaneEvent | undefined;
  for await (const seen of sseEvents(http, { path, query, lastEventId, signal }, paneEvent)) {
    if (seen.kind === "gap") {
      gap = seen;
      continue;
    }
    if (gap !== undefined) yield gap;
    gap = undefined;
    yield seen;
  }
}

/** Undefined for an event that this version does not know. */
function paneEvent({ event, data, id }: SseEvent): PaneEvent | undefined {
  if (event === "output") return { kind: "output", bytes: decodeBase64(data), position: id };
  const json = JSON.parse(data) as StreamEventData[keyof StreamEventData];
  switch (event) {
    case "open":
      return { kind: "open", ...(json as StreamEventData["open"]) };
    case "gap":
      return { kind: "gap", ...(json as StreamEventData["gap"]) };
    case "snapshot": {
      const { data: ansi, ...rest } = json as StreamEventData["snapshot"];
      return { kind: "snapshot", bytes: decodeBase64(ansi), ...rest };
    }
    case "resize":
      return { kind: "resize", ...(json as StreamEventData["resize"]) };
    case "exit":
      return { kind: "exit", ...(json as StreamEventData["exit"]) };
    case "readiness":
      return { kind: "readiness", ...(json as StreamEventData["readiness"]) };
    case "closed":
      return { kind: "closed", ...(json as StreamEventData["closed"]) };
    default:
      return undefined;
  }
}
