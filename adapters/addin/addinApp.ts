/**
 * The add-in's listener: `GET /health` and `POST /v1/tmux` (docs/contracts/addin.md §1). Both modes use the same routes and
 * differ only in the `TmuxServer` behind them. Health is served from memory, because the client asks for it before every
 * call and allows 900 ms.
 */
import { Hono } from "hono";
import type { Log } from "../../daemon/ops/log.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import {
  ADDIN_FIELD_ORDER,
  ADDIN_MAX_BODY_BYTES,
  type AddinFailure,
  addinFailureSchema,
  type AddinField,
  type AddinFields,
  addinFieldsSchema,
  type AddinHealth,
  addinHealthSchema,
  type AddinRequest,
  addinSuccessSchema,
  addinUnhealthySchema,
  narrowAddinRequest,
} from "../../protocol/api/addinMessages.ts";
import { AppError, type ErrorCode, invalidArgument } from "../../protocol/errors.ts";
import { errorHandler, JSON_TYPE } from "../kit/guard/httpErrors.ts";
import { createGuard, type GuardEnv, type GuardOptions } from "../kit/guard/requestGuard.ts";
import { requestAbort } from "../kit/guard/requestAbort.ts";
import { endpointsOf, serveRoutes } from "../kit/guard/routes.ts";
import { runAction } from "./actions.ts";
import type { AddinConfig } from "./addinConfig.ts";
import { type AddinWaits, patternProblem } from "./addinWaits.ts";
import { stat } from "node:fs/promises";
import { tryParse } from "../../protocol/api/parse.ts";
import { isKeyName } from "../../daemon/panes/input/keys.ts";

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

/** RE2's reason why a pattern is not usable; undefined if it is. */
type CheckPattern = (pattern: string) => Promise<string | undefined>;

/**
 * Validates a JSON value as a request (docs/contracts/addin.md §2). The schema's checks and the three that need the machine
 * (whether `cwd` exists, tmux knows each key, the pattern compiles) are merged by the order of the fields, so that a request
 * with several errors is refused with the first one, as the contract requires.
 * @throws AppError INVALID_ARGUMENT with the contract's message for the first error.
 */
export async function parseAddinRequest(payload: unknown, checkPattern: CheckPattern): Promise<AddinRequest> {
  const parsed = tryParse(addinFieldsSchema, payload);
  const fault = parsed.success ? undefined : parsed.fault;
  const firstRank = fault === undefined ? Number.POSITIVE_INFINITY : rankOf(fault.path?.split(".")[0]);
  // Fields before the first error have passed their checks, so their values have the declared types.
  const fields = parsed.output as AddinFields;
  if (rankOf("cwd") < firstRank && fields.cwd !== undefined) await checkDirectory(fields.cwd);
  if (rankOf("keys") < firstRank) checkKeys(fields.keys);
  if (rankOf("wait_for") < firstRank && fields.wait_for !== undefined) {
    await checkWaitFor(fields.wait_for, checkPattern);
  }
  if (fault !== undefined) throw invalidArgument(fault.message);
  return narrowAddinRequest(fields);
}

/** A field's index in the order of validation; -1, before all fields, for the body itself. */
const rankOf = (field: unknown): number => ADDIN_FIELD_ORDER.indexOf(field as AddinField);

/** Asynchronous, so that a dead network mount does not block other requests. */
async function checkDirectory(path: string): Promise<void> {
  const stats = await stat(path).catch((error: unknown) => {
    throw new AppError("INVALID_ARGUMENT", `cwd does not exist: ${path}`, { cause: error });
  });
  if (!stats.isDirectory()) throw invalidArgument(`cwd is not a directory: ${path}`);
}

function checkKeys(keys: readonly string[]): void {
  const unknown = keys.find((key) => !isKeyName(key));
  if (unknown !== undefined) throw invalidArgument(`Invalid key token: ${unknown}`);
}

const INVALID_PATTERN = "wait_for must be a valid regular expression.";

async function checkWaitFor(pattern: string, checkPattern: CheckPattern): Promise<void> {
  const reason = await checkPattern(pattern);
  if (reason === undefined) return;
  const message = isJavaScriptRegExp(pattern) ? `${INVALID_PATTERN} ${reason}` : INVALID_PATTERN;
  throw invalidArgument(message);
}

/** Whether the bridge that ours replaces would have accepted it; then the reason says why ours does not. */
function isJavaScriptRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern, "m").multiline;
  } catch {
    return false;
  }
}
