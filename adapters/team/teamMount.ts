/** `/team/v1/tmux/…` on the native listener: four operations, each a POST of JSON for JSON (docs/contracts/team.md §2). */
import { parse } from "../../protocol/api/parse.ts";
import {
  TEAM_MAX_BODY_BYTES,
  teamAttachSchema,
  teamCaptureSchema,
  teamListSchema,
  teamStartSchema,
} from "../../protocol/api/team.ts";
import type { Mount } from "../http/mount.ts";
import { type Route, Routes } from "../http/routes.ts";
import type { TeamContext } from "./teamContext.ts";
import { teamErrorBody } from "./teamErrors.ts";
import { attachTo, captureSession, listSessions } from "./operations.ts";
import { keyed, refuseTeam } from "./teamRequests.ts";
import { Starts } from "./starts.ts";

export const TEAM_PREFIX = "/team/v1/tmux/";

export function createTeamMount(context: TeamContext): Mount {
  const starts = new Starts(context);
  const operations = {
    start: (body: unknown, key: string | undefined) =>
      starts.start(keyed(parse(teamStartSchema, body, refuseTeam), key)),
    list: (body: unknown) => listSessions(context, parse(teamListSchema, body, refuseTeam)),
    attach: (body: unknown) => attachTo(context, parse(teamAttachSchema, body, refuseTeam)),
    capture: (body: unknown) => captureSession(context, parse(teamCaptureSchema, body, refuseTeam)),
  } as const satisfies Record<string, (body: unknown, key: string | undefined) => Promise<object>>;
  const routes = Object.entries(operations).map(([name, operate]): Route => ({
    method: "POST",
    path: `${TEAM_PREFIX}${name}`,
    auth: true,
    maxJsonBytes: TEAM_MAX_BODY_BYTES,
    handle: async (c) => c.json(await operate(c.get("json"), c.req.header("idempotency-key"))),
  }));
  return { prefix: "/team/", routes: new Routes(routes), errorBody: teamErrorBody };
}
