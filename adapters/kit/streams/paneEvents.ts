/**
 * One pane's output as server-sent events, the same on every surface that offers it: `open`, `snapshot`, `output`, `gap`,
 * `resize`, `exit`, `closed` (docs/contracts/native.md, "Streams"). An output frame is encoded once for all subscribers.
 */
import type { Context } from "hono";
import type { Feeds, OpenSubscription } from "../../../daemon/panes/feeds.ts";
import type { FrameEncoder, OutputChunk, PaneFeed } from "../../../daemon/panes/paneFeed.ts";
import type { StreamStart, SubscriptionSink } from "../../../daemon/panes/subscription.ts";
import type { StreamEventData } from "../../../protocol/api/native/nativeStream.ts";
import { shuttingDown } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { formatGap, formatPosition, type StreamGap } from "../../../protocol/position.ts";
import { nativeWaiting } from "../../operations/outputs.ts";
import { nativeSnapshot, streamInput } from "../../operations/panes/screenOutputs.ts";
import type { GuardEnv } from "../guard/requestGuard.ts";
import { eventResponse, type EventResponseOptions } from "./eventResponse.ts";
import { sseEvent } from "./sseWriter.ts";

interface PaneEventsOptions extends Pick<EventResponseOptions, "clock" | "open" | "stallMs" | "bufferBytes"> {
  readonly feeds: Feeds;
  /** The server's name in the events. */
  readonly serverName: string;
  readonly pane: PaneId;
  readonly start: StreamStart;
  /** Report input as well. */
  readonly input?: boolean | undefined;
  /** Makes a companion that sends more events on the same stream after `open`. It is made before anything is written. */
  readonly companion?: ((events: CompanionEvents) => Companion) | undefined;
  /** For metrics. */
  readonly observe?: Partial<PaneEventsObserver> | undefined;
}

interface PaneEventsObserver {
  output(chunk: OutputChunk): void;
  gap(gap: StreamGap): void;
  snapshot(): void;
  stalled(): void;
}

interface CompanionEvents {
  /** 0 before `open`. */
  readonly room: () => number;
  readonly send: <Name extends keyof StreamEventData>(name: Name, data: StreamEventData[Name]) => void;
}

interface Companion extends Disposable {
  /** Called when there is room again. */
  pump(): void;
}

/** @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST; nothing has been written then. */
export function paneEventResponse(
  c: Context<GuardEnv>,
  { feeds, serverName, pane, start, input, companion: companionOf, observe = {}, ...stream }: PaneEventsOptions,
): Response {
  let subscription: OpenSubscription | undefined;
  let isOpen = false;
  const read: EventResponseOptions["read"] = (out) => {
    const send = <Name extends keyof StreamEventData>(name: Name, data: StreamEventData[Name], id?: string): void =>
      out.write(sseEvent(name, JSON.stringify(data), id));
    const sinkFor = (feed: PaneFeed): SubscriptionSink => ({
      room: () => out.room(),
      open: (position, { cols, rows }) => {
        isOpen = true;
        const text = formatPosition(position);
        const waiting = nativeWaiting(feed.source.waiting);
        send("open", { server: serverName, pane, position: text, cols, rows, ...waiting }, text);
      },
      output: (chunk) => {
        observe.output?.(chunk);
        out.write(feed.frame(encodeOutput, chunk));
      },
      gap: (gap) => {
        observe.gap?.(gap);
        send("gap", formatGap(gap));
      },
      snapshot: (snapshot) => {
        observe.snapshot?.();
        send("snapshot", nativeSnapshot(snapshot), formatPosition(snapshot.position));
      },
      resized: (cols, rows) => send("resize", { cols, rows }),
      ...(input === true ? { typed: (typed) => send("input", streamInput(typed)) } : {}),
      exited: (status) => send("exit", status),
      closed: ({ code, message }) => {
        isOpen = false;
        send("closed", { code, message });
        out.end();
      },
    });
    const companion = companionOf?.({
      room: () => (isOpen ? out.room() : 0),
      send: (name, data) => send(name, data),
    });
    try {
      subscription = feeds.subscribe(pane, start, sinkFor);
    } catch (error) {
      companion?.[Symbol.dispose]();
      throw error;
    }
    return {
      // The companion first, for which output would leave no room; and once the stream is open.
      pump: () => {
        companion?.pump();
        subscription?.pump();
        companion?.pump();
      },
      close: () => {
        subscription?.close();
        companion?.[Symbol.dispose]();
      },
    };
  };
  return eventResponse(c, {
    ...stream,
    read,
    last: () => subscription?.finish(shuttingDown()),
    onStalled: () => observe.stalled?.(),
  });
}

/** `id` is the position after the bytes, where a returning reader resumes. */
const encodeOutput: FrameEncoder = ({ epoch, to, bytes }) => {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return Buffer.from(sseEvent("output", data, `${epoch}:${to}`), "latin1");
};
