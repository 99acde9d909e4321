/**
 * A reader's events until its connection or the listener ends: server-sent events as a response, or the same frames as
 * messages of a WebSocket, of which a browser keeps far more at once than connections for requests (six for all its tabs).
 */
import type { Context } from "hono";
import type { WebSocket } from "ws";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import { AppError } from "../../../protocol/errors.ts";
import { alreadySent } from "../guard/alreadySent.ts";
import type { GuardEnv } from "../guard/requestGuard.ts";
import type { EventReader } from "./eventLog.ts";
import { type SseOptions, SseWriter } from "./sseWriter.ts";
import { type SocketSession, SocketWriter } from "./websocket.ts";

export interface EventResponseOptions extends Pick<
  SseOptions,
  "stallMs" | "bufferBytes" | "cacheControl" | "keepAlive"
> {
  readonly clock: Clock;
  /** What ends the streams of this listener; this one is added while it is open. */
  readonly open: Set<() => void>;
  /** Written at once, before any event. */
  readonly first?: string | undefined;
  /** Says the last word when the listener ends the stream. */
  readonly last?: ((out: Out) => void) | undefined;
  /** The connection was cut because it took nothing. */
  readonly onStalled?: (() => void) | undefined;
  /** What reads the events; `write` takes a whole frame, `end` is after the last one. What it throws is an ordinary error response. */
  readonly read: (out: Out) => EventReader;
}

type Out = Pick<SseWriter, "room" | "write" | "end">;

export function eventResponse(
  c: Context<GuardEnv>,
  { open, first, last, onStalled, read, ...writing }: EventResponseOptions,
): Response {
  const { outgoing } = c.env;
  if (outgoing === undefined) throw new AppError("INTERNAL_ERROR", "a stream needs a connection");
  // Its client has left meanwhile, which nothing would tell us any more.
  if (outgoing.destroyed) return alreadySent();
  let reader: EventReader | undefined;
  const end = (): void => {
    open.delete(stop);
    reader?.close();
  };
  const stop = (): void => {
    last?.(writer);
    writer.end();
    end();
  };
  const writer = new SseWriter({
    outgoing,
    headers: Object.fromEntries(c.body(null).headers),
    ...writing,
    onDrain: () => reader?.pump(),
    onClose: (reason) => {
      if (reason === "stalled") onStalled?.();
      end();
    },
  });
  if (first !== undefined) writer.write(first);
  reader = read(writer);
  writer.begin();
  open.add(stop);
  reader.pump();
  return alreadySent();
}

/** RFC 6455 §7.4.1. */
const CLOSE = { goingAway: 1_001, policyViolation: 1_008 };

/** The client sends nothing. */
export function eventSocket(
  socket: WebSocket,
  { open, first, last, onStalled, read, clock, keepAlive, stallMs, bufferBytes }: EventResponseOptions,
): SocketSession {
  let [timer, reader]: [Timer | undefined, EventReader | undefined] = [undefined, undefined];
  const writer = new SocketWriter({
    socket,
    clock,
    stallMs,
    bufferBytes,
    onDrain: () => reader?.pump(),
    onStall: () => onStalled?.(),
  });
  const stop = (): void => {
    last?.(out);
    socket.close(CLOSE.goingAway, "the daemon is stopping");
    closed();
  };
  const closed = (): void => {
    open.delete(stop);
    timer?.cancel();
    writer.close();
    reader?.close();
  };
  // A page does not see a WebSocket's pings.
  const beat = ({ frame, everyMs }: NonNullable<typeof keepAlive>): void => {
    timer = clock.callAt(clock.nowMs() + everyMs, () => {
      writer.text(frame);
      beat({ frame, everyMs });
    });
  };
  if (keepAlive !== undefined) beat(keepAlive);
  if (first !== undefined) writer.text(first);
  const out = { room: () => writer.room(), write: (frame: string | Uint8Array) => writer.text(frame), end: stop };
  reader = read(out);
  open.add(stop);
  reader.pump();
  return {
    message: () => {
      socket.close(CLOSE.policyViolation, "nothing is expected here");
      return undefined;
    },
    closed,
  };
}
