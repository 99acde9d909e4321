/**
 * A pane's output as an async iterable over server-sent events: a lost connection is resumed from the last
 * position, so that every byte comes once and in order.
 */
import { decodeBase64, type FollowOptions, type PaneEvent, paneEvent } from "./clientEvents.ts";
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
    decode: ({ event, data, id }) => {
      const seen: PaneEvent | undefined =
        event === "output"
          ? { kind: event, bytes: decodeBase64(data), position: id }
          : paneEvent(event, JSON.parse(data) as object);
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
