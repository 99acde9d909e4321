/** `/team/v1/tmux/…` on the native listener: four operations, each a POST with JSON in and out (docs/contracts/team.md §2). */
import type * as v from "valibot";
import { parse, faultText, type Refuse } from "../../protocol/api/parse.ts";
import {
  TEAM_MAX_BODY_BYTES,
  teamAttachSchema,
  teamCaptureSchema,
  teamListSchema,
  teamStartSchema,
} from "../../protocol/api/team.ts";
import type { Mount } from "../kit/guard/mount.ts";
import type { Route } from "../kit/guard/routes.ts";
import type { TeamContext } from "./teamContext.ts";
import { teamErrorBody, teamError } from "./teamErrors.ts";
import { attachTo, captureSession, listSessions } from "./operations.ts";
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
  return { prefix: "/team/", routes, errorBody: teamErrorBody };
}

/** Makes the error for the first invalid field: invalid_identifier or invalid_argument. */
export const refuseTeam: Refuse = (issue, path) => {
  const [, isIdentifier, message = ""] = /^(invalid_identifier: )?(.*)$/s.exec(wordsOf(issue)) ?? [];
  return teamError(isIdentifier === undefined ? "invalid_argument" : "invalid_identifier", faultText(message, path));
};

/** Checks have their own messages in the schema; values of the wrong type get their message here. */
function wordsOf({ kind, type, expected, input, path, message }: v.BaseIssue<unknown>): string {
  if (kind !== "schema") return message;
  switch (type) {
    case "strict_object":
      if (path === undefined || path.length === 0) return "the body must be a JSON object";
      if (expected === "never") return "the request has no such field";
      return input === undefined ? "is missing" : "must be a JSON object";
    case "string":
      return "must be text";
    default:
      return message;
  }
}

/** The header is for callers whose HTTP client retries on its own; the body's key takes precedence. */
function keyed<Request extends { readonly idempotencyKey?: string | undefined }>(
  request: Request,
  header: string | undefined,
): Request {
  if (request.idempotencyKey !== undefined || header === undefined || header === "") return request;
  if (header.length > 256) throw teamError("invalid_argument", "Idempotency-Key: at most 256 characters");
  return { ...request, idempotencyKey: header };
}
