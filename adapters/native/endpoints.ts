/**
 * The native API over HTTP as one table: a row for each operation, then what is no operation: streams, probes, texts. The
 * guard, the routes and OpenAPI are made from it (docs/contracts/native.md).
 */
import type { GenericSchema } from "valibot";
import { healthSchema, okSchema } from "../../protocol/api/nativeAnswers.ts";
import { eventsQuerySchema, streamQuerySchema } from "../../protocol/api/nativeRequests.ts";
import { OPERATION_ROUTES, type OperationName, type OperationRoute } from "../../protocol/api/operationRoutes.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { ON_TMUX, type Operation } from "../operations/operation.ts";
import { OPERATIONS } from "../operations/operationTable.ts";

/** What is no operation. */
export type OtherEndpointId = "follow" | "serverEvents" | "socket" | "openapi" | "metrics" | "livez" | "readyz";

/** An answer that is not JSON. */
export type OtherAnswer = "events" | "socket" | "text";

interface EndpointBase {
  readonly method: "GET" | "POST" | "DELETE";
  /** `:name` stands for one segment. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly auth: boolean;
  readonly query?: GenericSchema | undefined;
  readonly body?: GenericSchema | undefined;
  readonly answer: GenericSchema | OtherAnswer;
  readonly status?: 201 | undefined;
  /** With an `Idempotency-Key` a request is done once. */
  readonly idempotent?: true | undefined;
  readonly errors: readonly ErrorCode[];
}
export interface OperationEndpoint extends EndpointBase {
  readonly id: OperationName;
  readonly operation: Operation;
}
export interface OtherEndpoint extends EndpointBase {
  readonly id: OtherEndpointId;
  readonly operation?: undefined;
}
export type Endpoint = OperationEndpoint | OtherEndpoint;

const SERVER = "/v1/servers/:server";

const OTHERS: readonly OtherEndpoint[] = [
  {
    id: "follow",
    method: "GET",
    path: `${SERVER}/panes/:pane/stream`,
    summary: "Output as server-sent events; `Last-Event-ID` goes before `from`.",
    auth: true,
    query: streamQuerySchema,
    answer: "events",
    errors: ["INVALID_ARGUMENT", ...ON_TMUX],
  },
  {
    id: "serverEvents",
    method: "GET",
    path: `${SERVER}/events`,
    summary: "Everything that happens to sessions, windows and panes, as server-sent events; the whole tree first.",
    auth: true,
    query: eventsQuerySchema,
    answer: "events",
    errors: ["INVALID_ARGUMENT", "NOT_FOUND"],
  },
  {
    id: "socket",
    method: "GET",
    path: "/v1/stream",
    summary: "WebSocket for many panes: output as binary frames, credit, input, every operation.",
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
    answer: okSchema,
    errors: [],
  },
  {
    id: "readyz",
    method: "GET",
    path: "/readyz",
    summary: "200 when every server is ready, else 503.",
    auth: false,
    answer: healthSchema,
    errors: ["CONNECTION_LOST"],
  },
];

const operationEndpoints = Object.entries(OPERATIONS).map(([name, operation]): OperationEndpoint => {
  const id = name as OperationName;
  const { method, path, status }: OperationRoute = OPERATION_ROUTES[id];
  const { summary, description, input, output, idempotent, errors } = operation;
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
    answer: output,
    status,
    idempotent,
    errors,
  };
});

export const ENDPOINTS: readonly Endpoint[] = [...operationEndpoints, ...OTHERS];
