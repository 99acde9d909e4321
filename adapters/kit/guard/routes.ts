/**
 * A listener's routes as rows, and the only place that registers routes with Hono, each behind the guard, so that no route
 * is reachable without it. Paths use Hono's syntax (`/agents/:id{[0-9]+}`). A row declares every response that a client can
 * get; only tests check that, so it costs a request nothing.
 */
import { channel } from "node:diagnostics_channel";
import type { Context, Hono } from "hono";
import type { GenericSchema, InferOutput } from "valibot";
import type { AppError } from "../../../protocol/errors.ts";
import type { VisibleError } from "./httpErrors.ts";
import type { Guard, GuardEnv, RouteHandler, RouteRule } from "./requestGuard.ts";

const METHODS = ["GET", "HEAD", "POST", "DELETE"] as const;

/** JSON by its schema; anything else by its media type, `none` for a response without a body and for a WebSocket. */
type ResponseShape = GenericSchema | "none" | `${string}/${string}`;

interface RouteRow extends RouteRule {
  readonly method: Exclude<(typeof METHODS)[number], "HEAD">;
  readonly path: string;
  /** By status. */
  readonly response: Readonly<Record<number, ResponseShape>>;
  /** What `handle` may throw, in the contract's own words; a bug, a client that has left and a stop need no word. */
  readonly errors: readonly string[];
  /** A request with an `Idempotency-Key` is performed once. */
  readonly idempotent?: true | undefined;
}

export interface Route extends RouteRow {
  /** The body, or the query of a GET. */
  readonly request?: GenericSchema | undefined;
  /** The contract's word for an error; default its code. */
  readonly errorName?: ((error: AppError) => string) | undefined;
  readonly handle: RouteHandler;
}

interface Contract {
  /** Reads a request by its schema, with the contract's own errors; without one, checks that there is nothing to read. */
  readonly read: (c: Context<GuardEnv>, schema: GenericSchema | undefined) => unknown;
  readonly errorName?: Route["errorName"];
  /** Of a body that has a schema, if the row does not say. */
  readonly maxJsonBytes?: number | undefined;
}

interface EndpointRow<Schema extends GenericSchema> extends RouteRow {
  readonly request?: Schema | undefined;
  readonly handle: (c: Context<GuardEnv>, input: InferOutput<Schema>) => Response | Promise<Response>;
}

/** How a contract writes its rows. */
export const endpointsOf =
  ({ read, errorName, maxJsonBytes }: Contract) =>
  <Schema extends GenericSchema>({ handle, ...row }: EndpointRow<Schema>): Route => ({
    ...(row.request === undefined ? {} : { maxJsonBytes }),
    ...row,
    errorName,
    handle: (c) => handle(c, read(c, row.request)),
  });

/** Another contract's routes on an existing listener: with the listener's guard and token, but their own rules and errors. */
export interface Mount {
  /** Every path of the contract begins with this, and no other path does. */
  readonly prefix: `/${string}/`;
  readonly routes: readonly Route[];
  /** Makes an error body in the contract's shape. */
  readonly errorBody: (visible: VisibleError) => object;
}

/** Each row as it is registered: a test puts its checks around `handle`. */
const SERVED = channel("tmuxwire.route");

export function serveRoutes(app: Hono<GuardEnv>, guard: Guard, routes: readonly Route[]): void {
  for (const route of routes) {
    const served = { ...route };
    SERVED.publish(served);
    const { method, path, handle, ...rule } = served;
    app.on(rule.head === true ? [method, "HEAD"] : [method], path, guard.permit(rule, handle));
  }
  app.notFound(guard.refuse((path) => methodsOf(app, path)));
}

/** The methods served at a path, besides OPTIONS. */
export const methodsOf = ({ router }: Pick<Hono<GuardEnv>, "router">, path: string): readonly string[] =>
  METHODS.filter((method) => router.match(method, path)[0].length > 0);
