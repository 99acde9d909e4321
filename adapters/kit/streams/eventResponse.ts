/** A response that is a reader's events, as server-sent events, until the reader's connection or the listener ends. */
import type { Context } from "hono";
import type { Clock } from "../../../daemon/time/clock.ts";
import { AppError } from "../../../protocol/errors.ts";
import { alreadySent } from "../guard/alreadySent.ts";
import type { GuardEnv } from "../guard/requestGuard.ts";
import type { EventReader } from "./eventLog.ts";
import { type SseOptions, SseWriter } from "./sseWriter.ts";

interface EventResponseOptions extends Pick<SseOptions, "stallMs" | "bufferBytes" | "cacheControl" | "keepAlive"> {
  readonly clock: Clock;
  /** What ends the streams of this listener; this one is added while it is open. */
  readonly open: Set<() => void>;
  /** Written at once, before any event. */
  readonly first?: string | undefined;
  /** Written when the listener ends the stream. */
  readonly last?: (() => string) | undefined;
  /** The connection was cut because it took nothing. */
  readonly onStalled?: (() => void) | undefined;
  /** What reads the events; `write` takes a whole frame, `end` is after the last one. */
  readonly read: (out: Pick<SseWriter, "room" | "write" | "end">) => EventReader;
}

export function eventResponse(
  c: Context<GuardEnv>,
  { open, first, last, onStalled, read, ...writing }: EventResponseOptions,
): Response {
  const { outgoing } = c.env;
  if (outgoing === undefined) throw new AppError("INTERNAL_ERROR", "a stream needs a connection");
  let reader: EventReader | undefined;
  const end = (): void => {
    open.delete(stop);
    reader?.close();
  };
  const stop = (): void => {
    if (last !== undefined) writer.write(last());
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
  open.add(stop);
  reader.pump();
  return alreadySent();
}
