/** The contract's routes over HTTP. Each only translates: the book, the engine or the tokens do the work. */
import type { Context } from "hono";
import * as v from "valibot";
import {
  createTerminalSchema,
  deviceSessionResponseSchema,
  deviceSessionSchema,
  type FreshellHealth,
  freshellHealthSchema,
  freshellOkSchema,
  freshellWaitResponseSchema,
  freshellWaitSchema,
  type LanInfo,
  lanInfoSchema,
  refreshSchema,
  terminalCaptureResponseSchema,
  terminalCaptureSchema,
  terminalEntrySchema,
  type TerminalInputResponse,
  terminalInputResponseSchema,
  terminalInputSchema,
  type TerminalKillResponse,
  terminalKillResponseSchema,
  type TerminalResizeRequest,
  terminalResizeSchema,
} from "../../protocol/api/freshell/freshellHttp.ts";
import { AppError } from "../../protocol/errors.ts";
import { longResponse } from "../kit/streams/longResponse.ts";
import type { GuardEnv, RouteHandler } from "../kit/guard/requestGuard.ts";
import type { Route } from "../kit/guard/routes.ts";
import { lanAddresses } from "./freshellConfig.ts";
import type { FreshellContext } from "./freshellContext.ts";
import { endpoint, faultBody, GET, OK, ON_TMUX, POST } from "./freshellRequests.ts";
import { fileRoutes, pageRoutes } from "./files/fileRoutes.ts";
import { deviceRoutes } from "./relay/deviceRoutes.ts";
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

type Using<Part extends keyof FreshellContext> = Pick<FreshellContext, Part>;

const METRICS_TYPE = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };

export function freshellRoutes(context: FreshellContext, parts: FreshellRouteParts): readonly Route[] {
  return [
    ...common(context, parts),
    ...terminals(context),
    ...waits(context),
    ...deviceSessions(context),
    ...deviceRoutes(context),
    ...fileRoutes(context.book, parts.homeDir),
    ...pageRoutes(parts.pageDirectory),
    ...sessionRoutes(context.sessions),
  ];
}

function common(
  { server, version }: Using<"server" | "version">,
  { renderMetrics, socket }: FreshellRouteParts,
): readonly Route[] {
  return [
    {
      ...GET,
      path: "/api/health",
      auth: false,
      linkable: true,
      response: { 200: freshellHealthSchema },
      errors: [],
      handle: (c) => {
        const ready = server.status().state === "ready";
        return c.json({ app: "freshell", ok: true, version, ready } satisfies FreshellHealth);
      },
    },
    {
      ...GET,
      path: "/ws",
      auth: false,
      response: { 101: "none", 200: "none" },
      errors: ["INVALID_ARGUMENT"],
      handle: socket,
    },
    {
      ...GET,
      path: "/api/lan-info",
      response: { 200: lanInfoSchema },
      errors: [],
      handle: (c) => c.json({ ips: lanAddresses() } satisfies LanInfo),
    },
    {
      ...GET,
      path: "/api/metrics",
      response: { 200: "text/plain" },
      errors: [],
      handle: (c) => c.text(renderMetrics(), 200, METRICS_TYPE),
    },
  ];
}

const ONE = "/api/terminals/:id";

