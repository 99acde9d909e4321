/** Every route is registered in one place, behind the guard, and what no route takes is refused as a route would refuse it. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { assert as holds, asyncProperty, constantFrom, array, string, oneof, record } from "fast-check";
import { Hono } from "hono";
import * as v from "valibot";
import { expect, test } from "vitest";
import { createGuard, type GuardEnv, type GuardOptions } from "../../../../../adapters/kit/guard/requestGuard.ts";
import { methodsOf, type Route, serveRoutes } from "../../../../../adapters/kit/guard/routes.ts";
import { ENDPOINTS } from "../../../../../adapters/native/endpoints.ts";
import { errorHandler, visibleError } from "../../../../../adapters/kit/guard/httpErrors.ts";
import type { Log } from "../../../../../daemon/ops/log.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";
import { takeDifferences } from "../../../../support/daemon/routeChecks.ts";

const handle: Route["handle"] = (c) => c.json({ path: c.req.routePath, params: c.req.param() });
const SAYS = { response: { 200: v.unknown() }, errors: [] } as const;
const ROUTES: readonly Route[] = [
  { method: "GET", path: "/", auth: false, head: true, linkable: true, handle, ...SAYS },
  { method: "GET", path: "/things/status", auth: false, handle, ...SAYS },
  { method: "POST", path: "/things/:thing", auth: true, maxJsonBytes: 10, handle, ...SAYS },
  { method: "DELETE", path: "/things/:thing", auth: false, handle, ...SAYS },
  { method: "GET", path: "/agents/:id{[0-9]+}/turns/:turn", auth: true, handle, ...SAYS },
];

function appOf(routes: readonly Route[], options: Partial<GuardOptions> = {}) {
  const app = new Hono<GuardEnv>();
  app.onError((error, c) => c.text(error.message, visibleError(error).status));
  const guard = createGuard({
    peers: "any",
    hosts: new Set(),
    origins: new Set(),
    missingOrigin: "allow",
    token: undefined,
    clock: new FakeClock(),
    ...options,
  });
  serveRoutes(app, guard, routes);
  return {
    router: app.router,
    ask: async (method: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
      app.request(`http://localhost${path}`, { method, headers: { host: "localhost", ...headers } }),
  };
}

test("a request runs its route with the decoded parameters of its path", async () => {
  const { ask } = appOf(ROUTES);
  expect(await (await ask("GET", "/agents/7/turns/a%2Fb%2520%25")).json()).toMatchObject({
    params: { id: "7", turn: "a/b%20%" },
  });
  expect(await (await ask("DELETE", "/things/%E0%A4")).json()).toMatchObject({ path: "/things/:thing" });
  const head = await ask("HEAD", "/");
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

test("a path without a route is not found, a method without one is not allowed", async () => {
  const { ask, router } = appOf(ROUTES);
  const refused = [
    ["POST", "/", 405],
    ["HEAD", "/things/status", 405],
    ["PUT", "/things/5", 405],
    ["GET", "/nowhere", 404],
    ["GET", "/things/", 404],
    ["GET", "/things/a/b", 404],
    ["GET", "/agents/x/turns/1", 404],
    ["OPTIONS", "/nowhere", 204],
  ] as const;
  for (const [method, path, status] of refused) {
    expect([method, path, (await ask(method, path)).status]).toEqual([method, path, status]);
  }
  expect([methodsOf({ router }, "/"), methodsOf({ router }, "/things/5")]).toEqual([
    ["GET", "HEAD"],
    ["POST", "DELETE"],
  ]);
});

test("what no route takes is admitted like any other request before it is refused", async () => {
  const { ask } = appOf(ROUTES, { peers: "loopback" });
  for (const method of ["GET", "OPTIONS", "BREW"]) {
    for (const path of ["/", "/nowhere", "/things/5"]) expect((await ask(method, path)).status).toBe(403);
  }
});

test("a refusal is logged for debugging, a bug for whoever runs the daemon; each with its request's id if it has one", async () => {
  const lines: unknown[] = [];
  const log = Object.fromEntries(
    ["debug", "error"].map((level) => [
      level,
      (event: string, fields: object) => lines.push({ level, event, ...fields }),
    ]),
  ) as unknown as Log;
  const app = new Hono<GuardEnv>();
  app.onError(errorHandler(log, () => ({})));
  const bug = new Error("bug");
  app.get("/bug", () => {
    throw bug;
  });
  app.get("/refused", (c) => {
    c.set("requestId", "r-1");
    throw new AppError("NOT_FOUND", "gone");
  });
  for (const path of ["/bug?query", "/refused"]) await app.request(path);
  const asked = { method: "GET", path: "/bug", code: "INTERNAL_ERROR", status: 500 };
  expect(lines).toEqual([
    {
      level: "error",
      event: "http.request.failed",
      ...asked,
      error: expect.objectContaining({ cause: bug }) as unknown,
    },
    {
      ...asked,
      level: "debug",
      event: "http.request.refused",
      request: "r-1",
      path: "/refused",
      code: "NOT_FOUND",
      status: 404,
    },
  ]);
});

/** A second matcher, by segments: what routes of the native API mean. */
function byHand(method: string, path: string): string | undefined {
  const segments = path.split("/");
  const fits = (wanted: string): boolean => {
    const parts = wanted.split("/");
    return (
      parts.length === segments.length &&
      parts.every((part, at) => (part.startsWith(":") ? segments[at] !== "" : part === segments[at]))
    );
  };
  return ENDPOINTS.find((endpoint) => endpoint.method === method && fits(endpoint.path))?.path;
}

