/**
 * A pane's output as an async iterable over server-sent events: a lost connection is resumed from the last
 * position, so that every byte comes once and in order.
 */
import type { StreamEventData } from "../../protocol/api/nativeStream.ts";
import type { SseEvent } from "../../protocol/text/sse.ts";
import { decodeBase64, type FollowOptions, type PaneEvent } from "./clientEvents.ts";
import { type HttpCaller, isPassing, TmuxwireError } from "./clientHttp.ts";
import { clientFollower, streamError } from "./clientStream.ts";

/** @throws TmuxwireError when the daemon refuses; the signal's reason when it aborts */
export async function* followPane(
  http: HttpCaller,
  path: readonly string[],
  options: FollowOptions = {},
): AsyncGenerator<PaneEvent, void, void> {
  const { from, readiness, input, resume = true, signal } = options;
  let isOpen = false;
  // A gap is delivered with the snapshot that ends it, so that none is delivered twice.
  let gap: PaneEvent | undefined;
  const follower = clientFollower<PaneEvent>(http, {
    path,
    query: (lastEventId) => {
      gap = undefined;
      return { from: lastEventId === undefined ? from : undefined, readiness, input };
    },
    decode: (event) => {
      const seen = paneEvent(event);
      // The daemon is stopping, the pane is not: resume.
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

/** Undefined for an event unknown to this version. */
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
    case "input": {
      const { data: typed, ...rest } = json as StreamEventData["input"];
      return { kind: "input", bytes: decodeBase64(typed), ...rest };
    }
    case "readiness":
      return { kind: "readiness", ...(json as StreamEventData["readiness"]) };
    case "closed":
      return { kind: "closed", ...(json as StreamEventData["closed"]) };
    default:
      return undefined;
  }
}
