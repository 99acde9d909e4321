/**
 * The guard in front of every route of a listener, in a fixed order. `admit`: peer → its user → Host → Origin → CORS
 * headers. `permit`: cross-site page → token → content type → body limit → JSON. Both are composed with the route's handler
 * into the one function that Hono calls, because each middleware costs a quarter of the throughput, and because an order
 * written down once cannot differ between routes. Requests that match no route also pass `admit` before they are refused.
 */
import type { HttpBindings } from "@hono/node-server";
import type { Context, HonoRequest } from "hono";
import type { Clock } from "../../../daemon/time/clock.ts";
import { AppError } from "../../../protocol/errors.ts";
import { isAllowedHost, isLoopbackAddress } from "../peers/addresses.ts";
import { bearerFromProtocols, bearerVerifier } from "./bearer.ts";
import { isJsonContentType, parseJson, readBody, turnFor } from "./body.ts";
import { markKnown } from "../peers/connections.ts";
import type { PeerUsers } from "../peers/peerUsers.ts";

/** What the guard requires of a request to a route. */
export interface RouteRule {
  /** A GET route that also serves HEAD. */
  readonly head?: true | undefined;
  /** The response holds no private data, so a page of another site may link to it. */
  readonly linkable?: boolean | undefined;
  /** Whether the route requires the token, when the listener has one. */
  readonly auth: boolean;
  /** Maximum size of the JSON body; absent for a route that takes none. GET, HEAD and DELETE take none. */
  readonly maxJsonBytes?: number | undefined;
  /** Instead: the maximum size of a body of any type, for a contract that parses by itself. */
  readonly maxRawBytes?: number | undefined;
  /** WebSocket routes: the subprotocol prefix behind which a browser, which cannot set headers, sends the token. */
  readonly bearerProtocolPrefix?: string | undefined;
}

export type RouteHandler = (c: Context<GuardEnv>) => Response | Promise<Response>;

export interface GuardEnv {
  /** Present when the request came over a socket. */
  Bindings: Partial<HttpBindings>;
  Variables: {
    /** The parsed body, on a route that takes one. */
    json: unknown;
    /** The body as it came, on a route with `maxRawBytes`. */
    raw: Uint8Array;
    /** Absent if this listener does not give requests ids. */
    requestId?: string;
  };
}

export interface GuardOptions {
  /** `any` for a unix socket, which its directory's permissions guard. */
  readonly peers: "loopback" | "any";
  /** Which users of this machine may connect; for a listener without a token. */
  readonly users?: Pick<PeerUsers, "require"> | undefined;
  /** Allowed hosts besides the loopback names and addresses. */
  readonly hosts: ReadonlySet<string>;
  /** Compared exactly, as a browser sends them. */
  readonly origins: ReadonlySet<string>;
  /** What to do with a request without an Origin header, which is never a browser's cross-site request. */
  readonly missingOrigin: "refuse" | "token" | "allow";
  readonly token: string | undefined;
  /** Instead of `token`: whether a request is authenticated, for a contract with more than one token or header. */
  readonly proves?: ((request: Pick<HonoRequest, "header">) => boolean) | undefined;
  /** The message for an unauthenticated request; default `Unauthorized.` */
  readonly unauthorized?: string | undefined;
  /** Gives each request an id, including refused ones. */
  readonly nameRequest?: ((c: Context<GuardEnv>) => void) | undefined;
  /** Makes a refusal in the contract's shape, or throws it; default: a line of plain text. */
  readonly onForbidden?: ((c: Context<GuardEnv>, what: Refused) => Response) | undefined;
  /** The methods in a preflight's response; default `GET,POST,OPTIONS`. */
  readonly corsMethods?: string | undefined;
  /** Bounds how long an oversized body is drained. */
  readonly clock: Clock;
}

/** In lower case, as the add-in's original bridge writes it. */
const PLAIN_TEXT = { "Content-Type": "text/plain; charset=utf-8" } as const;
const ALLOWED_METHODS = "GET,POST,OPTIONS";
/** Methods whose body is never read. */
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE"]);
const PREFLIGHT_MAX_AGE_SEC = "86400";

/** What of a request is not allowed. */
export type Refused = "peer" | "host" | "origin";

export interface Guard {
  /** The handler behind all checks, for Hono. */
  permit(rule: RouteRule, handle: RouteHandler): RouteHandler;
  /** For requests that match no route: makes the same checks, then refuses the path or method. */
  refuse(methods: (path: string) => readonly string[]): RouteHandler;
}

