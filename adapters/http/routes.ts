/**
 * Routes of a listener, declared once: what the guard requires of a request and what handles it. A request is matched once,
 * by the path in its request line; the first match wins.
 */
import type { Context, Handler } from "hono";
import type { GuardEnv, RouteMatch, RouteRule } from "./requestGuard.ts";

/** The parameters of a path, decoded. */
type PathValues = Readonly<Record<string, string>>;
export type RouteHandler = (c: Context<GuardEnv>, values: PathValues) => Response | Promise<Response>;

export interface Route extends Omit<RouteRule, "methods"> {
  readonly method: "GET" | "POST" | "DELETE";
  /** GET only: HEAD is served as well. */
  readonly head?: true | undefined;
  /** `:name` stands for one segment. */
  readonly path: string;
  /** What a parameter must match before it is decoded; default anything. */
  readonly places?: Readonly<Record<string, RegExp>> | undefined;
  readonly handle: RouteHandler;
}

interface Place {
  readonly name: string;
  readonly pattern: RegExp | undefined;
}

interface Entry {
  readonly segments: readonly (string | Place)[];
  readonly rule: RouteRule;
  readonly handlers: ReadonlyMap<string, RouteHandler>;
}

export class Routes {
  /** By their number of segments. */
  readonly #entries = new Map<number, Entry[]>();

  /** Routes of one path share its guard: who one of them lets in without a token, all do not. */
  constructor(routes: readonly Route[]) {
    for (const path of new Set(routes.map((route) => route.path))) {
      const entry = entryOf(routes.filter((route) => route.path === path));
      const { length } = entry.segments;
      this.#entries.set(length, [...(this.#entries.get(length) ?? []), entry]);
    }
  }

  match(path: string): RouteMatch | undefined {
    const segments = path.split("/");
    const entry = this.#entries.get(segments.length)?.find((candidate) => fits(candidate, segments));
    if (entry === undefined) return undefined;
    const { rule, handlers } = entry;
    return {
      rule,
      run: (c) => {
        const { method } = c.req;
        const handle = handlers.get(method === "HEAD" ? "GET" : method);
        if (handle === undefined) throw new TypeError(`the guard has let ${method} through to ${path}`);
        return handle(c, valuesOf(entry, segments));
      },
    };
  }
}

/** For `app.all("*", …)` behind the guard, which has matched the request. */
export const runRoute: Handler<GuardEnv> = (c) => c.get("route").run(c);

function entryOf(routes: readonly Route[]): Entry {
  const [first] = routes;
  const methods = routes.flatMap(({ method, head }) => (head === true ? [method, "HEAD"] : [method]));
  const { path = "", places = {} } = first ?? {};
  const only = <Value>(values: readonly (Value | undefined)[]): Value | undefined =>
    values.find((value) => value !== undefined);
  return {
    segments: path
      .split("/")
      .map((segment) =>
        segment.startsWith(":") ? { name: segment.slice(1), pattern: places[segment.slice(1)] } : segment,
      ),
    handlers: new Map(routes.map(({ method, handle }) => [method, handle])),
    rule: {
      methods,
      auth: routes.every((route) => route.auth),
      linkable: routes.every((route) => route.linkable === true),
      maxJsonBytes: only(routes.map((route) => route.maxJsonBytes)),
      bearerProtocolPrefix: only(routes.map((route) => route.bearerProtocolPrefix)),
    },
  };
}

/** From the end: there the routes differ. */
function fits(entry: Entry, segments: readonly string[]): boolean {
  for (let index = segments.length - 1; index >= 0; index -= 1) {
    const wanted = entry.segments[index]!;
    const given = segments[index]!;
    if (typeof wanted === "string" ? given !== wanted : given === "" || wanted.pattern?.test(given) === false) {
      return false;
    }
  }
  return true;
}

function valuesOf(entry: Entry, segments: readonly string[]): PathValues {
  const values: Record<string, string> = {};
  for (const [index, wanted] of entry.segments.entries()) {
    if (typeof wanted !== "string") values[wanted.name] = decoded(segments[index]!);
  }
  return values;
}

/** An invalid encoding stays as it is: a name that nothing has. */
function decoded(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
