/**
 * The native API as one table: the guard, the routes and OpenAPI are made from it (docs/contracts/native.md). What an
 * endpoint takes and answers are schemas of `protocol/api`.
 */
import type { GenericSchema } from "valibot";
import * as answers from "../../protocol/api/nativeAnswers.ts";
import * as delivery from "../../protocol/api/nativeDelivery.ts";
import * as requests from "../../protocol/api/nativeRequests.ts";
import type { LayoutOperationName } from "../../protocol/api/nativeLayout.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { LAYOUT_ENDPOINTS } from "./layoutEndpoints.ts";

export type EndpointId =
  | "listServers"
  | "listSessions"
  | "createSession"
  | "killSession"
  | "listPanes"
  | "describePane"
  | "input"
  | "capture"
  | "snapshot"
  | "wait"
  | "run"
  | "submit"
  | "choose"
  | "interrupt"
  | "clear"
  | "resize"
  | "follow"
  | "listWindows"
  | "tree"
  | "serverEvents"
  | LayoutOperationName
  | "socket"
  | "openapi"
  | "metrics"
  | "livez"
  | "readyz";

/** An answer that is not JSON. */
export type OtherAnswer = "events" | "socket" | "text";

export interface Endpoint {
  readonly id: EndpointId;
  readonly method: "GET" | "POST" | "DELETE";
  /** `:name` stands for one segment. */
  readonly path: string;
  readonly summary: string;
  readonly auth: boolean;
  readonly query?: GenericSchema | undefined;
  readonly body?: GenericSchema | undefined;
  readonly answer: GenericSchema | OtherAnswer;
  readonly status?: 201 | undefined;
  /** With an `Idempotency-Key` a request is done once. */
  readonly idempotent?: true | undefined;
  readonly errors: readonly ErrorCode[];
}

const SERVER = "/v1/servers/:server";
const PANE = `${SERVER}/panes/:pane`;
const onTmux = ["NOT_FOUND", "CONNECTION_LOST"] as const;

