/** An id for each request, in its response and in the log: the caller's own if it has safe characters only. */
import { randomBytes } from "node:crypto";
import type { Context } from "hono";
import { type GuardEnv, setHeader } from "./requestGuard.ts";

const REQUEST_ID_HEADER = "X-Request-Id";
const PLAIN = /^[\w.-]{1,64}$/;

/** Ids unique within this process and, by a random prefix, across processes. */
export function requestIds(): () => string {
  const prefix = randomBytes(4).toString("hex");
  let count = 0;
  return () => `${prefix}-${(count += 1).toString(36)}`;
}

/** For `GuardOptions.nameRequest`. */
export const nameRequests =
  (nextId: () => string) =>
  (c: Context<GuardEnv>): void => {
    const given = c.req.header(REQUEST_ID_HEADER) ?? "";
    const id = PLAIN.test(given) ? given : nextId();
    c.set("requestId", id);
    setHeader(c, REQUEST_ID_HEADER, id);
  };
