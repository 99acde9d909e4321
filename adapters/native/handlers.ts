/** What each endpoint does, by its id. Validation and errors are common to all; these only connect the parts. */
import { stat } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import type { ReadinessState } from "../../daemon/readiness/readiness.ts";
import type { CaptureOptions, PaneInfo, ServerState, TmuxServer } from "../../daemon/server/tmuxServer.ts";
import type { NativeOk, NativeRunAnswer } from "../../protocol/api/nativeAnswers.ts";
import {
  captureQuerySchema,
  createSessionSchema,
  inputRequestSchema,
  NATIVE_DEFAULT_OUTPUT_BYTES,
  NATIVE_DEFAULT_TIMEOUT_MS,
  runRequestSchema,
  sizeRequestSchema,
  streamQuerySchema,
  waitRequestSchema,
} from "../../protocol/api/nativeRequests.ts";
import { runCommand } from "../../daemon/panes/runCommand.ts";
import { AppError } from "../../protocol/errors.ts";
import { formatGap, formatPosition, gapWithin } from "../../protocol/position.ts";
import { AnsiStripper, stripRoom } from "../../protocol/text/ansi.ts";
import {
  captureAnswer,
  paneAnswer,
  paneDetailsAnswer,
  serverAnswer,
  sessionAnswer,
  waitAnswer,
} from "../operations/outputs.ts";
import { snapshotAnswer } from "../operations/screenOutputs.ts";
import type { NativeContext, NativeHandlerContext } from "./context.ts";
import type { EndpointId } from "./endpoints.ts";
import { DELIVERY_HANDLERS } from "./deliveryHandlers.ts";
import { openEventStream } from "./eventStream.ts";
import { LAYOUT_HANDLERS } from "./layoutHandlers.ts";
import { longAnswer } from "./longAnswer.ts";
import { readinessNow, readyPredicate, requireReadiness, TypedGate } from "../operations/readinessAsked.ts";
import { inputParts, parse, streamStart, typedBytes, waitRequest } from "../operations/inputs.ts";
import { findPane, findServer, findSession } from "../operations/findTargets.ts";

type Handler = (context: NativeContext, c: NativeHandlerContext) => Response | Promise<Response>;

const OK: NativeOk = { ok: true };

