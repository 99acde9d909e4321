/**
 * The one function in front of every listener's routes. It checks in a fixed order: peer → its user → Host → Origin →
 * (CORS headers, OPTIONS) → path → method → page of another site → token → content type → body limit → JSON; no route sees
 * a request that failed a check. One function because each further middleware costs a quarter of the throughput, and
 * because an order written down once cannot be got wrong per route.
 */
import type { HttpBindings } from "@hono/node-server";
import type { Context, HonoRequest, MiddlewareHandler } from "hono";
import type { Clock } from "../../daemon/time/clock.ts";
import { AppError } from "../../protocol/errors.ts";
import { isAllowedHost, isLoopbackAddress } from "./addresses.ts";
import { bearerFromProtocols, bearerVerifier } from "./bearer.ts";
import { isJsonContentType, parseJson, readIncoming, readStream } from "./body.ts";
import { markKnown } from "./connections.ts";
import type { PeerUsers } from "./peerUsers.ts";

/** What the guard requires of a request. */
export interface RouteRule {
  /** Methods besides OPTIONS; HEAD counts as itself, not as GET. */
  readonly methods: readonly string[];
  /** It holds no one's data, so a link on another site may lead there. */
  readonly linkable?: boolean | undefined;
  /** Whether the route requires the token, when the listener has one. */
  readonly auth: boolean;
  /** Maximum size of a JSON body; absent for a route that takes none. GET, HEAD and DELETE never do. */
  readonly maxJsonBytes?: number | undefined;
  /** WebSocket routes: the subprotocol prefix behind which a browser, which cannot set headers, sends the token. */
  readonly bearerProtocolPrefix?: string | undefined;
}

/** A path that exists. */
export interface RouteMatch {
  readonly rule: RouteRule;
  /** For a method of the rule. */
  run(c: Context<GuardEnv>): Response | Promise<Response>;
}

export interface GuardEnv {
  /** Present when a socket is behind the request. */
  Bindings: Partial<HttpBindings>;
  Variables: {
    /** The parsed body, on a route that takes one. */
    json: unknown;
    /** Set by the guard. */
    route: RouteMatch;
    /** Absent: this listener gives its requests no ids. */
    requestId?: string;
  };
}

export interface GuardOptions {
  /** `any` for a unix socket, whose directory is its guard. */
  readonly peers: "loopback" | "any";
  /** Which users of this machine may connect; for a listener without a token. */
  readonly users?: Pick<PeerUsers, "require"> | undefined;
  /** Allowed hosts besides the loopback names and addresses. */
  readonly hosts: ReadonlySet<string>;
  /** Compared exactly, as a browser sends them. */
  readonly origins: ReadonlySet<string>;
  /** What a request without an Origin (never a browser's cross-site request) needs. */
  readonly missingOrigin: "refuse" | "token" | "allow";
  readonly token: string | undefined;
  /** Instead of `token`: whether a request is authenticated, for a contract with more than one token or header. */
  readonly proves?: ((request: Pick<HonoRequest, "header">) => boolean) | undefined;
  /** The application checks a token of its own: until then no peer is authenticated. */
  readonly tokenLater?: boolean | undefined;
  readonly route: (path: string) => RouteMatch | undefined;
  /** The contract's shape of a refusal; default a line of plain text. */
  readonly onForbidden?: ((c: Context<GuardEnv>) => Response) | undefined;
  /** The methods in a preflight's response; default `GET,POST,OPTIONS`. */
  readonly corsMethods?: string | undefined;
  /** Bounds how long an oversized body is drained. */
  readonly clock: Clock;
}

/** In lower case, as the add-in's present bridge writes it. */
const PLAIN_TEXT = { "Content-Type": "text/plain; charset=utf-8" } as const;
const ALLOWED_METHODS = "GET,POST,OPTIONS";
/** Methods whose body is never read. */
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE"]);
const PREFLIGHT_MAX_AGE_SEC = "86400";

