/**
 * The native API over HTTP as one table: a row for each operation, then the other endpoints: streams, probes, documents.
 * The guard, the routes and OpenAPI are derived from it (docs/contracts/native.md).
 */
import type { GenericSchema } from "valibot";
import { healthSchema, okSchema } from "../../protocol/api/native/nativeResponses.ts";
import { daemonSchema, restartingSchema, restartSchema } from "../../protocol/api/native/nativeRestart.ts";
import { eventsQuerySchema, streamQuerySchema } from "../../protocol/api/native/nativeRequests.ts";
import type { Route } from "../kit/guard/routes.ts";
import { ON_TMUX } from "../operations/operation.ts";
import {
  ELSEWHERE,
  type EndpointBase,
  OPERATION_ENDPOINTS,
  type OperationEndpoint,
} from "../kit/operations/operationEndpoints.ts";

/** Endpoints that are not operations. */
export type OtherEndpointId =
  | "follow"
  | "serverEvents"
  | "agentEvents"
  | "socket"
  | "openapi"
  | "metrics"
  | "livez"
  | "readyz"
  | "recordingFile"
  | "daemon"
  | "restart";

/** A response that is not JSON. */
type OtherResponse = "events" | "socket" | "document" | "text" | "recording";

/** Their media types. */
export const OTHER_TYPES = {
  events: "text/event-stream",
  socket: "none",
  document: "application/json",
  text: "text/plain",
  recording: "application/x-asciicast",
} as const satisfies Record<OtherResponse, Route["response"][number]>;

interface OtherEndpoint extends EndpointBase {
  readonly id: OtherEndpointId;
  readonly operation?: undefined;
  readonly response: GenericSchema | OtherResponse;
}
export type Endpoint = OperationEndpoint | OtherEndpoint;

const SERVER = "/v1/servers/:server";

const OTHERS: readonly OtherEndpoint[] = [
  {
    id: "follow",
    method: "GET",
    path: `${SERVER}/panes/:pane/stream`,
    summary: "Follow a pane's output as server-sent events.",
    description:
      "`Last-Event-ID` takes precedence over `from`. Every byte is sent once and in order; a gap event says which bytes are missing.",
    auth: true,
    query: streamQuerySchema,
    response: "events",
    example: {
      input: { from: "snapshot", readiness: true },
      output: "id: k3Jd9:1030\nevent: output\ndata: aGVsbG8K\n\n",
    },
    errors: ["INVALID_ARGUMENT", ...ON_TMUX, ...ELSEWHERE],
  },
  {
    id: "serverEvents",
    method: "GET",
    path: `${SERVER}/events`,
    summary: "Follow changes of sessions, windows and panes as server-sent events.",
    description:
      "Sends the whole tree first, then every change once and in order. `Last-Event-ID` takes precedence over `after`.",
    auth: true,
    query: eventsQuerySchema,
    response: "events",
    example: {
      input: { after: "0f1e2d3c4b5a:17", readiness: true },
      output: 'id: 0f1e2d3c4b5a:18\nevent: pane-closed\ndata: {"type":"pane-closed","pane":"%5"}\n\n',
    },
    errors: ["INVALID_ARGUMENT", "NOT_FOUND", ...ELSEWHERE],
  },
  {
    id: "agentEvents",
    method: "GET",
    path: "/v1/agent-events",
    summary: "Follow the agents of all servers as server-sent events.",
    description:
      "Sends all agents that run and the messages for them that were not delivered, then each agent as it is when it has " +
      "changed. Those of this machine alone. It begins anew each time: there are no ids to resume from.",
    auth: true,
    response: "events",
    example: {
      input: {},
      output: 'event: messages\ndata: {"type":"messages","messages":[]}\n\n',
    },
    errors: ["INVALID_ARGUMENT"],
  },
  {
    id: "socket",
    method: "GET",
    path: "/v1/stream",
    summary: "Open a WebSocket for many panes: output as binary frames with credit, input, and every operation.",
    auth: true,
    response: "socket",
    example: { input: {}, output: undefined },
    errors: ["INVALID_ARGUMENT"],
  },
  {
    id: "recordingFile",
    method: "GET",
    path: "/v1/recordings/:recording/file",
    summary: "Read a recording.",
    description: "The part written so far, as whole lines of asciicast.",
    auth: true,
    response: "recording",
    example: { input: {}, output: '{"version":2,"width":80,"height":24}\n[0.100000, "o", "$ "]\n' },
    errors: ["INVALID_ARGUMENT", "NOT_FOUND"],
  },
  {
    id: "daemon",
    method: "GET",
    path: "/v1/daemon",
    summary: "Read which version runs, and since when.",
    auth: true,
    response: daemonSchema,
    example: { input: {}, output: { version: "0.2.0", node: "22.15.0", pid: 4711, startedUnixMs: 1764259200000 } },
    errors: [],
  },
  {
    id: "restart",
    method: "POST",
    path: "/v1/daemon/restart",
    summary: "Replace the daemon with the installed version.",
    description:
      "Only over the unix socket. Responds once the new version has shown that it can start and the deliveries under way " +
      "have ended; then the daemon stops as with SIGTERM, and the new one starts with the same arguments and environment.",
    auth: true,
    body: restartSchema,
    response: restartingSchema,
    example: { input: {}, output: { from: "0.1.0", to: "0.2.0", unfinished: 0, by: "itself" } },
    errors: ["INCONSISTENT_STATE", "FORBIDDEN", "SHUTTING_DOWN"],
  },
  {
    id: "openapi",
    method: "GET",
    path: "/v1/openapi.json",
    summary: "Read this OpenAPI document.",
    auth: false,
    response: "document",
    example: { input: {}, output: { openapi: "3.1.0" } },
    errors: [],
  },
  {
    id: "metrics",
    method: "GET",
    path: "/metrics",
    summary: "Read the metrics, as Prometheus text.",
    auth: true,
    response: "text",
    example: { input: {}, output: 'tmuxwire_sessions{server="main"} 1\n' },
    errors: [],
  },
  {
    id: "livez",
    method: "GET",
    path: "/livez",
    summary: "Check that the process responds.",
    auth: false,
    response: okSchema,
    example: { input: {}, output: { ok: true } },
    errors: [],
  },
  {
    id: "readyz",
    method: "GET",
    path: "/readyz",
    summary: "Check that every server is ready: 200, else 503.",
    auth: false,
    response: healthSchema,
    example: { input: {}, output: { ok: true, servers: { main: "ready" } } },
    failed: {
      status: 503,
      description: "Not every server is ready.",
      response: healthSchema,
      example: { ok: false, servers: { main: "connecting" } },
    },
    errors: [],
  },
];

export const ENDPOINTS: readonly Endpoint[] = [...OPERATION_ENDPOINTS, ...OTHERS];