export const ENDPOINTS: readonly Endpoint[] = [
  {
    id: "listServers",
    method: "GET",
    path: "/v1/servers",
    summary: "tmux servers the daemon drives.",
    auth: true,
    answer: answers.serversSchema,
    errors: [],
  },
  {
    id: "listSessions",
    method: "GET",
    path: `${SERVER}/sessions`,
    summary: "Sessions, by name.",
    auth: true,
    answer: answers.sessionsSchema,
    errors: ["NOT_FOUND"],
  },
  {
    id: "createSession",
    method: "POST",
    path: `${SERVER}/sessions`,
    summary: "Make a session with one pane.",
    auth: true,
    body: requests.createSessionSchema,
    answer: answers.sessionSchema,
    status: 201,
    errors: ["INVALID_ARGUMENT", "ALREADY_EXISTS", "RESOURCE_LIMIT", "TMUX_COMMAND_FAILED", ...onTmux],
  },
  {
    id: "killSession",
    method: "DELETE",
    path: `${SERVER}/sessions/:session`,
    summary: "End a session and every program in it.",
    auth: true,
    answer: answers.okSchema,
    errors: onTmux,
  },
  {
    id: "listPanes",
    method: "GET",
    path: `${SERVER}/panes`,
    summary: "Panes of all sessions.",
    auth: true,
    answer: answers.panesSchema,
    errors: ["NOT_FOUND"],
  },
  {
    id: "describePane",
    method: "GET",
    path: PANE,
    summary: "One pane, with what only tmux knows at this moment: program, directory, history.",
    auth: true,
    answer: answers.paneDetailsSchema,
    errors: onTmux,
  },
  {
    id: "input",
    method: "POST",
    path: `${PANE}/input`,
    summary: "Type: the parts arrive as one job, in order, nothing of another sender between them.",
    auth: true,
    body: requests.inputRequestSchema,
    answer: answers.receiptSchema,
    errors: ["INVALID_ARGUMENT", "RESOURCE_LIMIT", ...onTmux],
  },
  {
    id: "capture",
    method: "GET",
    path: `${PANE}/capture`,
    summary: "Screen text, or the last lines, with its place in the stream.",
    auth: true,
    query: requests.captureQuerySchema,
    answer: answers.captureSchema,
    errors: ["INVALID_ARGUMENT", "RESOURCE_LIMIT", ...onTmux],
  },
  {
    id: "snapshot",
    method: "GET",
    path: `${PANE}/snapshot`,
    summary: "Bytes that rebuild the screen in a terminal emulator.",
    auth: true,
    answer: answers.snapshotSchema,
    errors: onTmux,
  },
  {
    id: "wait",
    method: "POST",
    path: `${PANE}/wait`,
    summary: "Wait for output, silence, a prompt or the end; with `send`, type first.",
    auth: true,
    body: requests.waitRequestSchema,
    answer: answers.waitAnswerSchema,
    errors: ["INVALID_ARGUMENT", "TIMEOUT", "RESOURCE_LIMIT", "UNSUPPORTED_PATTERN_ENGINE", ...onTmux],
  },
  {
    id: "run",
    method: "POST",
    path: `${PANE}/run`,
    summary: "Run a command in the pane's shell; answers its output and exit status.",
    auth: true,
    body: requests.runRequestSchema,
    answer: answers.runAnswerSchema,
    errors: ["INVALID_ARGUMENT", "INCONSISTENT_STATE", "WRONG_STATE", "TIMEOUT", "RESOURCE_LIMIT", ...onTmux],
  },
  {
    id: "submit",
    method: "POST",
    path: `${PANE}/submit`,
    summary: "Give a prompt to the program: verified on the screen, Enter by itself, confirmed.",
    auth: true,
    body: delivery.submitRequestSchema,
    answer: delivery.deliveryAnswerSchema,
    idempotent: true,
    errors: ["INVALID_ARGUMENT", "WRONG_STATE", "ALREADY_EXISTS", "TIMEOUT", "RESOURCE_LIMIT", ...onTmux],
  },
  {
    id: "choose",
    method: "POST",
    path: `${PANE}/choose`,
    summary: "Answer the dialog that is open.",
    auth: true,
    body: delivery.chooseRequestSchema,
    answer: delivery.deliveryAnswerSchema,
    idempotent: true,
    errors: ["INVALID_ARGUMENT", "WRONG_STATE", "ALREADY_EXISTS", "TIMEOUT", "RESOURCE_LIMIT", ...onTmux],
  },
  {
    id: "interrupt",
    method: "POST",
    path: `${PANE}/interrupt`,
    summary: "Stop what the program works on, with its own keys.",
    auth: true,
    body: requests.emptyRequestSchema,
    answer: answers.okSchema,
    errors: ["WRONG_STATE", "TIMEOUT", "RESOURCE_LIMIT", ...onTmux],
  },
  {
    id: "clear",
    method: "POST",
    path: `${PANE}/clear`,
    summary: "Empty the program's prompt box; not while a dialog is open.",
    auth: true,
    body: requests.emptyRequestSchema,
    answer: answers.okSchema,
    errors: ["WRONG_STATE", "TIMEOUT", "RESOURCE_LIMIT", ...onTmux],
  },
  {
    id: "resize",
    method: "POST",
    path: `${PANE}/size`,
    summary: "Set the size of the pane's window; not on a guest server.",
    auth: true,
    body: requests.sizeRequestSchema,
    answer: answers.okSchema,
    errors: ["INVALID_ARGUMENT", ...onTmux],
  },
  {
    id: "follow",
    method: "GET",
    path: `${PANE}/stream`,
    summary: "Output as server-sent events; `Last-Event-ID` goes before `from`.",
    auth: true,
    query: requests.streamQuerySchema,
    answer: "events",
    errors: ["INVALID_ARGUMENT", ...onTmux],
  },
  ...LAYOUT_ENDPOINTS,
  {
    id: "socket",
    method: "GET",
    path: "/v1/stream",
    summary: "WebSocket for many panes: output as binary frames, credit, input, resize.",
    auth: true,
    answer: "socket",
    errors: ["INVALID_ARGUMENT"],
  },
  {
    id: "openapi",
    method: "GET",
    path: "/v1/openapi.json",
    summary: "This description.",
    auth: false,
    answer: "text",
    errors: [],
  },
  {
    id: "metrics",
    method: "GET",
    path: "/metrics",
    summary: "Prometheus text.",
    auth: true,
    answer: "text",
    errors: [],
  },
  {
    id: "livez",
    method: "GET",
    path: "/livez",
    summary: "The process answers.",
    auth: false,
    answer: answers.okSchema,
    errors: [],
  },
  {
    id: "readyz",
    method: "GET",
    path: "/readyz",
    summary: "200 when every server is ready, else 503.",
    auth: false,
    answer: answers.healthSchema,
    errors: ["CONNECTION_LOST"],
  },
];
