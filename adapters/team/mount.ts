/** `/team/v1/tmux/…` on the native listener: four operations, each a POST that takes and answers JSON (docs/contracts/team.md §2). */
import { Hono } from "hono";
import {
  TEAM_MAX_BODY_BYTES,
  teamAttachSchema,
  teamCaptureSchema,
  teamListSchema,
  teamStartSchema,
} from "../../protocol/api/team.ts";
import type { GuardEnv } from "../http/guard.ts";
import type { Mount } from "../http/mount.ts";
import type { TeamContext } from "./context.ts";
import { teamErrorBody } from "./errors.ts";
import { attachTo, captureSession, listSessions } from "./operations.ts";
import { keyed, parse } from "./requests.ts";
import { Starts } from "./starts.ts";

export const TEAM_PREFIX = "/team/v1/tmux/";

export function createTeamMount(context: TeamContext): Mount {
  const starts = new Starts(context);
  const operations = {
    start: (body: unknown, key: string | undefined) => starts.start(keyed(parse(teamStartSchema, body), key)),
    list: (body: unknown) => listSessions(context, parse(teamListSchema, body)),
    attach: (body: unknown) => attachTo(context, parse(teamAttachSchema, body)),
    capture: (body: unknown) => captureSession(context, parse(teamCaptureSchema, body)),
  } as const satisfies Record<string, (body: unknown, key: string | undefined) => Promise<object>>;
  const app = new Hono<GuardEnv>();
  for (const [name, operate] of Object.entries(operations)) {
    app.post(`${TEAM_PREFIX}${name}`, async (c) =>
      c.json(await operate(c.get("json"), c.req.header("idempotency-key"))),
    );
  }
  return {
    prefix: "/team/",
    app,
    errorBody: teamErrorBody,
    rule: (path) =>
      path.startsWith(TEAM_PREFIX) && Object.hasOwn(operations, path.slice(TEAM_PREFIX.length))
        ? { methods: ["POST"], auth: true, maxJsonBytes: TEAM_MAX_BODY_BYTES }
        : undefined,
  };
}