function terminals({ book, server }: Using<"book" | "server">): readonly Route[] {
  const named = (c: Context<GuardEnv>): Terminal => book.require(c.req.param("id") ?? "");
  return [
    endpoint({
      ...GET,
      path: "/api/terminals",
      response: { 200: v.array(terminalEntrySchema) },
      errors: ["INVALID_ARGUMENT"],
      handle: (c) => c.json(book.list().map((terminal) => terminal.entry())),
    }),
    endpoint({
      ...POST,
      path: "/api/terminals",
      request: createTerminalSchema,
      response: { 201: terminalEntrySchema },
      errors: ON_TMUX,
      handle: async (c, body) => c.json((await book.create(body)).entry(), 201),
    }),
    endpoint({
      ...GET,
      path: ONE,
      response: { 200: terminalEntrySchema },
      errors: ["INVALID_ARGUMENT", "NOT_FOUND"],
      handle: (c) => c.json(named(c).entry()),
    }),
    endpoint({
      ...POST,
      path: `${ONE}/input`,
      request: terminalInputSchema,
      response: { 200: terminalInputResponseSchema },
      errors: ON_TMUX,
      handle: async (c, body) => {
        const terminal = named(c);
        const typed = "data" in body ? textParts(body.data) : tokenParts(body.keys, body.literal);
        const response: TerminalInputResponse = { outputSeq: await typeInto(server, terminal, typed) };
        return c.json(response);
      },
    }),
    endpoint({
      ...POST,
      path: `${ONE}/resize`,
      request: terminalResizeSchema,
      response: { 200: terminalResizeSchema },
      errors: ON_TMUX,
      handle: async (c, { cols, rows }) => {
        await book.resize(named(c), { cols, rows });
        return c.json({ cols, rows } satisfies TerminalResizeRequest);
      },
    }),
    endpoint({
      ...GET,
      path: `${ONE}/capture`,
      request: terminalCaptureSchema,
      response: { 200: terminalCaptureResponseSchema },
      errors: [...ON_TMUX, "UNSUPPORTED_CAPTURE_MODE"],
      handle: async (c, asked) => c.json(await captureOf(server, named(c), asked)),
    }),
    endpoint({
      ...POST,
      path: `${ONE}/respawn`,
      response: { 200: terminalEntrySchema },
      errors: ON_TMUX,
      handle: async (c) => {
        const terminal = named(c);
        await book.respawn(terminal);
        return c.json(terminal.entry());
      },
    }),
    endpoint({
      ...POST,
      path: `${ONE}/kill`,
      response: { 200: terminalKillResponseSchema },
      errors: ON_TMUX,
      handle: async (c) => {
        const response: TerminalKillResponse = { ok: true, exitCode: await book.kill(named(c)) };
        return c.json(response);
      },
    }),
  ];
}

function waits(context: Using<"book" | "clock" | "log" | "sessions" | "waits">): readonly Route[] {
  const { clock, log } = context;
  const options = { clock, errorBody: (error: unknown) => faultBody(error, log) };
  return [
    endpoint({
      ...POST,
      path: "/api/waits",
      request: freshellWaitSchema,
      response: { 200: freshellWaitResponseSchema },
      errors: [...ON_TMUX, "AMBIGUOUS_TARGET", "TIMEOUT", "UNSUPPORTED_PATTERN_ENGINE"],
      handle: (c, asked) => {
        const source = sourceOf(asked, context);
        return longResponse(c, options, (signal) => waitFor(context.waits, source, asked, signal));
      },
    }),
  ];
}

function deviceSessions({ credentials, layout }: Using<"credentials" | "layout">): readonly Route[] {
  return [
    endpoint({
      ...POST,
      path: "/api/device-sessions",
      request: deviceSessionSchema,
      response: { 200: deviceSessionResponseSchema },
      errors: ["INVALID_ARGUMENT", "UNAUTHORIZED", "RESOURCE_LIMIT"],
      handle: (c, body) => {
        const principal = credentials.principalOf(tokenOf(c.req));
        // Otherwise a leaked token could renew itself for ever.
        if (principal?.kind !== "bootstrap") {
          throw new AppError("UNAUTHORIZED", "a device session is opened with the server's own token (AUTH_TOKEN)");
        }
        layout.presence.meet(body);
        return c.json(credentials.open(body));
      },
    }),
    endpoint({
      ...POST,
      path: "/api/device-sessions/refresh",
      // The refresh token is the proof: the device token may have expired.
      auth: false,
      request: refreshSchema,
      response: { 200: deviceSessionResponseSchema },
      errors: ["INVALID_ARGUMENT", "UNAUTHORIZED"],
      handle: (c, { refreshToken }) => c.json(credentials.refresh(refreshToken)),
    }),
    {
      method: "DELETE",
      path: "/api/device-sessions/current",
      auth: true,
      response: { 200: freshellOkSchema },
      errors: ["INVALID_ARGUMENT"],
      handle: (c) => {
        if (!credentials.close(tokenOf(c.req) ?? "")) {
          throw new AppError("INVALID_ARGUMENT", "the token of this request is the server's own, of no device session");
        }
        return c.json(OK);
      },
    },
  ];
}