/** Refuses with an `AppError`, which the application's `onError` turns into its contract's body; 403 is plain text unless `onForbidden` says otherwise. */
export function createGuard(options: GuardOptions): Guard {
  const authorized = options.token === undefined ? undefined : bearerVerifier(options.token);
  const { proves, nameRequest, onForbidden: forbidden = plainRefusal, unauthorized = "Unauthorized." } = options;
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

  const provesItself = ({ auth }: RouteRule): boolean => auth || (authorized ?? proves) === undefined;

  /** Returns a response if the request is refused. A promise only when a user is looked up, to spare other requests it. */
  const admit = (c: Context<GuardEnv>): Response | undefined | Promise<Response | undefined> => {
    nameRequest?.(c);
    if (options.peers === "loopback" && !isLoopbackAddress(c.env?.incoming?.socket.remoteAddress))
      return forbidden(c, "peer");
    const lookingUp = options.users?.require(c.env?.incoming?.socket);
    return lookingUp === undefined ? admitPage(c) : lookingUp.then(() => admitPage(c));
  };

  const admitPage = (c: Context<GuardEnv>): Response | undefined => {
    if (!isAllowedHost(c.req.header("host"), options.hosts)) return forbidden(c, "host");
    const origin = c.req.header("origin");
    if (!admitsOrigin(c, origin)) return forbidden(c, "origin");
    if (origin !== undefined) setCorsHeaders(c, origin, options.corsMethods ?? ALLOWED_METHODS);
    return undefined;
  };

  return {
    permit: (rule, handle) => async (c) => {
      const admitted = admit(c);
      const refused = admitted instanceof Promise ? await admitted : admitted;
      if (refused !== undefined) return refused;
      // Hono passes HEAD requests to the GET route.
      if (c.req.method === "HEAD" && rule.head !== true) throw methodNotAllowed();
      if (c.req.header("origin") === undefined && comesFromElsewhere(c, rule)) return forbidden(c, "origin");
      if (rule.auth && !hasProof(c, rule)) throw new AppError("UNAUTHORIZED", unauthorized);
      if (provesItself(rule)) markKnown(c.env?.incoming?.socket);
      if (rule.maxJsonBytes !== undefined && !BODILESS.has(c.req.method))
        c.set("json", await readJson(c, rule.maxJsonBytes, options.clock));
      if (rule.maxRawBytes !== undefined) c.set("raw", await readBody(c, rule.maxRawBytes, options.clock));
      return handle(c);
    },
    refuse: (methods) => async (c) => {
      const refused = await admit(c);
      if (refused !== undefined) return refused;
      if (c.req.method === "OPTIONS") return c.body(null, 204);
      if (methods(c.req.path).length > 0) throw methodNotAllowed();
      throw new AppError("NOT_FOUND", "Not found.");
    },
  };
}

const methodNotAllowed = (): AppError => new AppError("METHOD_NOT_ALLOWED", "Method not allowed.");

const plainRefusal = (c: Context<GuardEnv>): Response => c.text("forbidden", 403, PLAIN_TEXT);

/**
 * For GETs caused by a page of another site (images, frames, links), a browser sends no Origin but says so in
 * Sec-Fetch-Site. Another port of this machine counts as another site. A request without that header does not come from a
 * browser, or comes from one too old to send it.
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
  const bytes = await readBody(c, maxBytes, clock);
  const json = parseJson(bytes);
  // What is made of a large one takes as long as its parsing.
  const next = turnFor(bytes.length);
  if (next !== undefined) await next;
  return json;
}

function setCorsHeaders(c: Context<GuardEnv>, origin: string, methods: string): void {
  setHeader(c, "Access-Control-Allow-Origin", origin);
  setHeader(c, "Vary", "Origin");
  setHeader(c, "Access-Control-Allow-Methods", methods);
  const asked = c.req.header("access-control-request-headers");
  setHeader(c, "Access-Control-Allow-Headers", asked ?? "content-type,authorization");
  setHeader(c, "Access-Control-Max-Age", PREFLIGHT_MAX_AGE_SEC);
  // A page on a public origin needs this header to reach this machine, under either name of the draft.
  if (c.req.header("access-control-request-private-network") === "true") {
    setHeader(c, "Access-Control-Allow-Private-Network", "true");
  }
  if (c.req.header("access-control-request-local-network") === "true") {
    setHeader(c, "Access-Control-Allow-Local-Network", "true");
  }
}

/** Sets it on Node's response if there is one: Hono would make web `Headers`, a twentieth of a short request's cost. */
export function setHeader(c: Context<GuardEnv>, name: string, value: string): void {
  const outgoing = c.env?.outgoing;
  if (outgoing === undefined) c.header(name, value);
  else outgoing.setHeader(name, value);
}
