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
import { get, post, queryOf, requireNoQuery, withoutBody } from "../freshellRequests.ts";

const OK: FreshellOk = { ok: true };
const listSchema = v.strictObject({
  provider: v.optional(v.picklist(SESSION_PROVIDERS, `must be ${SESSION_PROVIDERS.join(", ")}`)),
});
const ONE = "/api/agent-sessions/:provider/:id";

export function sessionRoutes({ sessions }: FreshellContext): readonly Route[] {
  const named = ({ provider = "", id = "" }: Readonly<Record<string, string>>): Session =>
    sessions.require(provider, id);
  return [
    get("/api/agent-sessions", (c) => {
      const { provider } = queryOf(listSchema, c);
      return c.json(sessions.list(provider).map((session) => session.entry()));
    }),
    post("/api/agent-sessions", createSessionSchema, async (c, asked) =>
      c.json((await sessions.create(asked)).entry(), 201),
    ),
    get(ONE, (c, values) => {
      requireNoQuery(c);
      return c.json(named(values).entry());
    }),
    post(`${ONE}/send`, sessionSendSchema, async (c, { text, images }, values) => {
      const session = named(values);
      const { outputSeq } = session.text;
      await tell(session, text, images);
      return c.json({ outputSeq } satisfies TerminalInputResponse);
    }),
    withoutBody(`${ONE}/interrupt`, async (c, values) => {
      await named(values).interrupt();
      return c.json(OK);
    }),
    {
      method: "DELETE",
      path: ONE,
      auth: true,
      handle: async (c, values) => {
        requireNoQuery(c);
        const session = named(values);
        session.kill();
        await session.ended;
        const response: SessionKillResponse = { ok: true, exitCode: session.exitCode ?? null };
        return c.json(response);
      },
    },
  ];
}

function tell(session: Session, text: string, images: readonly SessionImage[] | undefined): Promise<void> {
  if (session.kind === "sdk") return (session as SdkSession).say(text, images);
  if (images !== undefined) throw new AppError("INVALID_ARGUMENT", "images: a codingcli session takes text alone");
  return (session as CodingSession).say(`${text}\n`);
}
