/** `/team/v1/tmux/…` on the native listener: each operation is a POST with JSON in and out (docs/contracts/team.md §2). */
import type { GenericSchema, InferOutput } from "valibot";
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
import { endpointsOf, type Mount, type Route } from "../kit/guard/routes.ts";
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
  const starts = new Starts(parts);
  /** @param perform with a signal where its response may take long */
  const row = <Schema extends GenericSchema>(
    operation: string,
    [request, response]: readonly [Schema, GenericSchema],
    errors: readonly string[],
    perform: (parts: TeamParts, asked: InferOutput<Schema>, signal: AbortSignal) => Promise<object>,
    { isLong = false, idempotent }: { readonly isLong?: boolean; readonly idempotent?: true } = {},
  ): Route =>
    endpoint({
      method: "POST",
      auth: true,
      path: TEAM_PREFIX + operation,
      request,
      response: { 200: response },
      errors: [...COMMON, ...errors],
      idempotent,
      handle: async (c, input) => {
        const asked = idempotent ? keyed(input as object, c.req.header("idempotency-key")) : input;
        const run = (signal: AbortSignal) => perform(parts, asked, signal);
        return isLong ? longResponse(c, long, run) : c.json(await run(c.req.raw.signal));
      },
    });
  const routes = [
    row(
      "start",
      [teamStartSchema, teamStartResponseSchema],
      [...OF_TEAMD, "invalid_cwd", "session_exists", "worker_not_found", "resource_limit"],
      (_parts, asked) => starts.start(asked),
      { idempotent: true },
    ),
    row("list", [teamListSchema, teamSessionsSchema], [], listSessions),
    row("attach", [teamSessionSchema, teamAttachResponseSchema], ["session_not_found"], attachTo),
    row("capture", [teamCaptureSchema, teamCaptureResponseSchema], [...OF_TEAMD, "session_not_found"], captureSession),
    row("send", [teamSendSchema, teamSendResponseSchema], [...OF_WORKER, "resource_limit"], sendToWorker, {
      isLong: true,
      idempotent: true,
    }),
    row("wait", [teamWaitSchema, teamWaitResponseSchema], OF_WORKER, waitForWorker, { isLong: true }),
    row("interrupt", [teamSessionSchema, teamDoneSchema], [...OF_WORKER, "resource_limit"], interruptWorker),
    row("kill", [teamSessionSchema, teamDoneSchema], ["session_not_found"], killWorker),
    row(
      "restart",
      [teamSessionSchema, teamRestartResponseSchema],
      ["session_not_found", "session_exists", "worker_not_found"],
      (_parts, asked) => starts.restart(asked),
    ),
  ];
  return { prefix: "/team/", routes, errorBody: teamErrorBody };
}

const endpoint = endpointsOf({
  read: (c, schema) => (schema === undefined ? undefined : parse(schema, c.get("json"), refuseTeam)),
  errorName: teamErrorWord,
  maxJsonBytes: TEAM_MAX_BODY_BYTES,
});

const COMMON = ["invalid_argument", "invalid_identifier", "tmux_not_installed", "tmux_error"] as const;
const OF_WORKER = [
  "session_not_found",
  "worker_not_running",
  "wrong_state",
  "not_found",
  "connection_lost",
  "timeout",
] as const;
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
