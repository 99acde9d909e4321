/** Operations over HTTP, on the listener of any contract: an endpoint for each, and the route that performs it. */
import type { Context } from "hono";
import type { GenericSchema } from "valibot";
import { IDEMPOTENCY_KEY_HEADER } from "../../../protocol/api/native/nativeDelivery.ts";
import { NATIVE_MAX_BODY_BYTES } from "../../../protocol/api/native/nativeRequests.ts";
import {
  OPERATION_ROUTES,
  OWN_ONLY_HEADER,
  type OperationName,
  type OperationRoute,
} from "../../../protocol/api/operationRoutes.ts";
import type { ErrorCode } from "../../../protocol/errors.ts";
import { visibleError } from "../guard/httpErrors.ts";
import { requestAbort } from "../guard/requestAbort.ts";
import type { GuardEnv, RouteHandler } from "../guard/requestGuard.ts";
import type { Route } from "../guard/routes.ts";
import { longResponse, streamedResponse, textResponse, wantsLines, wantsText } from "../streams/longResponse.ts";
import { errorBody } from "./errorBody.ts";
import type { Call, Operation, OperationContext, Scope } from "../../operations/operation.ts";
import { OPERATIONS } from "../../operations/operationTable.ts";
import { perform } from "../../operations/perform.ts";
import { queryInput } from "../../operations/queryInput.ts";

export interface EndpointBase {
  readonly method: "GET" | "POST" | "DELETE";
  /** `:name` matches one path segment. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly auth: boolean;
  readonly query?: GenericSchema | undefined;
  readonly body?: GenericSchema | undefined;
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
  readonly response: GenericSchema;
}

/** Of what may be on another machine: it cannot be reached, the connection to it was lost, or its daemon is a later version. */
export const ELSEWHERE = ["DAEMON_UNREACHABLE", "PROTOCOL_ERROR"] as const satisfies readonly ErrorCode[];

const ALWAYS_HERE: ReadonlySet<Scope> = new Set(["host", "notification"]);

export const OPERATION_ENDPOINTS: readonly OperationEndpoint[] = Object.entries(OPERATIONS).map(([name, operation]) => {
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

/** Performs the operation. The guard's rule is derived from the row. @param by as in `Call` */
export const operationRoute = (context: OperationContext, endpoint: OperationEndpoint, by?: Call["by"]): Route =>
  endpointRoute(endpoint, endpoint.response, performing(context, endpoint, by));

export function endpointRoute(
  { method, path, auth, body, query, status, failed, errors, idempotent }: EndpointBase,
  response: Route["response"][number],
  handle: RouteHandler,
): Route {
  return {
    method,
    path,
    auth,
    request: body ?? query,
    response: { [status ?? 200]: response, ...(failed === undefined ? {} : { [failed.status]: failed.response }) },
    // A body that is no such request, as the description says of every route with one.
    errors: body === undefined ? errors : [...errors, "INVALID_ARGUMENT"],
    idempotent,
    handle,
    ...(body === undefined ? {} : { maxJsonBytes: NATIVE_MAX_BODY_BYTES }),
  };
}

const shownError = (error: unknown): object => errorBody(visibleError(error));

function performing(
  context: OperationContext,
  { id, operation, body, query, status }: OperationEndpoint,
  by: Call["by"],
): RouteHandler {
  const inputOf = (c: Context<GuardEnv>): unknown =>
    body === undefined ? (query === undefined ? {} : queryInput(query, c.req.query())) : c.get("json");
  const { long = false, streams = false, idempotent = false } = operation;
  return async (c) => {
    const idempotencyKey = idempotent ? c.req.header(IDEMPOTENCY_KEY_HEADER) : undefined;
    const work = (signal?: AbortSignal, listener: object = {}): Promise<object> =>
      perform(context, id, {
        names: c.req.param(),
        input: inputOf(c),
        signal,
        whileWaiting: () => requestAbort(c).signal,
        idempotencyKey,
        requestId: c.get("requestId"),
        isOwnOnly: operation.scope === "daemon" && c.req.header(OWN_ONLY_HEADER) !== undefined,
        by,
        ...listener,
      });
    if (operation.plainText !== undefined && wantsText(c)) {
      return textResponse(c, async (signal) => operation.plainText!(await work(signal), inputOf(c)));
    }
    if (streams && wantsLines(c)) return streamedResponse(c, { clock: context.clock, errorBody: shownError }, work);
    return long
      ? longResponse(c, { clock: context.clock, errorBody: shownError, statusOf: () => status ?? 200 }, work)
      : c.json(await work(), status ?? 200);
  };
}
