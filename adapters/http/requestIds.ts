/** A name for each request, in its response and in the log: the caller's own when it gives a plain one. */
import { randomBytes } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { type GuardEnv, setHeader } from "./requestGuard.ts";

const REQUEST_ID_HEADER = "X-Request-Id";
const PLAIN = /^[\w.-]{1,64}$/;

/** Unique in this process and, as far as chance goes, among all. */
export function requestIds(): () => string {
  const prefix = randomBytes(4).toString("hex");
  let count = 0;
  return () => `${prefix}-${(count += 1).toString(36)}`;
}

/** Before the guard: what is refused has a name as well. */
export const nameRequests =
  (nextId: () => string): MiddlewareHandler<GuardEnv> =>
  (c, next) => {
    const given = c.req.header(REQUEST_ID_HEADER) ?? "";
    const id = PLAIN.test(given) ? given : nextId();
    c.set("requestId", id);
    setHeader(c, REQUEST_ID_HEADER, id);
    return next();
  };
