/**
 * The dashboard's routes, each once: the contract's (docs/contracts/dashboard.md) and those of its page. None has the guard
 * read its body, because each part of the contract has its own error for an invalid one.
 */
import type { Context } from "hono";
import { AppError } from "../../protocol/errors.ts";
import { nativeRecording, recordingResponse, requireRecordings } from "../operations/recordingOperations.ts";
import { readBody } from "../kit/guard/body.ts";
import type { GuardEnv, RouteHandler } from "../kit/guard/requestGuard.ts";
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
  const on = (
    method: Route["method"],
    path: string,
    handle: RouteHandler,
    more: Pick<Route, "head" | "linkable"> = {},
  ): Route => ({ method, path, auth: true, handle, ...more });
  const read = (path: string, handle: RouteHandler): Route => on("GET", path, handle, { head: true });
  // Served to everyone: it holds no secret.
  const page = { method: "GET", head: true, auth: false } as const;

  return [
    { ...page, path: "/", linkable: true, handle: (c) => files.respond(c, "index.html") },
    { ...page, path: "/page/:file{[A-Za-z0-9._-]+}", handle: (c) => files.respond(c, c.req.param("file") ?? "") },
    // Without a token no cookie is needed.
    { method: "POST", path: TOKEN_PATH, auth: false, handle: access?.exchange ?? ((c) => c.body(null, 204)) },
    read("/api/agents", (c) => listAgents(context, c)),
    on("GET", `${AGENT}/turns`, (c) => listTurns(context, c, agent(c))),
    on("GET", `${AGENT}/pane/stream`, (c) => paneStream(context, c, agent(c))),
    on("POST", `${AGENT}/input`, async (c) =>
      paneInput(context, c, agent(c), await bodyOf(c, limits.SMALL_MAX_BODY_BYTES)),
    ),
    on("GET", `${RESPOND}/availability`, (c) => availability(context, c, agent(c))),
    on("POST", RESPOND, async (c) => {
      const key = c.req.header("idempotency-key")?.trim().slice(0, limits.MAX_KEY_CHARS);
      const bytes = await bodyOf(c, limits.RESPOND_MAX_BODY_BYTES);
      return respondWith(c, await respond(context, agent(c), bytes, key === "" ? undefined : key));
    }),
    on("GET", "/api/events/stream", (c) => openEventStream(context, c)),
    on("POST", "/api/sessions", async (c) => createSession(context, c, await bodyOf(c, limits.SMALL_MAX_BODY_BYTES))),
    on("GET", SESSION, (c) => getSession(context, c, session(c))),
    on("DELETE", SESSION, (c) => endSession(context, c, session(c))),
    read("/api/recordings", (c) => c.json({ recordings: requireRecordings(context).list().map(nativeRecording) })),
    on("GET", "/api/recordings/:recording{[0-9A-Za-z-]+}/file", (c) =>
      recordingResponse(context, bounded(c.req.param("recording"))),
    ),
    on("GET", "/hook/status", (c) => c.json(context.hookStats.report(settings.hooksEnabled))),
    on("POST", `/hook/:hook{${HOOKS.join("|")}}`, (c) => {
      const hook = c.req.param("hook") ?? "";
      if (!isHookName(hook)) throw nowhere();
      return hookRoute(context, c, hook, () => bodyOf(c, limits.HOOK_MAX_BODY_BYTES));
    }),
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
