/**
 * The optional token. Programs send it as a bearer. The page, which is served to everyone because it holds no secret, asks
 * for it and exchanges it for a cookie that no script can read and no other site can send. It is never part of a URL: those
 * stay in histories and logs.
 */
import { createHmac } from "node:crypto";
import type { HonoRequest } from "hono";
import { AppError } from "../../protocol/errors.ts";
import { bearerVerifier, secretVerifier } from "../kit/guard/bearer.ts";
import type { Route } from "../kit/guard/routes.ts";

const COOKIE = "tmuxwire_dashboard";
/** A month; the token itself lasts as long as the user likes. */
const COOKIE_AGE_SEC = 2_592_000;

export const NO_TOKEN = "This dashboard wants its token: its page asks for it, and scripts send it as a bearer.";

type Headers = Pick<HonoRequest, "header">;

/**
 * Whether a request is authenticated, and the route of the page that exchanges the token for the cookie.
 * @param token undefined: everyone whom the guard admits has full access
 */
export function tokenAccess(token: string | undefined) {
  const row = {
    method: "POST",
    path: "/api/token",
    auth: false,
    response: { 204: "none" },
    errors: ["UNAUTHORIZED"],
  } as const;
  // Without a token no cookie is needed.
  if (token === undefined)
    return { proves: undefined, route: { ...row, handle: (c) => c.body(null, 204) } satisfies Route };
  const isToken = bearerVerifier(token);
  // Cookies are sent to every port of this machine, so this one does not hold the token itself.
  const pass = createHmac("sha256", token).update(COOKIE).digest("base64url");
  const isPass = secretVerifier(pass);
  const isBearer = (request: Headers): boolean => isToken(request.header("authorization"));
  const route: Route = {
    ...row,
    handle: (c) => {
      if (!isBearer(c.req)) throw new AppError("UNAUTHORIZED", "That is not this dashboard's token.");
      // The page came over TLS: a proxy is in front.
      const secure = c.req.header("origin")?.startsWith("https:") === true ? "; Secure" : "";
      c.header(
        "Set-Cookie",
        `${COOKIE}=${pass}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${COOKIE_AGE_SEC}${secure}`,
      );
      return c.body(null, 204);
    },
  };
  const proves = (request: Headers): boolean => isBearer(request) || cookiesOf(request).some(isPass);
  return { proves, route };
}

/** All of our name: a page on another port may have set one too. */
const cookiesOf = (request: Headers): readonly string[] =>
  (request.header("cookie") ?? "")
    .split(";")
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie.startsWith(`${COOKIE}=`))
    .map((cookie) => cookie.slice(COOKIE.length + 1));
