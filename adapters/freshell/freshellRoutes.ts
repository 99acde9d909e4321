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
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { AppError, invalidArgument } from "../../protocol/errors.ts";
import { longResponse } from "../kit/streams/longResponse.ts";
import type { GuardEnv, RouteHandler } from "../kit/guard/requestGuard.ts";
import type { Route } from "../kit/guard/routes.ts";
import { PageFiles } from "../kit/pageFiles.ts";
import { lanAddresses } from "./freshellConfig.ts";
import { endpoint, faultBody, GET, OK, ON_TMUX, POST } from "./freshellRequests.ts";
import { fileRoutes } from "./files/fileRoutes.ts";
import { waitOn } from "./freshellWaits.ts";
import { deviceRoutes } from "./relay/deviceRoutes.ts";
import { sessionRoutes } from "./sessions/agentSessionRoutes.ts";
import type { SocketParts } from "./socket/freshellSocket.ts";
import { type Terminal, textParts, tokenParts } from "./terminals/terminal.ts";
import type { TerminalRegistry } from "./terminals/terminalRegistry.ts";
import { tokenOf } from "./tokens/credentials.ts";

const METRICS_TYPE = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };

interface FreshellRouteOptions {
  readonly server: TmuxServer;
  readonly version: string;
  readonly homeDir: string;
  /** Where the built page is. */
  readonly pageDirectory: string;
}

/** @param socket `/ws` */
export function freshellRoutes(
  options: FreshellRouteOptions,
  parts: SocketParts,
  socket: RouteHandler,
  renderMetrics: () => string,
): readonly Route[] {
  return [
    ...common(options, socket, renderMetrics),
    ...terminalRoutes(parts.terminals),
    ...waitRoutes(parts),
    ...deviceSessions(parts),
    ...deviceRoutes(parts),
    ...fileRoutes(parts.terminals, options.homeDir),
    // The page that is a device; its panes show web pages.
    ...new PageFiles(options.pageDirectory, ["frame-src http: https:"]).routes(["/device", "/device/"], "/device"),
    ...sessionRoutes(parts.sessions),
  ];
}

function common(
  { server, version }: FreshellRouteOptions,
  socket: RouteHandler,
  renderMetrics: () => string,
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

function terminalRoutes(terminals: TerminalRegistry): readonly Route[] {
  const named = (c: Context<GuardEnv>): Terminal => terminals.require(c.req.param("id") ?? "");
  return [
    endpoint({
      ...GET,
      path: "/api/terminals",
      response: { 200: v.array(terminalEntrySchema) },
      errors: ["INVALID_ARGUMENT"],
      handle: (c) => c.json(terminals.list().map((terminal) => terminal.entry())),
    }),
    endpoint({
      ...POST,
      path: "/api/terminals",
      request: createTerminalSchema,
      response: { 201: terminalEntrySchema },
      errors: ON_TMUX,
      handle: async (c, body) => c.json((await terminals.create(body)).entry(), 201),
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
        const parts = "data" in body ? textParts(body.data) : tokenParts(body.keys, body.literal);
        return c.json({ outputSeq: await named(c).type(parts) } satisfies TerminalInputResponse);
      },
    }),
    endpoint({
      ...POST,
      path: `${ONE}/resize`,
      request: terminalResizeSchema,
      response: { 200: terminalResizeSchema },
      errors: ON_TMUX,
      handle: async (c, { cols, rows }) => {
        await named(c).resize({ cols, rows });
        return c.json({ cols, rows } satisfies TerminalResizeRequest);
      },
    }),
    endpoint({
      ...GET,
      path: `${ONE}/capture`,
      request: terminalCaptureSchema,
      response: { 200: terminalCaptureResponseSchema },
      errors: [...ON_TMUX, "UNSUPPORTED_CAPTURE_MODE"],
      handle: async (c, asked) => c.json(await named(c).capture(asked)),
    }),
    endpoint({
      ...POST,
      path: `${ONE}/respawn`,
      response: { 200: terminalEntrySchema },
      errors: ON_TMUX,
      handle: async (c) => {
        const terminal = named(c);
        await terminals.respawn(terminal);
        return c.json(terminal.entry());
      },
    }),
    endpoint({
      ...POST,
      path: `${ONE}/kill`,
      response: { 200: terminalKillResponseSchema },
      errors: ON_TMUX,
      handle: async (c) =>
        c.json({ ok: true, exitCode: await terminals.kill(named(c)) } satisfies TerminalKillResponse),
    }),
  ];
}

function waitRoutes(parts: SocketParts): readonly Route[] {
  const { clock, log } = parts;
  const options = { clock, errorBody: (error: unknown) => faultBody(error, log) };
  return [
    endpoint({
      ...POST,
      path: "/api/waits",
      request: freshellWaitSchema,
      response: { 200: freshellWaitResponseSchema },
      errors: [...ON_TMUX, "AMBIGUOUS_TARGET", "TIMEOUT", "UNSUPPORTED_PATTERN_ENGINE"],
      handle: (c, asked) => longResponse(c, options, waitOn(asked, parts)),
    }),
  ];
}

function deviceSessions({ credentials, presence }: SocketParts): readonly Route[] {
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
        presence.meet(body);
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
          throw invalidArgument("this request used the server's own token, which belongs to no device session");
        }
        return c.json(OK);
      },
    },
  ];
}
