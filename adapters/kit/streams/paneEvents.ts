/**
 * One pane's output as server-sent events, the same on every surface that offers it: `open`, `snapshot`, `output`, `gap`,
 * `resize`, `exit`, `closed` (docs/contracts/native.md, "Streams"). An output frame is encoded once for all subscribers.
 */
import type { ServerResponse } from "node:http";
import type { Feeds, OpenSubscription } from "../../../daemon/panes/feeds.ts";
import type { FrameEncoder, OutputChunk, PaneFeed } from "../../../daemon/panes/paneFeed.ts";
import type { StreamStart, SubscriptionSink } from "../../../daemon/panes/subscription.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import type { StreamEventData } from "../../../protocol/api/native/nativeStream.ts";
import { shuttingDown } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { formatGap, formatPosition, type StreamGap } from "../../../protocol/position.ts";
import { nativeWaiting } from "../../operations/outputs.ts";
import { nativeSnapshot, streamInput } from "../../operations/panes/screenOutputs.ts";
import { sseEvent, SseWriter } from "./sseWriter.ts";

interface PaneEventsOptions {
  readonly feeds: Feeds;
  /** The server's name in the events. */
  readonly serverName: string;
  readonly pane: PaneId;
  readonly start: StreamStart;
  /** Report input as well. */
  readonly input?: boolean | undefined;
  readonly outgoing: ServerResponse;
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly bounds: { readonly stallMs?: number | undefined; readonly bufferBytes?: number | undefined };
  /** While the stream is open, contains the function that ends it with `closed`. */
  readonly open: Set<() => void>;
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
export function openPaneEvents(options: PaneEventsOptions): void {
  const { feeds, serverName, pane, start, open, observe = {} } = options;
  let subscription: OpenSubscription | undefined;
  let companion: Companion | undefined;
  let isOpen = false;
  let made: SseWriter | undefined;
  const stop = (): void => {
    subscription?.finish(shuttingDown());
    end();
  };
  const end = (): void => {
    open.delete(stop);
    subscription?.close();
    companion?.[Symbol.dispose]();
    made?.end();
  };
  // Made with the first event, so that a failure before it is an ordinary error response.
  const writer = (): SseWriter => {
    made ??= new SseWriter({
      outgoing: options.outgoing,
      headers: options.headers,
      clock: options.clock,
      ...options.bounds,
      onDrain: () => {
        companion?.pump();
        subscription?.pump();
      },
      onClose: (reason) => {
        if (reason === "stalled") observe.stalled?.();
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
      isOpen = true;
      const text = formatPosition(position);
      const waiting = nativeWaiting(feed.source.waiting);
      send("open", { server: serverName, pane, position: text, cols, rows, ...waiting }, text);
    },
    output: (chunk) => {
      observe.output?.(chunk);
      writer().write(feed.frame(encodeOutput, chunk));
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
    ...(options.input === true ? { typed: (typed) => send("input", streamInput(typed)) } : {}),
    exited: (status) => send("exit", status),
    closed: ({ code, message }) => {
      send("closed", { code, message });
      end();
    },
  });
  companion = options.companion?.({
    room: () => (isOpen ? writer().room() : 0),
    send: (name, data) => send(name, data),
  });
  try {
    subscription = feeds.subscribe(pane, start, sinkFor);
  } catch (error) {
    companion?.[Symbol.dispose]();
    throw error;
  }
  open.add(stop);
  subscription.pump();
  companion?.pump();
}

/** `id` is the position after the bytes, where a returning reader resumes. */
const encodeOutput: FrameEncoder = ({ epoch, to, bytes }) => {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return Buffer.from(sseEvent("output", data, `${epoch}:${to}`), "latin1");
};