export const HANDLERS: Readonly<Record<Exclude<EndpointId, "socket" | "openapi" | "metrics">, Handler>> = {
  listServers: async ({ servers }, c) => {
    await statesNow(servers);
    return c.json({ servers: [...servers].map(([name, server]) => serverAnswer(name, server)) });
  },
  listSessions: (context, c) => c.json({ sessions: serverOf(context, c).server.sessions().map(sessionAnswer) }),
  createSession: async (context, c) => {
    const { server } = serverOf(context, c);
    const request = parse(createSessionSchema, c.get("json"));
    if (request.cwd !== undefined) await requireDirectory(request.cwd);
    const name = request.name ?? `tw-${randomBytes(4).toString("hex")}`;
    return c.json(sessionAnswer(await server.createSession({ ...request, name })), 201);
  },
  killSession: async (context, c) => {
    const { server } = serverOf(context, c);
    await server.killSession(findSession(server, c.req.param("session") ?? "").id);
    return c.json(OK);
  },
  listPanes: (context, c) => {
    const { server } = serverOf(context, c);
    const known = (pane: PaneInfo) => context.readiness?.known(server, pane.id);
    return c.json({ panes: server.panes().map((pane) => paneAnswer(server, pane, known(pane))) });
  },
  describePane: async (context, c) => {
    const { server, pane } = paneOf(context, c);
    const [details, readiness] = await Promise.all([
      server.describePane(pane.id),
      readinessNow(context, server, pane.id),
    ]);
    return c.json(paneDetailsAnswer(server, server.findPane(pane.id) ?? pane, details, readiness));
  },
  input: async (context, c) => {
    const { server, pane } = paneOf(context, c);
    const { parts } = parse(inputRequestSchema, c.get("json"));
    const { position } = await server.input(pane.id, inputParts(parts));
    return c.json({ position: formatPosition(position) });
  },
  capture: async (context, c) => {
    const { server, pane } = paneOf(context, c);
    const { lines, joined, ansi } = parse(captureQuerySchema, c.req.query());
    return c.json(captureAnswer(await server.capture(pane.id, { lines, joinWrapped: joined, ansi })));
  },
  snapshot: async (context, c) => {
    const { server, pane } = paneOf(context, c);
    return c.json(snapshotAnswer(await server.snapshot(pane.id)));
  },
  wait: (context, c) => {
    const { server, pane } = paneOf(context, c);
    const body = parse(waitRequestSchema, c.get("json"));
    const parts = body.send === undefined ? undefined : inputParts(body.send.parts);
    const echo = parts === undefined ? undefined : typedBytes(parts);
    const typed = new TypedGate(parts === undefined);
    const ready = (state: ReadinessState) => readyPredicate(requireReadiness(context), server, pane.id, state, typed);
    const view = { capture: (options: CaptureOptions) => server.capture(pane.id, options) };
    const request = waitRequest(body, ready, echo, view);
    const source = server.output(pane.id);
    const asksReady = [body, ...(body.anyOf ?? [])].some((set) => set.ready !== undefined);
    return longAnswer(c, context.clock, async (signal) => {
      // What held before is known before anything is typed.
      using before = asksReady ? requireReadiness(context).watch(server, pane.id) : undefined;
      await before?.look();
      const result =
        parts === undefined
          ? await context.waits.wait(source, request, { signal })
          : await context.waits.sendAndWait(
              source,
              request,
              (armed) => {
                const beforeWrite = (): void => {
                  armed();
                  typed.open();
                };
                return server.input(pane.id, parts, { beforeWrite, signal });
              },
              { signal },
            );
      return waitAnswer(result);
    });
  },
  run: (context, c) => {
    const { server, pane } = paneOf(context, c);
    const body = parse(runRequestSchema, c.get("json"));
    const release = claimRun(context, server, pane);
    return longAnswer(c, context.clock, async (signal) => {
      try {
        const result = await runCommand(
          { server, pane: pane.id, clock: context.clock },
          {
            command: body.command,
            timeoutMs: body.timeoutMs ?? NATIVE_DEFAULT_TIMEOUT_MS,
            maxOutputBytes: body.maxOutputBytes ?? NATIVE_DEFAULT_OUTPUT_BYTES,
            signal,
          },
        );
        return {
          output: body.format === "raw" ? Buffer.from(result.bytes).toString("base64") : plainText(result.bytes),
          exitCode: result.exitCode ?? null,
          from: formatPosition(result.from),
          to: formatPosition(result.to),
          gaps: result.gaps.map((gap) => formatGap(gapWithin(result.from.epoch, gap))),
          method: result.method,
          elapsedMs: Math.round(result.elapsedMs * 1_000) / 1_000,
        } satisfies NativeRunAnswer;
      } finally {
        release();
      }
    });
  },
  ...DELIVERY_HANDLERS,
  ...LAYOUT_HANDLERS,
  resize: async (context, c) => {
    const { server, pane } = paneOf(context, c);
    const { cols, rows } = parse(sizeRequestSchema, c.get("json"));
    await server.resize(pane.id, cols, rows);
    return c.json(OK);
  },
  follow: (context, c) => {
    const target = paneOf(context, c);
    const query = parse(streamQuerySchema, c.req.query());
    const lastEventId = c.req.header("last-event-id");
    const from = lastEventId === undefined || lastEventId === "" ? (query.from ?? "now") : lastEventId;
    return openEventStream(context, c, target, { start: streamStart(from), readiness: query.readiness === true });
  },
  livez: (_context, c) => c.json(OK),
  readyz: async ({ servers }, c) => {
    const states = await statesNow(servers);
    const ok = states.every(([, state]) => state === "ready");
    return c.json({ ok, servers: Object.fromEntries(states) }, ok ? 200 : 503);
  },
};

/** Asked of tmux: between two heartbeats somebody may have moved or stopped our client. */
const statesNow = (servers: NativeContext["servers"]): Promise<(readonly [string, ServerState])[]> =>
  Promise.all([...servers].map(async ([name, server]) => [name, (await server.check()).state] as const));

function serverOf({ servers }: NativeContext, c: NativeHandlerContext) {
  const serverName = c.req.param("server") ?? "";
  return { serverName, server: findServer(servers, serverName) };
}

function paneOf(context: NativeContext, c: NativeHandlerContext) {
  const { serverName, server } = serverOf(context, c);
  return { serverName, server, pane: findPane(server, c.req.param("pane") ?? "") };
}

/** One `run` per pane: the second would type into the first's command. @throws AppError INCONSISTENT_STATE */
function claimRun({ running }: NativeContext, server: TmuxServer, { id }: PaneInfo): () => void {
  const panes = running.get(server) ?? new Set();
  running.set(server, panes);
  if (panes.has(id)) throw new AppError("INCONSISTENT_STATE", `a run is under way in pane ${id}; wait for its end`);
  panes.add(id);
  return () => void panes.delete(id);
}

async function requireDirectory(path: string): Promise<void> {
  const stats = await stat(path).catch((error: unknown) => {
    throw new AppError("INVALID_ARGUMENT", `cwd: ${path} does not exist`, { cause: error });
  });
  if (!stats.isDirectory()) throw new AppError("INVALID_ARGUMENT", `cwd: ${path} is not a directory`);
}

function plainText(bytes: Uint8Array): string {
  const out = Buffer.allocUnsafe(stripRoom(bytes.length));
  const length = new AnsiStripper().strip(bytes, out, 0, 0, { mark: () => undefined });
  return out.toString("utf8", 0, length);
}
