/**
 * `/v1/stream`: many panes over one WebSocket. Output is sent as binary frames that all subscribers of a pane share; each
 * channel has credit, so that one busy pane does not fill the connection for the others. Responses come in the order in
 * which their requests finish; input keeps the order in which it was sent, because each pane has one FIFO.
 */
import type { WebSocket } from "ws";
import type { OpenSubscription } from "../../daemon/panes/feeds.ts";
import type { PaneFeed } from "../../daemon/panes/paneFeed.ts";
import type { SubscriptionSink } from "../../daemon/panes/subscription.ts";
import { STREAM_INITIAL_CREDIT_BYTES } from "../../protocol/api/native/nativeFrames.ts";
import {
  type StreamMessage,
  type StreamRequest,
  type StreamRequestOf,
  streamRequestSchema,
} from "../../protocol/api/native/nativeStream.ts";
import { parse } from "../../protocol/api/parse.ts";
import { AppError, shuttingDown } from "../../protocol/errors.ts";
import { formatGap, formatPosition } from "../../protocol/position.ts";
import { visibleError } from "../kit/guard/httpErrors.ts";
import { parseJsonText } from "../kit/guard/jsonText.ts";
import { SocketWriter } from "../kit/streams/websocket.ts";
import { nativeSnapshot, streamInput } from "../operations/panes/screenOutputs.ts";
import { nativeReadiness, nativeWaiting } from "../operations/outputs.ts";
import type { NativeContext } from "./nativeContext.ts";
import { ReadinessStream } from "../operations/panes/readinessAsked.ts";
import { streamStart } from "../operations/panes/inputs.ts";
import { HostSockets } from "../remote/hostSockets.ts";
import { SocketCalls } from "./socketCalls.ts";
import { SocketEvents } from "./socketEvents.ts";
import { findPaneOrAgent } from "../operations/findTargets.ts";

const TRANSPORT = { transport: "websocket" } as const;
/** How many panes one connection may follow. */
const MAX_CHANNELS = 1_024;
/** RFC 6455 §7.4.1: going away. */
const CLOSE_GOING_AWAY = 1_001;

interface Channel {
  /** 0 before it is assigned. */
  number: number;
  /** `subscribed` has been sent. */
  isOpen: boolean;
  subscription: OpenSubscription | undefined;
  readiness: ReadinessStream | undefined;
  creditBytes: number;
}

export class StreamSocket {
  readonly #context: NativeContext;
  readonly #socket: WebSocket;
  readonly #writer: SocketWriter;
  readonly #channels = new Map<number, Channel>();
  readonly #serverEvents: SocketEvents;
  readonly #calls: SocketCalls;
  /** What other machines have. */
  readonly #elsewhere: HostSockets | undefined;
  /** Requests without a response yet. */
  #underWay = 0;
  #isStopping = false;
  readonly #stop = (): void => {
    this.#isStopping = true;
    for (const { subscription } of this.#channels.values()) subscription?.finish(shuttingDown());
    this.#serverEvents.finish(shuttingDown());
    this.#elsewhere?.finish(shuttingDown());
    this.#leaveWhenSettled();
  };

