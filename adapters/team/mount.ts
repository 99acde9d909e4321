/** `/team/v1/tmux/…` on the native listener: four operations, each a POST that takes and answers JSON (docs/contracts/team.md §2). */
import { Hono } from "hono";
import * as v from "valibot";
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
import { teamError, teamErrorBody } from "./errors.ts";
import { attachTo, captureSession, listSessions } from "./operations.ts";
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

/** The header is for callers whose HTTP client repeats requests by itself; the body's own key goes before it. */
function keyed<Request extends { readonly idempotencyKey?: string | undefined }>(
  request: Request,
  header: string | undefined,
): Request {
  if (request.idempotencyKey !== undefined || header === undefined || header === "") return request;
  if (header.length > 256) throw teamError("invalid_argument", "Idempotency-Key: at most 256 characters");
  return { ...request, idempotencyKey: header };
}

/** @throws AppError invalid_identifier, invalid_argument: the first field at fault */
function parse<Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
  // To the library an array is an object without members.
  const parsed = v.safeParse(schema, Array.isArray(body) ? undefined : body);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const [, isIdentifier, message = ""] = /^(invalid_identifier: )?(.*)$/s.exec(issue.message) ?? [];
  const path = v.getDotPath(issue);
  const said = path === null ? message : `${path}: ${message}`;
  throw teamError(isIdentifier === undefined ? "invalid_argument" : "invalid_identifier", said);
}
