/**
 * The native API over HTTP as one table: a row for each operation, then the other endpoints: streams, probes, documents.
 * The guard, the routes and OpenAPI are derived from it (docs/contracts/native.md).
 */
import type { GenericSchema } from "valibot";
import { healthSchema, okSchema } from "../../protocol/api/nativeResponses.ts";
import { eventsQuerySchema, streamQuerySchema } from "../../protocol/api/nativeRequests.ts";
import { OPERATION_ROUTES, type OperationName, type OperationRoute } from "../../protocol/api/operationRoutes.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import type { Route } from "../kit/guard/routes.ts";
import { ON_TMUX, type Operation, type Scope } from "../operations/operation.ts";
import { OPERATIONS } from "../operations/operationTable.ts";

/** Endpoints that are not operations. */
export type OtherEndpointId =
  | "follow"
  | "serverEvents"
  | "socket"
  | "openapi"
  | "metrics"
  | "livez"
  | "readyz"
  | "recordingFile";

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

interface EndpointBase {
  readonly method: "GET" | "POST" | "DELETE";
  /** `:name` matches one path segment. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly auth: boolean;
  readonly query?: GenericSchema | undefined;
  readonly body?: GenericSchema | undefined;
  readonly response: GenericSchema | OtherResponse;
  readonly status?: 201 | undefined;
  /** A request with an `Idempotency-Key` is performed once per key. */
  readonly idempotent?: true | undefined;
  readonly errors: readonly ErrorCode[];
  /** A response with another status that is not an error body. */
  readonly failed?: {
    readonly status: 503;
    readonly description: string;
    readonly response: GenericSchema;
    readonly example: unknown;
  };
  readonly example: { readonly input: unknown; readonly output: unknown };
}
export interface OperationEndpoint extends EndpointBase {
  readonly id: OperationName;
  readonly operation: Operation;
}
interface OtherEndpoint extends EndpointBase {
  readonly id: OtherEndpointId;
  readonly operation?: undefined;
}
export type Endpoint = OperationEndpoint | OtherEndpoint;

const SERVER = "/v1/servers/:server";
/** Of what may be on another machine: it cannot be reached, or the connection to it was lost. */
const ELSEWHERE = ["DAEMON_UNREACHABLE"] as const satisfies readonly ErrorCode[];

const ALWAYS_HERE: ReadonlySet<Scope> = new Set(["host", "notification"]);

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

const operationEndpoints = Object.entries(OPERATIONS).map(([name, operation]): OperationEndpoint => {
  const id = name as OperationName;
  const { method, path, status }: OperationRoute = OPERATION_ROUTES[id];
  const { summary, description, input, output, idempotent, errors, example } = operation;
  return {
    id,
    operation,
    method,
    path,
    summary,
    description,
    auth: true,
    ...(method === "POST" ? { body: input } : {}),
    ...(method === "GET" ? { query: input } : {}),
    response: output,
    status,
    idempotent,
    errors: ALWAYS_HERE.has(operation.scope) ? errors : [...errors, ...ELSEWHERE],
    example,
  };
});

export const ENDPOINTS: readonly Endpoint[] = [...operationEndpoints, ...OTHERS];
