/**
 * A contract of your own, made of the kit alone: `GET /scribe/panes`, `POST /scribe/panes/:pane/lines` and the stream
 * `GET /scribe/panes/:pane/output`. Everything that it shares with the other contracts comes from `adapters/kit` (guard,
 * rows, errors, streams) and `daemon` (tmux, once per key); what is left is what only this contract says.
 */
import type { Context } from "hono";
import { Hono } from "hono";
import * as v from "valibot";
import { errorHandler } from "../../../adapters/kit/guard/httpErrors.ts";
import { createGuard, type GuardEnv } from "../../../adapters/kit/guard/requestGuard.ts";
import { endpointsOf, serveRoutes } from "../../../adapters/kit/guard/routes.ts";
import { listen, type Listener } from "../../../adapters/kit/listeners/listen.ts";
import { paneEventResponse } from "../../../adapters/kit/streams/paneEvents.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import { Once, OnceMemory } from "../../../daemon/ops/once.ts";
import { Feeds } from "../../../daemon/panes/feeds.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { parse } from "../../../protocol/api/parse.ts";
import { AppError, type ErrorCode } from "../../../protocol/errors.ts";
import { isPaneId, type PaneId } from "../../../protocol/ids.ts";

const MAX_BODY_BYTES = 65_536;
/** A client that repeats a line does so within minutes. */
const KEPT_MS = 600_000;
const MAX_KEPT = 1_000;

const panesSchema = v.strictObject({ panes: v.array(v.strictObject({ pane: v.string(), title: v.string() })) });
const lineSchema = v.strictObject({ line: v.pipe(v.string(), v.regex(/^[^\r\n\0]+$/, "must be one line")) });
/** Output that the line causes comes after this position of the stream. */
const typedSchema = v.strictObject({ pane: v.string(), outputSeq: v.number() });
type Typed = v.InferOutput<typeof typedSchema>;

interface ScribeOptions {
  readonly server: TmuxServer;
  readonly token: string;
  readonly clock: Clock;
  readonly log: Log;
}

const endpoint = endpointsOf({
  read: (c, schema) => (schema === undefined ? undefined : parse(schema, c.get("json"))),
  maxJsonBytes: MAX_BODY_BYTES,
});
const ON_TMUX: readonly ErrorCode[] = ["NOT_FOUND", "CONNECTION_LOST"];

interface ScribeApp {
  readonly app: Hono<GuardEnv>;
  /** Ends every stream; call it before the listener's `close`. */
  readonly end: () => void;
}

export function createScribeApp({ server, token, clock, log }: ScribeOptions): ScribeApp {
  const feeds = new Feeds({ server, clock, onError: (error) => log.error("scribe.stream.failed", { error }) });
  const open = new Set<() => void>();
  const lines = new Once<Typed>({
    store: new OnceMemory({ maxEntries: MAX_KEPT, keptMs: KEPT_MS, nowMs: () => clock.nowMs() }),
  });
  const paneOf = (c: Context<GuardEnv>): PaneId => {
    const pane = `%${c.req.param("pane")}`;
    if (isPaneId(pane) && server.findPane(pane) !== undefined) return pane;
    throw new AppError("NOT_FOUND", "there is no such pane; GET /scribe/panes lists them");
  };
  const app = new Hono<GuardEnv>();
  app.onError(errorHandler(log, ({ message, error }) => ({ code: error.code, message })));
  const guard = createGuard({
    peers: "loopback",
    hosts: new Set(),
    origins: new Set(),
    missingOrigin: "allow",
    token,
    clock,
  });
  serveRoutes(app, guard, [
    endpoint({
      method: "GET",
      path: "/scribe/panes",
      auth: true,
      response: { 200: panesSchema },
      errors: [],
      handle: (c) => c.json({ panes: server.panes().map(({ id, title }) => ({ pane: id, title })) }),
    }),
    endpoint({
      method: "POST",
      path: "/scribe/panes/:pane{[0-9]+}/lines",
      auth: true,
      request: lineSchema,
      response: { 201: typedSchema },
      errors: [...ON_TMUX, "INVALID_ARGUMENT", "ALREADY_EXISTS", "RESOURCE_LIMIT"],
      idempotent: true,
      handle: async (c, { line }) => {
        const pane = paneOf(c);
        const type = async (): Promise<Typed> => {
          const bytes = new TextEncoder().encode(line);
          const { position } = await server.input(pane, [
            { kind: "text", bytes },
            { kind: "keys", keys: ["Enter"] },
          ]);
          return { pane, outputSeq: position.outputSeq };
        };
        const key = c.req.header("idempotency-key");
        return c.json(await (key === undefined ? type() : lines.run([pane, key], line, type)), 201);
      },
    }),
    endpoint({
      method: "GET",
      path: "/scribe/panes/:pane{[0-9]+}/output",
      auth: true,
      response: { 200: "text/event-stream" },
      errors: ON_TMUX,
      handle: (c) =>
        paneEventResponse(c, { feeds, serverName: "scribe", pane: paneOf(c), start: { kind: "now" }, clock, open }),
    }),
  ]);
  return {
    app,
    end: () => {
      for (const end of open) end();
    },
  };
}

/** On a port of this machine; 0 lets the system choose. */
export async function serveScribe(options: ScribeOptions, port: number): Promise<Listener> {
  const { app, end } = createScribeApp(options);
  const { clock, log } = options;
  const listener = await listen({ fetch: app.fetch, host: "127.0.0.1", port, clock, log });
  const close = async (): Promise<void> => {
    end();
    await listener.close();
  };
  return { ...listener, close };
}
