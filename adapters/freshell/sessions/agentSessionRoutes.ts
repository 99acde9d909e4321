/** Sessions over HTTP: with a token they can be listed, sent to, and ended. */
import * as v from "valibot";
import type { CodingSession } from "../../../daemon/sessions/codingSession.ts";
import type { SdkSession } from "../../../daemon/sessions/sdkSession.ts";
import type { Session } from "../../../daemon/sessions/sessionBook.ts";
import type { FreshellOk, TerminalInputResponse } from "../../../protocol/api/freshell/freshellHttp.ts";
import { SESSION_PROVIDERS } from "../../../protocol/api/freshell/selectors.ts";
import type { SessionKillResponse } from "../../../protocol/api/freshell/sessionEvents.ts";
import { createSessionSchema, type SessionImage, sessionSendSchema } from "../../../protocol/api/freshell/sessions.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { Route } from "../../http/routes.ts";
import type { FreshellContext } from "../freshellContext.ts";
import { get, getQuery, plain, post } from "../freshellRequests.ts";

const OK: FreshellOk = { ok: true };
const listSchema = v.strictObject({
  provider: v.optional(v.picklist(SESSION_PROVIDERS, `must be ${SESSION_PROVIDERS.join(", ")}`)),
});
const ONE = "/api/agent-sessions/:provider/:id";

export function sessionRoutes({ sessions }: FreshellContext): readonly Route[] {
  const named = ({ provider = "", id = "" }: Readonly<Record<string, string>>): Session =>
    sessions.require(provider, id);
  return [
    getQuery("/api/agent-sessions", listSchema, (c, { provider }) =>
      c.json(sessions.list(provider).map((session) => session.entry())),
    ),
    post("/api/agent-sessions", createSessionSchema, async (c, asked) =>
      c.json((await sessions.create(asked)).entry(), 201),
    ),
    get(ONE, (c, values) => c.json(named(values).entry())),
    post(`${ONE}/send`, sessionSendSchema, async (c, { text, images }, values) => {
      const session = named(values);
      const { outputSeq } = session.text;
      await say(session, text, images);
      return c.json({ outputSeq } satisfies TerminalInputResponse);
    }),
    plain("POST", `${ONE}/interrupt`, async (c, values) => {
      await named(values).interrupt();
      return c.json(OK);
    }),
    plain("DELETE", ONE, async (c, values) => {
      const session = named(values);
      session.kill();
      await session.ended;
      return c.json({ ok: true, exitCode: session.exitCode ?? null } satisfies SessionKillResponse);
    }),
  ];
}

function say(session: Session, text: string, images: readonly SessionImage[] | undefined): Promise<void> {
  if (session.kind === "sdk") return (session as SdkSession).say(text, images);
  if (images !== undefined) throw new AppError("INVALID_ARGUMENT", "images: a codingcli session takes text alone");
  return (session as CodingSession).say(`${text}\n`);
}
