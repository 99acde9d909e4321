/** `GET …/stream`: one pane's output as server-sent events. What is wrong with the request is an ordinary error before. */
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { FrameEncoder, PaneFeed } from "../../daemon/panes/paneFeed.ts";
import type { OpenSubscription } from "../../daemon/panes/feeds.ts";
import type { StreamStart, SubscriptionSink } from "../../daemon/panes/subscription.ts";
import type { PaneInfo, TmuxServer } from "../../daemon/server/tmuxServer.ts";
import type { StreamEventData } from "../../protocol/api/nativeStream.ts";
import { AppError } from "../../protocol/errors.ts";
import { formatPosition } from "../../protocol/position.ts";
import { sseEvent, SseWriter } from "../http/sse.ts";
import { exitAnswer, gapAnswer, snapshotAnswer } from "./answers.ts";
import type { NativeContext, NativeHandlerContext } from "./context.ts";

/** `id` is the position after the bytes: what a reader that comes back asks for. */
const encodeOutput: FrameEncoder = ({ epoch, to, bytes }) => {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return Buffer.from(sseEvent("output", data, `${epoch}:${to}`), "latin1");
};

/** @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST */
export function openEventStream(
  context: NativeContext,
  c: NativeHandlerContext,
  target: { readonly serverName: string; readonly server: TmuxServer; readonly pane: PaneInfo },
  start: StreamStart,
): Response {
  const { clock, metrics } = context;
  const { outgoing } = c.env;
  if (outgoing === undefined) throw new AppError("INTERNAL_ERROR", "a stream needs a connection");
  const { serverName, server, pane } = target;
  let subscription: OpenSubscription | undefined;
  let made: SseWriter | undefined;
  const end = (): void => {
    context.open.delete(end);
    subscription?.close();
    made?.end();
  };
  const writer = (): SseWriter => {
    made ??= new SseWriter({
      outgoing,
      headers: Object.fromEntries(c.body(null).headers),
      clock,
      ...context.bounds,
      onDrain: () => subscription?.pump(),
      onClose: (reason) => {
        if (reason === "stalled") metrics.streamsStalled.add(1, { transport: "sse" });
        end();
      },
    });
    return made;
  };
  const send = <Name extends keyof StreamEventData>(name: Name, data: StreamEventData[Name], id?: string): void =>
    writer().write(sseEvent(name, JSON.stringify(data), id));
  const sinkFor = (feed: PaneFeed): SubscriptionSink => ({
    room: () => writer().room(),
    open: (position, { cols, rows }) => {
      const text = formatPosition(position);
      send("open", { server: serverName, pane: pane.id, position: text, cols, rows }, text);
    },
    output: (chunk) => {
      metrics.streamBytes.add(chunk.to - chunk.from, { transport: "sse" });
      writer().write(feed.frame(encodeOutput, chunk));
    },
    gap: (gap) => {
      metrics.streamGaps.add(1, { reason: gap.reason });
      send("gap", gapAnswer(gap));
    },
    snapshot: (snapshot) => {
      metrics.streamSnapshots.add();
      send("snapshot", snapshotAnswer(snapshot), formatPosition(snapshot.position));
    },
    resized: (cols, rows) => send("resize", { cols, rows }),
    exited: (status) => send("exit", exitAnswer(status)),
    closed: ({ code, message }) => {
      send("closed", { code, message });
      end();
    },
  });
  subscription = context.feedsOf(server).subscribe(pane.id, start, sinkFor);
  context.open.add(end);
  subscription.pump();
  return RESPONSE_ALREADY_SENT;
}
