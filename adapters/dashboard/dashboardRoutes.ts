/**
 * The dashboard's routes, each once: the contract's (docs/contracts/dashboard.md) and those of its page. None has the guard
 * read its body, because each part of the contract has its own error for an invalid one.
 */
import type { Context } from "hono";
import {
  agentOkSchema,
  agentsSchema,
  availabilitySchema,
  hookDroppedSchema,
  hookErrorSchema,
  hookSchema,
  hookStatusSchema,
  refusalSchema,
  respondSchema,
  sessionCreatedSchema,
  sessionEndedSchema,
  sessionErrorSchema,
  sessionSchema,
  turnsSchema,
} from "../../protocol/api/dashboard.ts";
import { recordingsSchema } from "../../protocol/api/nativeRecordings.ts";
import { AppError } from "../../protocol/errors.ts";
import { nativeRecording, recordingResponse, requireRecordings } from "../operations/recordingOperations.ts";
import { readBody } from "../kit/guard/body.ts";
import type { GuardEnv } from "../kit/guard/requestGuard.ts";
import type { Route } from "../kit/guard/routes.ts";
import { TOKEN_PATH, type TokenAccess } from "./access.ts";
import { respondWith, availability, listAgents, listTurns, paneInput, paneStream } from "./agentRoutes.ts";
import type { DashboardContext } from "./dashboardContext.ts";
import { openEventStream } from "./events/eventStream.ts";
import { HOOKS, isHookName } from "./hooks/hookNames.ts";
import { hookRoute } from "./hooks/hookRoute.ts";
import * as limits from "./dashboardLimits.ts";
import type { PageFiles } from "../kit/pageFiles.ts";
import { respond } from "./respond/respond.ts";
import { createSession, endSession, getSession } from "./sessionRoutes.ts";

const AGENT = "/api/agents/:id{[0-9]+}";
const RESPOND = "/api/respond/:id{[0-9]+}";
const SESSION = "/api/sessions/:uuid";

/** @param access absent: everyone whom the guard admits has full access */
export function dashboardRoutes(
  context: DashboardContext,
  files: PageFiles,
  access: TokenAccess | undefined,
): readonly Route[] {
  const { clock, settings } = context;
  const bodyOf = (c: Context<GuardEnv>, maxBytes: number): Promise<Uint8Array> => readBody(c, maxBytes, clock);
  return [
    ...pageRoutes(files, access),
    ...agentRoutes(context, bodyOf),
    ...sessionRoutes(context, bodyOf),
    ...recordingRoutes(context),
    {
      ...GET,
      path: "/api/events/stream",
      response: { 200: "text/event-stream", 503: "text/plain" },
      errors: [],
      handle: (c) => openEventStream(context, c),
    },
    {
      ...GET,
      path: "/hook/status",
      response: { 200: hookStatusSchema },
      errors: [],
      handle: (c) => c.json(context.hookStats.report(settings.hooksEnabled)),
    },
    {
      ...POST,
      path: `/hook/:hook{${HOOKS.join("|")}}`,
      response: { 200: hookSchema, 400: hookErrorSchema, 404: hookDroppedSchema },
      errors: ["NOT_FOUND", ...OF_BODY],
      handle: (c) => {
        const hook = c.req.param("hook") ?? "";
        if (!isHookName(hook)) throw nowhere();
        return hookRoute(context, c, hook, () => bodyOf(c, limits.HOOK_MAX_BODY_BYTES));
      },
    },
  ];
}

const GET = { method: "GET", auth: true } as const;
const POST = { method: "POST", auth: true } as const;
/** Of a body that a route reads itself, and of a database that takes no writes. */
const OF_BODY = ["BODY_TOO_LARGE", "RESOURCE_LIMIT", "INVALID_ARGUMENT", "TIMEOUT"] as const;

type ReadBody = (c: Context<GuardEnv>, maxBytes: number) => Promise<Uint8Array>;

/** Served to everyone: the page holds no secret. */
function pageRoutes(files: PageFiles, access: TokenAccess | undefined): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/",
      auth: false,
      head: true,
      linkable: true,
      response: { 200: "text/html", 304: "none", 503: "text/plain" },
      errors: [],
      handle: (c) => files.respond(c, "index.html"),
    },
    {
      method: "GET",
      path: "/page/:file{[A-Za-z0-9._-]+}",
      auth: false,
      head: true,
      response: { 200: "*/*", 304: "none", 404: "text/plain" },
      errors: [],
      handle: (c) => files.respond(c, c.req.param("file") ?? ""),
    },
    {
      method: "POST",
      path: TOKEN_PATH,
      auth: false,
      response: { 204: "none" },
      errors: ["UNAUTHORIZED"],
      // Without a token no cookie is needed.
      handle: access?.exchange ?? ((c) => c.body(null, 204)),
    },
  ];
}

