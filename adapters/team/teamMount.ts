/** `/team/v1/tmux/…` on the native listener: each operation is a POST with JSON in and out (docs/contracts/team.md §2). */
import { faultText } from "../../protocol/api/faultWords.ts";
import { parse, type Refuse } from "../../protocol/api/parse.ts";
import {
  TEAM_MAX_BODY_BYTES,
  teamAttachResponseSchema,
  teamCaptureResponseSchema,
  teamCaptureSchema,
  teamListSchema,
  teamDoneSchema,
  teamRestartResponseSchema,
  teamSendResponseSchema,
  teamSendSchema,
  teamSessionSchema,
  teamSessionsSchema,
  teamStartResponseSchema,
  teamStartSchema,
  teamWaitResponseSchema,
  teamWaitSchema,
} from "../../protocol/api/team.ts";
import type { Mount } from "../kit/guard/routes.ts";
import { endpointsOf } from "../kit/guard/routes.ts";
import { visibleError } from "../kit/guard/httpErrors.ts";
import { longResponse } from "../kit/streams/longResponse.ts";
import { teamError, teamErrorBody, teamErrorWord } from "./teamErrors.ts";
import {
  attachTo,
  captureSession,
  interruptWorker,
  killWorker,
  listSessions,
  sendToWorker,
  waitForWorker,
} from "./operations.ts";
import { Starts } from "./start/starts.ts";
import type { TeamParts } from "./start/worker.ts";

export const TEAM_PREFIX = "/team/v1/tmux/";

export function createTeamMount(parts: TeamParts): Mount {
  const long = { clock: parts.clock, errorBody: (error: unknown) => teamErrorBody(visibleError(error)) };
  const workerStarts = new Starts(parts);
  const routes = [
    endpoint({
      ...POST,
      path: `${TEAM_PREFIX}start`,
      request: teamStartSchema,
      response: { 200: teamStartResponseSchema },
      errors: [...COMMON, ...OF_TEAMD, "invalid_cwd", "session_exists", "worker_not_found", "resource_limit"],
      idempotent: true,
      handle: async (c, request) => c.json(await workerStarts.start(keyed(request, c.req.header("idempotency-key")))),
    }),
    endpoint({
      ...POST,
      path: `${TEAM_PREFIX}list`,
      request: teamListSchema,
      response: { 200: teamSessionsSchema },
      errors: COMMON,
      handle: async (c, request) => c.json(await listSessions(parts, request)),
    }),
    endpoint({
      ...POST,
      path: `${TEAM_PREFIX}attach`,
      request: teamSessionSchema,
      response: { 200: teamAttachResponseSchema },
      errors: [...COMMON, "session_not_found"],
      handle: async (c, request) => c.json(await attachTo(parts, request)),
    }),
    endpoint({
      ...POST,
      path: `${TEAM_PREFIX}capture`,
      request: teamCaptureSchema,
      response: { 200: teamCaptureResponseSchema },
      errors: [...COMMON, ...OF_TEAMD, "session_not_found"],
      handle: async (c, request) => c.json(await captureSession(parts, request)),
    }),
    endpoint({
      ...POST,
      path: `${TEAM_PREFIX}send`,
      request: teamSendSchema,
      response: { 200: teamSendResponseSchema },
      errors: [...COMMON, ...OF_WORKER, "resource_limit", "timeout"],
      idempotent: true,
      handle: (c, request) =>
        longResponse(c, long, (signal) => sendToWorker(parts, keyed(request, c.req.header("idempotency-key")), signal)),
    }),
    endpoint({
      ...POST,
      path: `${TEAM_PREFIX}wait`,
      request: teamWaitSchema,
      response: { 200: teamWaitResponseSchema },
      errors: [...COMMON, ...OF_WORKER, "timeout"],
      handle: (c, request) => longResponse(c, long, (signal) => waitForWorker(parts, request, signal)),
    }),
    endpoint({
      ...POST,
      path: `${TEAM_PREFIX}interrupt`,
      request: teamSessionSchema,
      response: { 200: teamDoneSchema },
      errors: [...COMMON, ...OF_WORKER, "resource_limit", "timeout"],
      handle: async (c, request) => c.json(await interruptWorker(parts, request)),
    }),
    endpoint({
      ...POST,
      path: `${TEAM_PREFIX}kill`,
      request: teamSessionSchema,
      response: { 200: teamDoneSchema },
      errors: [...COMMON, "session_not_found"],
      handle: async (c, request) => c.json(await killWorker(parts, request)),
    }),
    endpoint({
      ...POST,
      path: `${TEAM_PREFIX}restart`,
      request: teamSessionSchema,
      response: { 200: teamRestartResponseSchema },
      errors: [...COMMON, "session_not_found", "session_exists", "worker_not_found"],
      handle: async (c, request) => c.json(await workerStarts.restart(request)),
    }),
  ];
  return { prefix: "/team/", routes, errorBody: teamErrorBody };
}

const POST = { method: "POST", auth: true } as const;

const endpoint = endpointsOf({
  read: (c, schema) => (schema === undefined ? undefined : parse(schema, c.get("json"), refuseTeam)),
  errorName: teamErrorWord,
  maxJsonBytes: TEAM_MAX_BODY_BYTES,
});

const COMMON = ["invalid_argument", "invalid_identifier", "tmux_not_installed", "tmux_error"] as const;
const OF_WORKER = ["session_not_found", "worker_not_running", "wrong_state", "not_found", "connection_lost"] as const;
const OF_TEAMD = ["thread_not_found", "teamd_unavailable", "thread_post_failed"] as const;

/** Makes the error for the first invalid field: invalid_identifier or invalid_argument. */
export const refuseTeam: Refuse = ({ path, message, unknown }) => {
  if (unknown !== undefined) {
    const hint = unknown.nearest === undefined ? "" : `; did you mean ${unknown.nearest}?`;
    return teamError("invalid_argument", `${unknown.path}: the request has no such field${hint}`);
  }
  const [, isIdentifier, words = ""] = /^(invalid_identifier: )?(.*)$/s.exec(message) ?? [];
  const text = faultText({ path, message: words }, "the body");
  return teamError(isIdentifier === undefined ? "invalid_argument" : "invalid_identifier", text);
};

/** The header is for callers whose HTTP client retries on its own; the body's key takes precedence. */
function keyed<Request extends { readonly idempotencyKey?: string | undefined }>(
  request: Request,
  header: string | undefined,
): Request {
  if (request.idempotencyKey !== undefined || header === undefined || header === "") return request;
  if (header.length > 256) throw teamError("invalid_argument", "Idempotency-Key: at most 256 characters");
  return { ...request, idempotencyKey: header };
}
