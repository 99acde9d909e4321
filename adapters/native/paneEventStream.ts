/** `GET …/stream`: one pane's output as server-sent events. An invalid request gets an ordinary error response. */
import type { StreamStart } from "../../daemon/panes/subscription.ts";
import type { PaneInfo } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../protocol/errors.ts";
import { alreadySent } from "../http/alreadySent.ts";
import { openPaneEvents } from "../http/paneEvents.ts";
import { nativeReadiness } from "../operations/outputs.ts";
import type { NativeContext, NativeHandlerContext } from "./nativeContext.ts";
import { ReadinessStream } from "../operations/readinessAsked.ts";

const TRANSPORT = { transport: "sse" } as const;

interface EventStreamStart {
  readonly start: StreamStart;
  /** Report readiness as well. */
  readonly readiness: boolean;
  /** Report input as well. */
  readonly input: boolean;
}

/** @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST */
export function openEventStream(
  context: NativeContext,
  c: NativeHandlerContext,
  target: { readonly serverName: string; readonly server: TmuxServer; readonly pane: PaneInfo },
  { start, readiness, input }: EventStreamStart,
): Response {
  const { metrics } = context;
  const { outgoing } = c.env;
  if (outgoing === undefined) throw new AppError("INTERNAL_ERROR", "a stream needs a connection");
  const { serverName, server, pane } = target;
  openPaneEvents({
    feeds: context.feedsOf(server),
    serverName,
    pane: pane.id,
    start,
    input,
    outgoing,
    headers: Object.fromEntries(c.body(null).headers),
    clock: context.clock,
    bounds: context.bounds,
    open: context.open,
    companion: readiness
      ? ({ room, send }) =>
          new ReadinessStream(context, server, pane.id, {
            room,
            send: (state) => send("readiness", nativeReadiness(state)),
          })
      : undefined,
    observe: {
      output: (chunk) => metrics.streamBytes.add(chunk.to - chunk.from, TRANSPORT),
      gap: (gap) => metrics.streamGaps.add(1, { reason: gap.reason }),
      snapshot: () => metrics.streamSnapshots.add(),
      stalled: () => metrics.streamsStalled.add(1, TRANSPORT),
    },
  });
  return alreadySent();
}
