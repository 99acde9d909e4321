/** Sessions over HTTP: with a token they can be listed, sent to, and ended. */
import type { Context } from "hono";
import * as v from "valibot";
import type { CodingSession } from "./codingSession.ts";
import type { SdkSession } from "./sdkSession.ts";
import type { Session } from "./sessionBook.ts";
import type { FreshellOk, TerminalInputResponse } from "../../../protocol/api/freshell/freshellHttp.ts";
import { SESSION_PROVIDERS } from "../../../protocol/api/freshell/selectors.ts";
import type { SessionKillResponse } from "../../../protocol/api/freshell/sessionEvents.ts";
import {
  createSessionSchema,
  sessionAnswerSchema,
  type SessionImage,
  sessionSendSchema,
} from "../../../protocol/api/freshell/sessions.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { GuardEnv } from "../../kit/guard/requestGuard.ts";
import type { Route } from "../../kit/guard/routes.ts";
import type { FreshellContext } from "../freshellContext.ts";
import { get, getQuery, plain, post } from "../freshellRequests.ts";

const OK: FreshellOk = { ok: true };
const listSchema = v.strictObject({
  provider: v.optional(v.picklist(SESSION_PROVIDERS, `must be ${SESSION_PROVIDERS.join(", ")}`)),
});
const ONE = "/api/agent-sessions/:provider/:id";

export function sessionRoutes({ sessions }: FreshellContext): readonly Route[] {
  const named = (c: Context<GuardEnv>): Session =>
    sessions.require(c.req.param("provider") ?? "", c.req.param("id") ?? "");
  return [
    getQuery("/api/agent-sessions", listSchema, (c, { provider }) =>
      c.json(sessions.list(provider).map((session) => session.entry())),
    ),
    post("/api/agent-sessions", createSessionSchema, async (c, asked) =>
      c.json((await sessions.create(asked)).entry(), 201),
    ),
    get(ONE, (c) => c.json(named(c).entry())),
    post(`${ONE}/send`, sessionSendSchema, async (c, { text, images }) => {
      const session = named(c);
      const { outputSeq } = session.text;
      await say(session, text, images);
      return c.json({ outputSeq } satisfies TerminalInputResponse);
    }),
    plain("POST", `${ONE}/interrupt`, async (c) => {
      await named(c).interrupt();
      return c.json(OK);
    }),
    get(`${ONE}/permissions`, (c) => c.json(askingOf(named(c)).permissions())),
    post(`${ONE}/answer`, sessionAnswerSchema, async (c, answer) => {
      await askingOf(named(c)).respond(answer);
      return c.json(OK);
    }),
    plain("DELETE", ONE, async (c) => {
      const session = named(c);
      session.kill();
      await session.ended;
      return c.json({ ok: true, exitCode: session.exitCode ?? null } satisfies SessionKillResponse);
    }),
  ];
}

/** @throws AppError INVALID_TARGET */
function askingOf(session: Session): SdkSession {
  if (session.kind === "sdk") return session as SdkSession;
  throw new AppError("INVALID_TARGET", "a codingcli session asks nobody for permission; only one of the kind sdk does");
}

function say(session: Session, text: string, images: readonly SessionImage[] | undefined): Promise<void> {
  if (session.kind === "sdk") return (session as SdkSession).say(text, images);
  if (images !== undefined) throw new AppError("INVALID_ARGUMENT", "images: a codingcli session takes text alone");
  return (session as CodingSession).say(`${text}\n`);
}
