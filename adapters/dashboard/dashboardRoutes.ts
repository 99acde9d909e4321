/**
 * The dashboard's routes, each once: the contract's (docs/contracts/dashboard.md) and those of its page. None has the guard
 * read its body, because each part of the contract has its own error for an invalid one; `requireToken` checks the token.
 */
import type { Context } from "hono";
import { nativeRecording, recordingResponse, requireRecordings } from "../operations/recordingOperations.ts";
import { readIncoming, readStream } from "../http/body.ts";
import type { GuardEnv } from "../http/requestGuard.ts";
import { type Route, type RouteHandler, Routes } from "../http/routes.ts";
import { TOKEN_PATH } from "./access.ts";
import { respondWith, availability, listAgents, listTurns, paneInput, paneStream } from "./agentRoutes.ts";
import type { DashboardContext } from "./dashboardContext.ts";
import { openEventStream } from "./events/eventStream.ts";
import { HOOKS, isHookName } from "./hooks/hookNames.ts";
import { hookRoute } from "./hooks/hookRoute.ts";
import * as limits from "./dashboardLimits.ts";
import type { PageFiles } from "../http/pageFiles.ts";
import { respond } from "./respond/respond.ts";
import { createSession, endSession, getSession } from "./sessionRoutes.ts";

/** Patterns of the path parameters. */
const PLACES = {
  id: /^\d{1,15}$/,
  uuid: /^[^/]{1,64}$/,
  recording: /^[0-9A-Za-z-]{1,64}$/,
  file: /^[A-Za-z0-9._-]{1,64}$/,
  hook: new RegExp(`^(?:${HOOKS.join("|")})$`),
} as const;

export function dashboardRoutes(context: DashboardContext, files: PageFiles): Routes {
  const { clock, settings } = context;
  const bodyOf = (c: Context<GuardEnv>, maxBytes: number): Promise<Uint8Array> => {
    const incoming = c.env?.incoming;
    return incoming !== undefined && "headers" in incoming
      ? readIncoming(incoming, maxBytes, clock)
      : readStream(c.req.raw, maxBytes);
  };
  const on = (
    method: Route["method"],
    path: string,
    handle: RouteHandler,
    more: Pick<Route, "head" | "linkable"> = {},
  ): Route => ({ method, path, places: PLACES, auth: false, handle, ...more });
  const read = (path: string, handle: RouteHandler, linkable = false): Route =>
    on("GET", path, handle, { head: true, linkable });
  const agent = ({ id }: Readonly<Record<string, string>>): number => Number(id);

  return new Routes([
    read("/", (c) => files.respond(c, "index.html"), true),
    read("/page/:file", (c, { file = "" }) => files.respond(c, file)),
    // Without a token no cookie is needed.
    on("POST", TOKEN_PATH, (c) => c.body(null, 204)),
    read("/api/agents", (c) => listAgents(context, c)),
    on("GET", "/api/agents/:id/turns", (c, at) => listTurns(context, c, agent(at))),
    on("GET", "/api/agents/:id/pane/stream", (c, at) => paneStream(context, c, agent(at))),
    on("POST", "/api/agents/:id/input", async (c, at) =>
      paneInput(context, c, agent(at), await bodyOf(c, limits.SMALL_MAX_BODY_BYTES)),
    ),
    on("GET", "/api/respond/:id/availability", (c, at) => availability(context, c, agent(at))),
    on("POST", "/api/respond/:id", async (c, at) => {
      const key = c.req.header("idempotency-key")?.trim().slice(0, limits.MAX_KEY_CHARS);
      const bytes = await bodyOf(c, limits.RESPOND_MAX_BODY_BYTES);
      return respondWith(c, await respond(context, agent(at), bytes, key === "" ? undefined : key));
    }),
    on("GET", "/api/events/stream", (c) => openEventStream(context, c)),
    on("POST", "/api/sessions", async (c) => createSession(context, c, await bodyOf(c, limits.SMALL_MAX_BODY_BYTES))),
    on("GET", "/api/sessions/:uuid", (c, { uuid = "" }) => getSession(context, c, uuid)),
    on("DELETE", "/api/sessions/:uuid", (c, { uuid = "" }) => endSession(context, c, uuid)),
    read("/api/recordings", (c) => c.json({ recordings: requireRecordings(context).list().map(nativeRecording) })),
    on("GET", "/api/recordings/:recording/file", (_c, { recording = "" }) => recordingResponse(context, recording)),
    on("GET", "/hook/status", (c) => c.json(context.hookStats.report(settings.hooksEnabled))),
    on("POST", "/hook/:hook", (c, { hook = "" }) => {
      if (!isHookName(hook)) return c.notFound();
      return hookRoute(context, c, hook, () => bodyOf(c, limits.HOOK_MAX_BODY_BYTES));
    }),
  ]);
}
