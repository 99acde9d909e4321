/** Sessions over HTTP: with a token they can be listed, sent to, and ended. */
import type { Context } from "hono";
import * as v from "valibot";
import type { SdkSession } from "./sdkSession.ts";
import type { Session, SessionRegistry } from "./sessionRegistry.ts";
import {
  freshellOkSchema,
  type TerminalInputResponse,
  terminalInputResponseSchema,
} from "../../../protocol/api/freshell/freshellHttp.ts";
import { SESSION_PROVIDERS } from "../../../protocol/api/freshell/selectors.ts";
import {
  permissionRequestSchema,
  sessionEntrySchema,
  type SessionKillResponse,
  sessionKillResponseSchema,
} from "../../../protocol/api/freshell/sessionEvents.ts";
import {
  createSessionSchema,
  sessionAnswerSchema,
  sessionSendSchema,
} from "../../../protocol/api/freshell/sessions.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import type { GuardEnv } from "../../kit/guard/requestGuard.ts";
import type { Route } from "../../kit/guard/routes.ts";
import { endpoint, GET, OK, POST } from "../freshellRequests.ts";

const listSchema = v.strictObject({
  provider: v.optional(v.picklist(SESSION_PROVIDERS, `must be ${SESSION_PROVIDERS.join(", ")}`)),
});
const ONE = "/api/agent-sessions/:provider/:id";

export function sessionRoutes(sessions: SessionRegistry): readonly Route[] {
  const named = (c: Context<GuardEnv>): Session =>
    sessions.require(c.req.param("provider") ?? "", c.req.param("id") ?? "");
  return [
    endpoint({
      ...GET,
      path: "/api/agent-sessions",
      request: listSchema,
      response: { 200: v.array(sessionEntrySchema) },
      errors: ["INVALID_ARGUMENT"],
      handle: (c, { provider }) => c.json(sessions.list(provider).map((session) => session.entry())),
    }),
    endpoint({
      ...POST,
      path: "/api/agent-sessions",
      request: createSessionSchema,
      response: { 201: sessionEntrySchema },
      errors: ["INVALID_ARGUMENT", "RESOURCE_LIMIT"],
      handle: async (c, asked) => c.json((await sessions.create(asked)).entry(), 201),
    }),
    endpoint({
      ...GET,
      path: ONE,
      response: { 200: sessionEntrySchema },
      errors: OF_ONE,
      handle: (c) => c.json(named(c).entry()),
    }),
    endpoint({
      ...POST,
      path: `${ONE}/send`,
      request: sessionSendSchema,
      response: { 200: terminalInputResponseSchema },
      errors: OF_ONE,
      handle: async (c, { text, images }) => {
        const session = named(c);
        const { outputSeq } = session.text;
        if (session.kind === "sdk") await session.say(text, images);
        else if (images === undefined) await session.say(`${text}\n`);
        else throw invalidArgument("images: a codingcli session takes only text");
        return c.json({ outputSeq } satisfies TerminalInputResponse);
      },
    }),
    endpoint({
      ...POST,
      path: `${ONE}/interrupt`,
      response: { 200: freshellOkSchema },
      errors: OF_ONE,
      handle: async (c) => {
        await named(c).interrupt();
        return c.json(OK);
      },
    }),
    endpoint({
      ...GET,
      path: `${ONE}/permissions`,
      response: { 200: v.array(permissionRequestSchema) },
      errors: OF_ONE,
      handle: (c) => c.json(askingOf(named(c)).permissions()),
    }),
    endpoint({
      ...POST,
      path: `${ONE}/answer`,
      request: sessionAnswerSchema,
      response: { 200: freshellOkSchema },
      errors: OF_ONE,
      handle: async (c, answer) => {
        await askingOf(named(c)).respond(answer);
        return c.json(OK);
      },
    }),
    endpoint({
      method: "DELETE",
      path: ONE,
      auth: true,
      response: { 200: sessionKillResponseSchema },
      errors: OF_ONE,
      handle: async (c) => {
        const session = named(c);
        session.kill();
        await session.ended;
        return c.json({ ok: true, exitCode: session.exitCode ?? null } satisfies SessionKillResponse);
      },
    }),
  ];
}

const OF_ONE = [
  "INVALID_ARGUMENT",
  "INVALID_TARGET",
  "AMBIGUOUS_TARGET",
  "NOT_FOUND",
  "INCONSISTENT_STATE",
  "RESOURCE_LIMIT",
] as const;

/** @throws AppError INVALID_TARGET */
function askingOf(session: Session): SdkSession {
  if (session.kind === "sdk") return session;
  throw new AppError("INVALID_TARGET", "codingcli sessions do not ask for permission; only sdk sessions do");
}