  constructor(context: NativeContext, socket: WebSocket) {
    this.#context = context;
    this.#socket = socket;
    this.#writer = new SocketWriter({
      socket,
      clock: context.clock,
      ...context.bounds,
      onDrain: () => this.#pump(),
      onStall: () => context.metrics.streamsStalled.add(1, TRANSPORT),
    });
    this.#serverEvents = new SocketEvents(context, this.#writer);
    this.#calls = new SocketCalls(context, {
      room: () => this.#writer.room(),
      respond: (id, work, message) => this.#respond(id, work, message),
    });
    if (context.remote !== undefined) {
      this.#elsewhere = new HostSockets(context.remote, {
        newChannel: () => context.channels.next(),
        room: () => this.#writer.room(),
        send: (message) => this.#send(message),
        binary: (frame) => this.#writer.binary(frame),
        fail: (id, error) => this.#fail(id, error),
      });
    }
    context.open.add(this.#stop);
  }

  /** Handles a text message; nothing in it can end the connection. Settles with its response, if it is a call. */
  message(data: unknown): Promise<unknown> | undefined {
    let id: number | null = null;
    try {
      const json = typeof data === "string" ? parseJsonText(data) : undefined;
      id = idOf(json);
      const request = parse(streamRequestSchema, json);
      if (this.#isStopping) throw shuttingDown();
      if (this.#elsewhere?.take(request) === true) return undefined;
      // Calls, input and sizes open their server themselves (`perform`).
      const opens = request.type === "subscribe" || request.type === "follow-events";
      const opening = opens ? this.#context.onDemand?.reach(request.server) : undefined;
      if (opening === undefined) return this.#request(request);
      return opening
        .then(() => (this.#isOpen ? this.#request(request) : undefined))
        .catch((error: unknown) => this.#fail(id, error));
    } catch (error) {
      this.#fail(id, error);
      return undefined;
    }
  }

  /** Called when the connection is gone. Safe to call twice. */
  closed(): void {
    this.#context.open.delete(this.#stop);
    this.#writer.close();
    this.#serverEvents.close();
    this.#calls.close();
    this.#elsewhere?.close();
    for (const channel of this.#channels.values()) endChannel(channel);
    this.#channels.clear();
  }

  get #isOpen(): boolean {
    return this.#context.open.has(this.#stop);
  }

  #request(request: StreamRequest): Promise<unknown> | undefined {
    if (this.#isStopping) throw shuttingDown();
    switch (request.type) {
      case "subscribe":
        this.#subscribe(request);
        return undefined;
      case "unsubscribe":
        endChannel(this.#channels.get(request.channel));
        this.#channels.delete(request.channel);
        this.#send({ type: "ack", id: request.id });
        return undefined;
      case "credit": {
        const channel = this.#channels.get(request.channel);
        if (channel === undefined) return undefined;
        channel.creditBytes = Math.min(Number.MAX_SAFE_INTEGER, channel.creditBytes + request.bytes);
        channel.subscription?.pump();
        return undefined;
      }
      case "follow-events":
        this.#serverEvents.follow(request);
        return undefined;
      case "unfollow-events":
        this.#serverEvents.unfollow(request);
        return undefined;
      case "input":
        return this.#calls.input(request);
      case "resize":
        return this.#calls.resize(request);
      case "call":
        return this.#calls.call(request);
      case "cancel":
        this.#calls.cancel(request);
        return undefined;
    }
  }

  #target(request: { readonly server: string; readonly pane: string }) {
    return findPaneOrAgent(this.#context, request.server, request.pane);
  }

  #subscribe(request: StreamRequestOf<"subscribe">): void {
    if (this.#channels.size >= MAX_CHANNELS) {
      throw new AppError(
        "RESOURCE_LIMIT",
        `a connection can follow at most ${MAX_CHANNELS} panes; open another connection`,
      );
    }
    const { server, pane } = this.#target(request);
    const channel: Channel = {
      number: 0,
      isOpen: false,
      subscription: undefined,
      readiness: undefined,
      creditBytes: request.creditBytes ?? STREAM_INITIAL_CREDIT_BYTES,
    };
    try {
      if (request.readiness === true) {
        channel.readiness = new ReadinessStream(this.#context, server, pane.id, {
          // Nothing is sent before `subscribed`; credit counts output only.
          room: () => (channel.isOpen ? this.#writer.room() : 0),
          send: (state) => this.#send({ type: "readiness", channel: channel.number, ...nativeReadiness(state) }),
        });
      }
      const start = streamStart(request.from ?? "now");
      const sinkFor = (feed: PaneFeed): SubscriptionSink => this.#sink(feed, channel, request, pane.id);
      channel.subscription = this.#context.feedsOf(server).subscribe(pane.id, start, sinkFor);
    } catch (error) {
      if (this.#channels.get(channel.number) === channel) this.#channels.delete(channel.number);
      endChannel(channel);
      throw error;
    }
    channel.subscription.pump();
    channel.readiness?.pump();
  }

  /** @throws AppError ALREADY_EXISTS */
  #sink(feed: PaneFeed, channel: Channel, request: StreamRequestOf<"subscribe">, pane: string): SubscriptionSink {
    const { encode, number } = this.#context.channels.of(feed);
    const { metrics } = this.#context;
    if (this.#channels.has(number)) {
      throw new AppError("ALREADY_EXISTS", `this connection already follows ${pane} on channel ${number}`);
    }
    this.#channels.set(number, channel);
    channel.number = number;
    return {
      room: () => Math.min(channel.creditBytes, this.#writer.room()),
      open: (position, { cols, rows }) => {
        this.#send({
          type: "subscribed",
          id: request.id,
          channel: number,
          server: request.server,
          pane,
          position: formatPosition(position),
          cols,
          rows,
          ...nativeWaiting(feed.source.waiting),
        });
        channel.isOpen = true;
      },
      output: (chunk) => {
        const bytes = chunk.to - chunk.from;
        channel.creditBytes -= bytes;
        metrics.streamBytes.add(bytes, TRANSPORT);
        this.#writer.binary(feed.frame(encode, chunk));
      },
      gap: (gap) => {
        metrics.streamGaps.add(1, { reason: gap.reason });
        this.#send({ type: "gap", channel: number, ...formatGap(gap) });
      },
      snapshot: (snapshot) => {
        metrics.streamSnapshots.add();
        this.#send({ type: "snapshot", channel: number, ...nativeSnapshot(snapshot) });
      },
      resized: (cols, rows) => this.#send({ type: "resize", channel: number, cols, rows }),
      ...(request.input === true
        ? { typed: (typed) => this.#send({ type: "input", channel: number, ...streamInput(typed) }) }
        : {}),
      exited: (status) => this.#send({ type: "exit", channel: number, ...status }),
      closed: (error) => {
        // Before `subscribed` the request still needs its response.
        if (channel.isOpen) this.#send({ type: "closed", channel: number, code: error.code, message: error.message });
        else this.#fail(request.id, error);
        endChannel(channel);
        this.#channels.delete(number);
      },
    };
  }

  #pump(): void {
    this.#serverEvents.pump();
    this.#elsewhere?.pump();
    for (const { subscription, readiness } of this.#channels.values()) {
      readiness?.pump();
      subscription?.pump();
    }
  }

  #respond<Output>(id: number, work: Promise<Output>, message: (output: Output) => StreamMessage): Promise<unknown> {
    this.#underWay += 1;
    return work
      .then(
        (output) => this.#send(message(output)),
        (error: unknown) => this.#fail(id, error),
      )
      .then(() => {
        this.#underWay -= 1;
        this.#leaveWhenSettled();
        return undefined;
      });
  }

  #leaveWhenSettled(): void {
    if (!this.#isStopping || this.#underWay > 0) return;
    this.#socket.close(CLOSE_GOING_AWAY, "the daemon is stopping");
    this.closed();
  }

  #fail(id: number | null, thrown: unknown): void {
    const { message, error } = visibleError(thrown);
    if (error.code === "INTERNAL_ERROR") this.#context.log.error("native.socket.failed", { error });
    this.#send({ type: "error", id, code: error.code, message, details: error.details });
  }

  #send(message: StreamMessage): void {
    this.#writer.text(JSON.stringify(message));
  }
}

function endChannel(channel: Channel | undefined): void {
  channel?.subscription?.close();
  channel?.readiness?.[Symbol.dispose]();
}

function idOf(json: unknown): number | null {
  if (typeof json !== "object" || json === null || !("id" in json)) return null;
  return typeof json.id === "number" && Number.isSafeInteger(json.id) ? json.id : null;
}
