/**
 * The add-in's listener: `GET /health` and `POST /v1/tmux` (docs/contracts/addin.md §1). Both modes use the same routes and
 * differ only in the `TmuxServer` behind them. Health is served from memory, because the client asks for it before every
 * call and allows 900 ms.
 */
import { Hono } from "hono";
import type { Log } from "../../daemon/ops/log.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import type { AddinFailure, AddinHealth } from "../../protocol/api/addinMessages.ts";
import {
  ADDIN_MAX_BODY_BYTES,
  addinFailureSchema,
  addinFieldsSchema,
  addinHealthSchema,
  addinSuccessSchema,
  addinUnhealthySchema,
} from "../../protocol/api/addinMessages.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { errorHandler, JSON_TYPE } from "../kit/guard/httpErrors.ts";
import type { GuardEnv, GuardOptions } from "../kit/guard/requestGuard.ts";
import { createGuard } from "../kit/guard/requestGuard.ts";
import { requestAbort } from "../kit/guard/requestAbort.ts";
import { endpointsOf, serveRoutes } from "../kit/guard/routes.ts";
import { runAction } from "./actions.ts";
import type { AddinConfig } from "./addinConfig.ts";
import { parseAddinRequest } from "./addinRequests.ts";
import type { AddinWaits } from "./addinWaits.ts";
import { patternProblem } from "./addinWaits.ts";

export type AddinAppConfig = Pick<
  AddinConfig,
  "host" | "token" | "allowedOrigins" | "allowNoOrigin" | "commandTimeoutMs"
>;

interface AddinAppOptions {
  readonly server: TmuxServer;
  readonly waits: AddinWaits;
  readonly clock: Clock;
  readonly config: AddinAppConfig;
  readonly log: Log;
  /** Users of this machine that are allowed; absent: everyone, or everyone with the token. */
  readonly users?: GuardOptions["users"];
}

export function createAddinApp(options: AddinAppOptions): Hono<GuardEnv> {
  const { server, waits, clock, config, log } = options;
  const context = { server, waits, clock, commandTimeoutMs: config.commandTimeoutMs };
  const app = new Hono<GuardEnv>();
  app.onError(errorHandler(log, ({ message }): AddinFailure => ({ ok: false, error: message })));
  const guard = createGuard({
    peers: "loopback",
    users: options.users,
    hosts: new Set([config.host.toLowerCase()]),
    origins: new Set(config.allowedOrigins),
    missingOrigin: config.allowNoOrigin ? "token" : "refuse",
    token: config.token,
    clock,
  });
  serveRoutes(app, guard, [
    endpoint({
      method: "GET",
      path: "/health",
      auth: false,
      response: { 200: addinHealthSchema, 503: addinUnhealthySchema },
      errors: [],
      handle: (c) => {
        const health = healthOf(server);
        return c.json(health, health.ok ? 200 : 503, JSON_TYPE);
      },
    }),
    endpoint({
      method: "POST",
      path: "/v1/tmux",
      auth: true,
      request: addinFieldsSchema,
      response: { 200: addinSuccessSchema, 408: addinFailureSchema },
      errors: ERRORS,
      handle: async (c) => {
        const request = await parseAddinRequest(c.get("json"), (pattern) => patternProblem(waits, pattern));
        const { status, body } = await runAction(context, request, requestAbort(c));
        return c.json(body, status, JSON_TYPE);
      },
    }),
  ]);
  return app;
}

/** `parseAddinRequest` reads requests, in the order of their fields. */
const endpoint = endpointsOf({ read: () => undefined, maxJsonBytes: ADDIN_MAX_BODY_BYTES });

const ERRORS: readonly ErrorCode[] = [
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "COMMAND_TIMEOUT",
  "ALREADY_EXISTS",
  "INCONSISTENT_STATE",
  "RESOURCE_LIMIT",
  "UNSUPPORTED_PATTERN_ENGINE",
  "TMUX_COMMAND_FAILED",
  "CONNECTION_LOST",
];

/** Not ok while tmux is unreachable and every action would fail; the client then delays its call. */
function healthOf(server: TmuxServer): AddinHealth {
  const { kind, state, tmuxVersion, socketPath } = server.status();
  const sessions = server.sessions().length;
  if (kind === "stub") return { ok: true, mode: "stub", backend: "stub", sessions };
  if (state !== "ready") return { ok: false, error: UNHEALTHY[state], mode: "tmux", backend: "tmux", state };
  return {
    ok: true,
    mode: "tmux",
    backend: "tmux",
    tmuxVersion: tmuxVersion ?? "tmux",
    socketPath: socketPath ?? "",
    sessions,
  };
}

const UNHEALTHY = {
  connecting: "tmux is not connected; reconnecting, try again shortly",
  degraded: "tmux does not respond (degraded); if this lasts, check whether its process is stopped or hangs",
  closed: "the connection to tmux is closed; restart the bridge",
} as const;
