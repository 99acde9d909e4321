/** What the guard asks of a request, by its path: derived from the endpoint table, so that no endpoint is without a rule. */
import { STREAM_BEARER_PREFIX } from "../../protocol/api/nativeFrames.ts";
import { NATIVE_MAX_BODY_BYTES } from "../../protocol/api/nativeRequests.ts";
import type { RouteRule } from "../http/guard.ts";
import { ENDPOINTS } from "./endpoints.ts";

interface Route {
  readonly segments: readonly string[];
  readonly rule: RouteRule;
}

const ROUTES: readonly Route[] = [...new Set(ENDPOINTS.map(({ path }) => path))].map((path) => ruleOf(path));

function ruleOf(path: string): Route {
  const endpoints = ENDPOINTS.filter((endpoint) => endpoint.path === path);
  const rule: RouteRule = {
    methods: endpoints.map((endpoint) => endpoint.method),
    auth: endpoints.every((endpoint) => endpoint.auth),
    ...(endpoints.some((endpoint) => endpoint.body !== undefined) ? { maxJsonBytes: NATIVE_MAX_BODY_BYTES } : {}),
    ...(endpoints.some((endpoint) => endpoint.id === "socket") ? { bearerProtocolPrefix: STREAM_BEARER_PREFIX } : {}),
  };
  return { segments: path.split("/"), rule };
}

/** By their number of segments. */
const ROUTES_OF_LENGTH = new Map<number, Route[]>();
for (const route of ROUTES) {
  const { length } = route.segments;
  ROUTES_OF_LENGTH.set(length, [...(ROUTES_OF_LENGTH.get(length) ?? []), route]);
}

/** The guard's rule for a path as it stands in the request line. */
export function routeRule(path: string): RouteRule | undefined {
  const segments = path.split("/");
  return ROUTES_OF_LENGTH.get(segments.length)?.find((route) => fits(route, segments))?.rule;
}

/** From the end on: there the routes differ. */
function fits(route: Route, segments: readonly string[]): boolean {
  for (let index = segments.length - 1; index >= 0; index -= 1) {
    const wanted = route.segments[index]!;
    if (wanted.startsWith(":") ? segments[index] === "" : segments[index] !== wanted) return false;
  }
  return true;
}