test("every path finds the route that a comparison by segments finds", async () => {
  const { ask } = appOf(ENDPOINTS.map(({ method, path }): Route => ({ method, path, auth: false, handle, ...SAYS })));
  const known = ENDPOINTS.map(({ path }) => path);
  const words = [...new Set(known.flatMap((path) => path.split("/")))].filter((word) => !word.startsWith(":"));
  const segment = oneof(constantFrom(...words, "", "%5", "a b", "{x}", "*", ":pane"), string({ maxLength: 5 }));
  const path = oneof(
    array(segment, { maxLength: 8 }).map((parts) => parts.map(encodeURIComponent).join("/")),
    record({ path: constantFrom(...known), word: segment }).map((made) =>
      made.path.replaceAll(/:\w+/g, encodeURIComponent(made.word)).slice(1),
    ),
  ).filter((text) => !text.split("/").some((part) => part === "." || part === ".."));
  await holds(
    asyncProperty(constantFrom("GET", "POST", "DELETE"), path, async (method, asked) => {
      const response = await ask(method, `/${asked}`);
      const expected = byHand(method, `/${asked}`);
      if (expected === undefined) expect([404, 405]).toContain(response.status);
      else expect(await response.json()).toMatchObject({ path: expected });
    }),
    { numRuns: 500 },
  );
});

test("no listener registers a route but through its guard", () => {
  const root = resolve(import.meta.dirname, "../../../../../adapters");
  const own = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .filter((name) =>
      /\bapp\s*\.(?:get|post|put|patch|delete|all|use|on|route|mount)\(/.test(readFileSync(join(root, name), "utf8")),
    );
  expect(own).toEqual([join("kit", "guard", "routes.ts")]);
});

test("what a route sends or throws beyond its row is found by every test", async () => {
  const row = { method: "GET", auth: false, response: { 200: v.strictObject({ ok: v.boolean() }) } } as const;
  const { ask } = appOf([
    { ...row, path: "/right", errors: ["NOT_FOUND"], handle: (c) => c.json({ ok: true, left: undefined }) },
    { ...row, path: "/wrong", errors: [], handle: (c) => c.json({ ok: 1 }) },
    { ...row, path: "/more", errors: [], handle: (c) => c.json({ ok: true, more: 1 }) },
    { ...row, path: "/status", errors: [], handle: (c) => c.json({ ok: true }, 202) },
    { ...row, path: "/text", errors: [], handle: (c) => c.text("ok") },
    {
      ...row,
      path: "/throws",
      errors: ["INVALID_ARGUMENT"],
      handle: () => {
        throw new AppError("NOT_FOUND", "gone");
      },
    },
  ]);
  await ask("GET", "/right");
  expect(takeDifferences()).toEqual([]);
  for (const path of ["/wrong", "/more", "/status", "/text", "/throws"]) await ask("GET", path);
  expect(takeDifferences()).toEqual([
    "GET /wrong: ok: Invalid type: Expected boolean but received 1",
    'GET /more: more: Invalid key: Expected never but received "more"',
    "GET /status: no response 202",
    "GET /text: no response 200 of text/plain",
    "GET /throws: no error NOT_FOUND: gone",
  ]);
});
