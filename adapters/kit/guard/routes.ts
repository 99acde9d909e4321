/**
 * A listener's routes as rows, and the only place that registers routes with Hono, each behind the guard, so that no route
 * is reachable without it. Paths use Hono's syntax (`/agents/:id{[0-9]+}`).
 */
import type { Hono } from "hono";
import type { Guard, GuardEnv, RouteHandler, RouteRule } from "./requestGuard.ts";

const METHODS = ["GET", "HEAD", "POST", "DELETE"] as const;

export interface Route extends RouteRule {
  readonly method: Exclude<(typeof METHODS)[number], "HEAD">;
  readonly path: string;
  readonly handle: RouteHandler;
}

export function serveRoutes(app: Hono<GuardEnv>, guard: Guard, routes: readonly Route[]): void {
  for (const { method, path, handle, ...rule } of routes) {
    app.on(rule.head === true ? [method, "HEAD"] : [method], path, guard.permit(rule, handle));
  }
  app.notFound(guard.refuse((path) => methodsOf(app, path)));
}

/** The methods served at a path, besides OPTIONS. */
export const methodsOf = ({ router }: Pick<Hono<GuardEnv>, "router">, path: string): readonly string[] =>
  METHODS.filter((method) => router.match(method, path)[0].length > 0);