function agentRoutes(context: DashboardContext, bodyOf: ReadBody): readonly Route[] {
  return [
    {
      ...GET,
      path: "/api/agents",
      head: true,
      response: { 200: agentsSchema },
      errors: [],
      handle: (c) => listAgents(context, c),
    },
    {
      ...GET,
      path: `${AGENT}/turns`,
      response: { 200: turnsSchema, 404: refusalSchema },
      errors: ["NOT_FOUND"],
      handle: (c) => listTurns(context, c, agent(c)),
    },
    {
      ...GET,
      path: `${AGENT}/pane/stream`,
      response: { ...REFUSED, 200: "text/event-stream" },
      errors: ["NOT_FOUND", "INVALID_ARGUMENT", "CONNECTION_LOST"],
      handle: (c) => paneStream(context, c, agent(c)),
    },
    {
      ...POST,
      path: `${AGENT}/input`,
      response: { ...REFUSED, 200: agentOkSchema },
      errors: ["NOT_FOUND", ...OF_BODY],
      handle: async (c) => paneInput(context, c, agent(c), await bodyOf(c, limits.SMALL_MAX_BODY_BYTES)),
    },
    {
      ...GET,
      path: `${RESPOND}/availability`,
      response: { 200: availabilitySchema, 404: refusalSchema },
      errors: ["NOT_FOUND"],
      handle: (c) => availability(context, c, agent(c)),
    },
    {
      ...POST,
      path: RESPOND,
      response: { ...REFUSED, 200: respondSchema },
      errors: ["NOT_FOUND", ...OF_BODY],
      idempotent: true,
      handle: async (c) => {
        const key = c.req.header("idempotency-key")?.trim().slice(0, limits.MAX_KEY_CHARS);
        const bytes = await bodyOf(c, limits.RESPOND_MAX_BODY_BYTES);
        return respondWith(c, await respond(context, agent(c), bytes, key === "" ? undefined : key));
      },
    },
  ];
}

/** The statuses of refusals and failures of what reaches a pane. */
const REFUSED = {
  400: refusalSchema,
  404: refusalSchema,
  409: refusalSchema,
  429: refusalSchema,
  500: refusalSchema,
  502: refusalSchema,
  503: refusalSchema,
} as const;

function sessionRoutes(context: DashboardContext, bodyOf: ReadBody): readonly Route[] {
  return [
    {
      ...POST,
      path: "/api/sessions",
      response: { 201: sessionCreatedSchema, 400: sessionErrorSchema, 409: sessionErrorSchema },
      errors: OF_BODY,
      handle: async (c) => createSession(context, c, await bodyOf(c, limits.SMALL_MAX_BODY_BYTES)),
    },
    {
      ...GET,
      path: SESSION,
      response: { 200: sessionSchema, 404: sessionErrorSchema },
      errors: ["NOT_FOUND"],
      handle: (c) => getSession(context, c, session(c)),
    },
    {
      method: "DELETE",
      path: SESSION,
      auth: true,
      response: { 200: sessionEndedSchema, 404: sessionErrorSchema },
      errors: ["NOT_FOUND", "RESOURCE_LIMIT"],
      handle: (c) => endSession(context, c, session(c)),
    },
  ];
}

function recordingRoutes(context: DashboardContext): readonly Route[] {
  return [
    {
      ...GET,
      path: "/api/recordings",
      head: true,
      response: { 200: recordingsSchema },
      errors: ["NOT_FOUND", "INVALID_ARGUMENT"],
      handle: (c) => c.json({ recordings: requireRecordings(context).list().map(nativeRecording) }),
    },
    {
      ...GET,
      path: "/api/recordings/:recording{[0-9A-Za-z-]+}/file",
      response: { 200: "application/x-asciicast" },
      errors: ["NOT_FOUND", "INVALID_ARGUMENT"],
      handle: (c) => recordingResponse(context, bounded(c.req.param("recording"))),
    },
  ];
}

const nowhere = (): AppError => new AppError("NOT_FOUND", "Not found.");

const MAX_ID_DIGITS = 15;
const MAX_NAME_CHARS = 64;

function agent(c: Context<GuardEnv>): number {
  const id = c.req.param("id") ?? "";
  if (id.length > MAX_ID_DIGITS) throw nowhere();
  return Number(id);
}

function bounded(name = ""): string {
  if (name.length > MAX_NAME_CHARS) throw nowhere();
  return name;
}

const session = (c: Context<GuardEnv>): string => bounded(c.req.param("uuid"));