/** Refuses with `AppError`, which the application's `onError` turns into its contract's body; 403 is plain text. */
export function createGuard(options: GuardOptions): MiddlewareHandler<GuardEnv> {
  const authorized = options.token === undefined ? undefined : bearerVerifier(options.token);
  const { proves, onForbidden: forbidden = plainRefusal } = options;
  const hasProof = (c: Context<GuardEnv>, rule: RouteRule): boolean =>
    proves === undefined ? authorized?.(authorizationOf(c, rule)) !== false : proves(c.req);

  const admitsOrigin = (c: Context<GuardEnv>, origin: string | undefined): boolean => {
    if (origin !== undefined) return options.origins.has(origin);
    switch (options.missingOrigin) {
      case "refuse":
        return false;
      case "token":
        return authorized?.(c.req.header("authorization")) ?? false;
      case "allow":
        return true;
    }
  };

  const provesItself = ({ auth }: RouteRule): boolean =>
    options.tokenLater !== true && (auth || (authorized ?? proves) === undefined);

  return async (c, next) => {
    if (options.peers === "loopback" && !isLoopbackAddress(c.env?.incoming?.socket.remoteAddress)) return forbidden(c);
    const lookingUp = options.users?.require(c.env?.incoming?.socket);
    if (lookingUp !== undefined) await lookingUp;
    if (!isAllowedHost(c.req.header("host"), options.hosts)) return forbidden(c);
    const origin = c.req.header("origin");
    if (!admitsOrigin(c, origin)) return forbidden(c);
    if (origin !== undefined) setCorsHeaders(c, origin, options.corsMethods ?? ALLOWED_METHODS);
    if (c.req.method === "OPTIONS") return c.body(null, 204);

    const route = options.route(c.req.path);
    if (route === undefined) throw new AppError("NOT_FOUND", "Not found.");
    const { rule } = route;
    if (!rule.methods.includes(c.req.method)) throw new AppError("METHOD_NOT_ALLOWED", "Method not allowed.");
    if (origin === undefined && comesFromElsewhere(c, rule)) return forbidden(c);
    if (rule.auth && !hasProof(c, rule)) {
      throw new AppError("UNAUTHORIZED", "Unauthorized.");
    }
    if (provesItself(rule)) markKnown(c.env?.incoming?.socket);
    if (rule.maxJsonBytes !== undefined && !BODILESS.has(c.req.method))
      c.set("json", await readJson(c, rule.maxJsonBytes, options.clock));
    c.set("route", route);
    return next();
  };
}

const plainRefusal = (c: Context<GuardEnv>): Response => c.text("forbidden", 403, PLAIN_TEXT);

/**
 * A browser sends no Origin with the GETs that a page of another site causes (images, frames, links), but names the
 * relation in Sec-Fetch-Site. Another port of this machine is another site as well. A request without that header comes
 * from no browser, or from one too old to send it.
 */
function comesFromElsewhere(c: Context<GuardEnv>, { linkable }: RouteRule): boolean {
  const site = c.req.header("sec-fetch-site");
  if (site === undefined || site === "same-origin" || site === "none") return false;
  const isLink = c.req.header("sec-fetch-mode") === "navigate" && c.req.header("sec-fetch-dest") === "document";
  return !(linkable === true && isLink);
}

function authorizationOf(c: Context<GuardEnv>, rule: RouteRule): string | undefined {
  const header = c.req.header("authorization");
  if (header !== undefined || rule.bearerProtocolPrefix === undefined) return header;
  return bearerFromProtocols(c.req.header("sec-websocket-protocol"), rule.bearerProtocolPrefix);
}

async function readJson(c: Context<GuardEnv>, maxBytes: number, clock: Clock): Promise<unknown> {
  if (!isJsonContentType(c.req.header("content-type"))) {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "Content-Type must be application/json.");
  }
  const incoming = c.env?.incoming;
  const socketBehind = incoming !== undefined && "headers" in incoming;
  return parseJson(await (socketBehind ? readIncoming(incoming, maxBytes, clock) : readStream(c.req.raw, maxBytes)));
}

function setCorsHeaders(c: Context<GuardEnv>, origin: string, methods: string): void {
  setHeader(c, "Access-Control-Allow-Origin", origin);
  setHeader(c, "Vary", "Origin");
  setHeader(c, "Access-Control-Allow-Methods", methods);
  const asked = c.req.header("access-control-request-headers");
  setHeader(c, "Access-Control-Allow-Headers", asked ?? "content-type,authorization");
  setHeader(c, "Access-Control-Max-Age", PREFLIGHT_MAX_AGE_SEC);
  // A page on a public origin needs this to reach this machine, under either name of the draft.
  if (c.req.header("access-control-request-private-network") === "true") {
    setHeader(c, "Access-Control-Allow-Private-Network", "true");
  }
  if (c.req.header("access-control-request-local-network") === "true") {
    setHeader(c, "Access-Control-Allow-Local-Network", "true");
  }
}

/** On Node's response when there is one: Hono's way makes web `Headers`, a twentieth of a short request's cost. */
export function setHeader(c: Context<GuardEnv>, name: string, value: string): void {
  const outgoing = c.env?.outgoing;
  if (outgoing === undefined) c.header(name, value);
  else outgoing.setHeader(name, value);
}
