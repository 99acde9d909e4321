/** `GET …/events`: what happens on a server as server-sent events. A slow reader has no queue: see `ServerEvents`. */
import { alreadySent } from "../http/alreadySent.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { AppError, shuttingDown } from "../../protocol/errors.ts";
import { sseEvent, SseWriter } from "../http/sseWriter.ts";
import { requireReadiness } from "../operations/readinessAsked.ts";
import type { NativeContext, NativeHandlerContext } from "./nativeContext.ts";

const TRANSPORT = { transport: "sse" } as const;

/** A reader that falls behind catches up from the kept events, or gets the whole tree again. */
export function openServerEvents(
  context: NativeContext,
  c: NativeHandlerContext,
  server: TmuxServer,
  { after, readiness }: { readonly after: string | undefined; readonly readiness: boolean },
): Response {
  const { clock, bounds, open, metrics } = context;
  const { outgoing } = c.env;
  if (outgoing === undefined) throw new AppError("INTERNAL_ERROR", "a stream needs a connection");
  if (readiness) requireReadiness(context);
  const stop = (): void => {
    const { code, message } = shuttingDown();
    writer.write(sseEvent("closed", JSON.stringify({ type: "closed", code, message })));
    writer.end();
    end();
  };
  const end = (): void => {
    open.delete(stop);
    reader.close();
  };
  const writer = new SseWriter({
    outgoing,
    headers: Object.fromEntries(c.body(null).headers),
    clock,
    ...bounds,
    onDrain: () => reader.pump(),
    onClose: (reason) => {
      if (reason === "stalled") metrics.streamsStalled.add(1, TRANSPORT);
      end();
    },
  });
  const reader = context.eventsOf(server).open(
    {
      room: () => writer.room(),
      send: (event, data, id) => writer.write(sseEvent(event, data, id)),
    },
    after,
    readiness,
  );
  open.add(stop);
  reader.pump();
  return alreadySent();
}
