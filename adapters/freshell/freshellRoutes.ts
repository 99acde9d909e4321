/** The contract's routes over HTTP. Each only translates: the book, the engine or the tokens do the work. */
import type { Context } from "hono";
import {
  createTerminalSchema,
  deviceSessionSchema,
  type FreshellHealth,
  type FreshellOk,
  freshellWaitSchema,
  type LanInfo,
  refreshSchema,
  type TerminalInputResponse,
  type TerminalKillResponse,
  type TerminalResizeRequest,
  terminalCaptureSchema,
  terminalInputSchema,
  terminalResizeSchema,
} from "../../protocol/api/freshell/freshellHttp.ts";
import { AppError } from "../../protocol/errors.ts";
import { longResponse } from "../kit/streams/longResponse.ts";
import type { GuardEnv, RouteHandler } from "../kit/guard/requestGuard.ts";
import type { Route } from "../kit/guard/routes.ts";
import { lanAddresses } from "./freshellConfig.ts";
import type { FreshellContext } from "./freshellContext.ts";
import { faultBody } from "./freshellFaults.ts";
import { fileRoutes } from "./files/fileRoutes.ts";
import { pageRoutes } from "./files/pageRoutes.ts";
import { deviceRoutes } from "./relay/deviceRoutes.ts";
import { get, getQuery, plain, post } from "./freshellRequests.ts";
import { sourceOf, waitFor } from "./freshellWaits.ts";
import { sessionRoutes } from "./sessions/agentSessionRoutes.ts";
import type { Terminal } from "./terminals/terminal.ts";
import { captureOf, textParts, tokenParts, typeInto } from "./terminals/terminalUse.ts";
import { tokenOf } from "./tokens/credentials.ts";

interface FreshellRouteParts {
  readonly renderMetrics: () => string;
  /** `/ws`. */
  readonly socket: RouteHandler;
  readonly homeDir: string;
  /** Where the built page is. */
  readonly pageDirectory: string;
}

const METRICS_TYPE = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
const OK: FreshellOk = { ok: true };

export function freshellRoutes(context: FreshellContext, parts: FreshellRouteParts): readonly Route[] {
  return [
    ...common(context, parts),
    ...terminals(context),
    ...waits(context),
    ...deviceSessions(context),
    ...deviceRoutes(context),
    ...fileRoutes(context.book, parts.homeDir),
    ...pageRoutes(parts.pageDirectory),
    ...sessionRoutes(context),
  ];
}

function common({ server, version }: FreshellContext, { renderMetrics, socket }: FreshellRouteParts): readonly Route[] {
  const health = (c: Context<GuardEnv>): Response => {
    const response: FreshellHealth = { app: "freshell", ok: true, version, ready: server.status().state === "ready" };
    return c.json(response);
  };
  return [
    { method: "GET", path: "/api/health", auth: false, linkable: true, handle: health },
    { method: "GET", path: "/ws", auth: false, handle: socket },
    {
      method: "GET",
      path: "/api/lan-info",
      auth: true,
      handle: (c) => c.json({ ips: lanAddresses() } satisfies LanInfo),
    },
    { method: "GET", path: "/api/metrics", auth: true, handle: (c) => c.text(renderMetrics(), 200, METRICS_TYPE) },
  ];
}

function terminals(context: FreshellContext): readonly Route[] {
  const { book, server } = context;
  const named = (c: Context<GuardEnv>): Terminal => book.require(c.req.param("id") ?? "");
  return [
    get("/api/terminals", (c) => c.json(book.list().map((terminal) => terminal.entry()))),
    post("/api/terminals", createTerminalSchema, async (c, body) => c.json((await book.create(body)).entry(), 201)),
    get("/api/terminals/:id", (c) => c.json(named(c).entry())),
    post("/api/terminals/:id/input", terminalInputSchema, async (c, body) => {
      const terminal = named(c);
      const typed = "data" in body ? textParts(body.data) : tokenParts(body.keys, body.literal);
      const response: TerminalInputResponse = { outputSeq: await typeInto(server, terminal, typed) };
      return c.json(response);
    }),
    post("/api/terminals/:id/resize", terminalResizeSchema, async (c, { cols, rows }) => {
      await book.resize(named(c), { cols, rows });
      return c.json({ cols, rows } satisfies TerminalResizeRequest);
    }),
    getQuery("/api/terminals/:id/capture", terminalCaptureSchema, async (c, asked) =>
      c.json(await captureOf(server, named(c), asked)),
    ),
    plain("POST", "/api/terminals/:id/respawn", async (c) => {
      const terminal = named(c);
      await book.respawn(terminal);
      return c.json(terminal.entry());
    }),
    plain("POST", "/api/terminals/:id/kill", async (c) => {
      const response: TerminalKillResponse = { ok: true, exitCode: await book.kill(named(c)) };
      return c.json(response);
    }),
  ];
}

function waits(context: FreshellContext): readonly Route[] {
  const { clock, log } = context;
  const options = { clock, errorBody: (error: unknown) => faultBody(error, log) };
  return [
    post("/api/waits", freshellWaitSchema, (c, asked) => {
      const source = sourceOf(asked, context);
      return longResponse(c, options, (signal) => waitFor(context.waits, source, asked, signal));
    }),
  ];
}

function deviceSessions({ credentials, layout }: FreshellContext): readonly Route[] {
  return [
    post("/api/device-sessions", deviceSessionSchema, (c, body) => {
      const principal = credentials.principalOf(tokenOf(c.req));
      // Otherwise a leaked token could renew itself for ever.
      if (principal?.kind !== "bootstrap") {
        throw new AppError("UNAUTHORIZED", "a device session is opened with the server's own token (AUTH_TOKEN)");
      }
      layout.presence.meet(body);
      return c.json(credentials.open(body));
    }),
    {
      ...post("/api/device-sessions/refresh", refreshSchema, (c, { refreshToken }) =>
        c.json(credentials.refresh(refreshToken)),
      ),
      // The refresh token is the proof: the device token may have expired.
      auth: false,
    },
    {
      method: "DELETE",
      path: "/api/device-sessions/current",
      auth: true,
      handle: (c) => {
        if (!credentials.close(tokenOf(c.req) ?? "")) {
          throw new AppError("INVALID_ARGUMENT", "the token of this request is the server's own, of no device session");
        }
        return c.json(OK);
      },
    },
  ];
}
