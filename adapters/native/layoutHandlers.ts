/** Windows and panes over HTTP: lists, the tree, the operations with their targets resolved, and the stream of events. */
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { TmuxServer } from "../../daemon/server/tmuxServer.ts";
import type { LayoutOperation } from "../../daemon/tmux/layout.ts";
import {
  LAYOUT_OPERATIONS,
  type LayoutOperationName,
  layoutOperationNames,
  type NativeLayoutResult,
} from "../../protocol/api/nativeLayout.ts";
import { eventsQuerySchema } from "../../protocol/api/nativeRequests.ts";
import { AppError } from "../../protocol/errors.ts";
import { daemonStopping } from "../http/errors.ts";
import { sseEvent, SseWriter } from "../http/sse.ts";
import type { NativeContext, NativeHandlerContext } from "./context.ts";
import { requireReadiness } from "../operations/readinessAsked.ts";
import { parse } from "../operations/inputs.ts";
import { findPane, findServer, findSession, findWindow } from "../operations/findTargets.ts";

type Handler = (context: NativeContext, c: NativeHandlerContext) => Response | Promise<Response>;

const serverOf = ({ servers }: NativeContext, c: NativeHandlerContext): TmuxServer =>
  findServer(servers, c.req.param("server") ?? "");

const run =
  (kind: LayoutOperationName): Handler =>
  async (context, c) => {
    const server = serverOf(context, c);
    const body = parse(LAYOUT_OPERATIONS[kind].body, c.get("json"));
    const { session, window, pane } = await server.layout.run(operationOf(server, kind, body));
    const answer: NativeLayoutResult = { session: session ?? null, window: window ?? null, pane: pane ?? null };
    return c.json(answer);
  };

/** Which members name something, and what. */
const TARGETS: Readonly<Record<string, (server: TmuxServer, text: string) => { readonly id: string }>> = {
  pane: findPane,
  with: findPane,
  to: findPane,
  window: findWindow,
  after: findWindow,
  session: findSession,
};

/** @throws AppError NOT_FOUND */
function operationOf(server: TmuxServer, kind: LayoutOperationName, body: object): LayoutOperation {
  const members = Object.entries(body).map(([name, value]: [string, unknown]) => {
    const find = Object.hasOwn(TARGETS, name) ? TARGETS[name] : undefined;
    return [name, find === undefined || typeof value !== "string" ? value : find(server, value).id];
  });
  return { kind, ...Object.fromEntries(members) } as LayoutOperation;
}

const OPERATION_HANDLERS = Object.fromEntries(layoutOperationNames.map((name) => [name, run(name)])) as Readonly<
  Record<LayoutOperationName, Handler>
>;

export const LAYOUT_HANDLERS: Readonly<Record<LayoutOperationName | "listWindows" | "tree" | "serverEvents", Handler>> =
  {
    ...OPERATION_HANDLERS,
    listWindows: (context, c) => {
      const { sessions, windows } = serverOf(context, c).layout.tree();
      const sessionsOf = (window: string): readonly string[] =>
        sessions.filter((session) => session.windows.some((place) => place.window === window)).map(({ id }) => id);
      return c.json({ windows: windows.map((window) => ({ ...window, sessions: sessionsOf(window.id) })) });
    },
    tree: (context, c) => c.json(context.eventsOf(serverOf(context, c)).tree()),
    serverEvents: (context, c) => {
      const server = serverOf(context, c);
      const { after, readiness = false } = parse(eventsQuerySchema, c.req.query());
      const lastEventId = c.req.header("last-event-id");
      return openServerEvents(context, c, server, {
        after: lastEventId === undefined || lastEventId === "" ? after : lastEventId,
        readiness,
      });
    },
  };

const TRANSPORT = { transport: "sse" } as const;

/** What the reader takes no longer is not written to it: it reads on from what is kept, or gets the whole tree again. */
function openServerEvents(
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
    const { code, message } = daemonStopping();
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
  return RESPONSE_ALREADY_SENT;
}
