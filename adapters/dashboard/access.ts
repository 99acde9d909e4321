/**
 * The optional token. Programs send it as a bearer. The page, which is served to everyone because it holds no secret, asks
 * for it and exchanges it for a cookie that no script can read and no other site can send. It is never part of a URL: those
 * stay in histories and logs.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { bearerVerifier } from "../http/bearer.ts";
import { markKnown } from "../http/connections.ts";
import type { GuardEnv } from "../http/requestGuard.ts";

export const TOKEN_PATH = "/api/token";

const COOKIE = "tmuxwire_dashboard";
/** A month; the token itself lasts as long as the user likes. */
const COOKIE_AGE_SEC = 2_592_000;

/** Serves `TOKEN_PATH` as well: the route behind it is for a dashboard without a token. */
export function requireToken(token: string): MiddlewareHandler<GuardEnv> {
  const isToken = bearerVerifier(token);
  // Cookies are sent to every port of this machine, so this one does not hold the token itself.
  const pass = createHmac("sha256", token).update(COOKIE).digest("base64url");
  return async (c, next) => {
    const isBearer = isToken(c.req.header("authorization"));
    if (c.req.path === TOKEN_PATH) {
      if (!isBearer) return unauthorized(c, "That is not this dashboard's token.");
      c.header("Set-Cookie", `${COOKIE}=${pass}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${COOKIE_AGE_SEC}`);
      return c.body(null, 204);
    }
    const isPage = c.req.path === "/" || c.req.path.startsWith("/page/");
    const isKnown = isBearer || cookiesOf(c).some((cookie) => isSame(cookie, pass));
    if (isKnown) markKnown(c.env?.incoming?.socket);
    if (isKnown || isPage) return next();
    return unauthorized(c, "This dashboard wants its token: its page asks for it, and scripts send it as a bearer.");
  };
}

const unauthorized = (c: Context<GuardEnv>, message: string): Response =>
  c.json({ status: "error", error_type: "unauthorized", message }, 401);

/** All of our name: a page on another port may have set one too. */
const cookiesOf = (c: Context<GuardEnv>): readonly string[] =>
  (c.req.header("cookie") ?? "")
    .split(";")
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie.startsWith(`${COOKIE}=`))
    .map((cookie) => cookie.slice(COOKIE.length + 1));

/** Constant-time; the length is no secret. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
