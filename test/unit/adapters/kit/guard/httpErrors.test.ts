/** What an error becomes: a status, a message that hides our own faults, headers, and one log line without the query. */
import { Hono } from "hono";
import { expect, test, vi } from "vitest";
import { errorHandler } from "../../../../../adapters/kit/guard/httpErrors.ts";
import type { GuardEnv } from "../../../../../adapters/kit/guard/requestGuard.ts";
import { errorBody } from "../../../../../adapters/kit/operations/errorBody.ts";
import { silentLog } from "../../../../../bench/silentLog.ts";
import { AppError } from "../../../../../protocol/errors.ts";

interface Expected {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

test.each<[Error, Expected]>([
  [
    new Error("the password is 1234"),
    { status: 500, body: { code: "INTERNAL_ERROR", message: "Internal server error." } },
  ],
  [
    new AppError("INVALID_ARGUMENT", "no such key", { details: { key: "x" } }),
    { status: 400, body: { code: "INVALID_ARGUMENT", message: "no such key", details: { key: "x" } } },
  ],
  [
    new AppError("RESOURCE_LIMIT", "later", { details: { close: false } }),
    {
      status: 429,
      body: { code: "RESOURCE_LIMIT", message: "later", details: { close: false } },
      headers: { "retry-after": "1" },
    },
  ],
  [
    new AppError("BODY_TOO_LARGE", "large", { details: { close: true } }),
    {
      status: 413,
      body: { code: "BODY_TOO_LARGE", message: "large", details: { close: true } },
      headers: { connection: "close" },
    },
  ],
])("%s", async (error, { status, body, headers = {} }) => {
  const [wrong, refused] = [vi.fn<(event: string) => void>(), vi.fn<(event: string) => void>()];
  const app = new Hono<GuardEnv>();
  app.onError(errorHandler({ ...silentLog, error: wrong, debug: refused }, errorBody));
  app.post("/:id", (c) => {
    if (c.req.param("id") === "known") c.set("requestId", "r1");
    throw error;
  });
  for (const id of ["known", "unknown"]) {
    const response = await app.request(`/${id}?token=secret`, { method: "POST" });
    expect([response.status, await response.json()]).toEqual([status, { error: body }]);
    const type = "application/json; charset=utf-8";
    expect(Object.fromEntries(response.headers)).toEqual({ "content-type": type, ...headers });
    const asked = { code: "code" in body ? body.code : "", status, method: "POST", path: `/${id}` };
    const fields = { ...(id === "known" ? { request: "r1" } : {}), ...asked };
    const lines = status === 500 ? wrong : refused;
    expect(lines.mock.calls.splice(0)).toMatchObject([
      [status === 500 ? "http.request.failed" : "http.request.refused", fields],
    ]);
  }
  expect([wrong.mock.calls, refused.mock.calls]).toEqual([[], []]);
});
