/**
 * The optional token. Programs send it as a bearer, and so does the page, which is served to everyone and asks for it; or
 * its address brings it once and is answered with a cookie that no script can read and no other site can send.
 */
import type { Context, MiddlewareHandler } from "hono";
import { bearerVerifier } from "../http/bearer.ts";
import type { GuardEnv } from "../http/guard.ts";

const COOKIE = "tmuxwire_dashboard";
/** A month: the token itself is for as long as the user likes. */
const COOKIE_AGE_SEC = 2_592_000;

export function requireToken(token: string): MiddlewareHandler<GuardEnv> {
  const isToken = bearerVerifier(token);
  const admits = (candidate: string | undefined): boolean =>
    candidate !== undefined && isToken(`Bearer ${decoded(candidate)}`);
  return async (c, next) => {
    const given = c.req.path === "/" ? c.req.query("token") : undefined;
    if (given !== undefined && isToken(`Bearer ${given}`)) {
      const value = encodeURIComponent(given);
      const cookie = `${COOKIE}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${COOKIE_AGE_SEC}`;
      return c.body(null, 303, { Location: "/", "Set-Cookie": cookie, "Referrer-Policy": "no-referrer" });
    }
    // The page holds no secret, and a browser that navigates sends no header; it asks for the token itself.
    if (c.req.path === "/" || c.req.path.startsWith("/page/")) return next();
    if (isToken(c.req.header("authorization")) || admits(cookieOf(c))) return next();
    const message =
      "This dashboard wants its token: open it once with ?token=… at its address, or send it as a bearer.";
    return c.json({ status: "error", error_type: "unauthorized", message }, 401);
  };
}

function cookieOf(c: Context<GuardEnv>): string | undefined {
  const cookies = (c.req.header("cookie") ?? "").split(";").map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
