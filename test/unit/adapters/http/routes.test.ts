/** Routes are matched once: by the first path that fits, with what stands in its places; nothing declares them elsewhere. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { createGuard, type GuardEnv } from "../../../../adapters/http/requestGuard.ts";
import { type Route, Routes, runRoute } from "../../../../adapters/http/routes.ts";
import { visibleError } from "../../../../adapters/http/httpErrors.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

const handle: Route["handle"] = (c, values) => c.json({ method: c.req.method, values });
const routes: readonly Route[] = [
  { method: "GET", path: "/", auth: false, head: true, linkable: true, handle },
  { method: "GET", path: "/things/status", auth: false, handle },
  { method: "POST", path: "/things/:thing", auth: true, maxJsonBytes: 10, handle },
  { method: "DELETE", path: "/things/:thing", auth: false, handle },
  { method: "GET", path: "/agents/:id/turns/:turn", auth: true, places: { id: /^\d{1,3}$/ }, handle },
];

test("the guard's rule is that of all routes of a path, the strictest", () => {
  const table = new Routes(routes);
  expect(table.match("/")?.rule).toMatchObject({ methods: ["GET", "HEAD"], auth: false, linkable: true });
  expect(table.match("/things/status")?.rule.methods).toEqual(["GET"]);
  expect(table.match("/things/5")?.rule).toMatchObject({
    methods: ["POST", "DELETE"],
    auth: false,
    linkable: false,
    maxJsonBytes: 10,
  });
  for (const path of ["", "/things", "/things/", "/things/a/b", "//", "/agents/x/turns/1", "/agents/1234/turns/1"]) {
    expect([path, table.match(path)]).toEqual([path, undefined]);
  }
});

test("a request runs its route with the decoded values of the path", async () => {
  const app = new Hono<GuardEnv>();
  app.onError((error, c) => c.text(error.message, visibleError(error).status));
  let matched = 0;
  const table = new Routes(routes);
  app.use(
    createGuard({
      peers: "any",
      hosts: new Set(),
      origins: new Set(),
      missingOrigin: "allow",
      token: undefined,
      route: (path) => {
        matched += 1;
        return table.match(path);
      },
      clock: new FakeClock(),
    }),
  );
  app.all("*", runRoute);
  const ask = (method: string, path: string) =>
    app.request(`http://localhost${path}`, { method, headers: { host: "localhost" } });
  const response = await ask("GET", "/agents/7/turns/a%2Fb%2520%25");
  expect(await response.json()).toEqual({ method: "GET", values: { id: "7", turn: "a/b%20%" } });
  expect(await (await ask("DELETE", "/things/%E0%A4")).json()).toMatchObject({ method: "DELETE" });
  expect([(await ask("HEAD", "/")).status, await (await ask("HEAD", "/")).text()]).toEqual([200, ""]);
  matched = 0;
  const statuses = await Promise.all(
    [
      ["POST", "/"],
      ["HEAD", "/things/status"],
      ["GET", "/nowhere"],
      ["GET", "/agents/7/turns/1"],
    ].map(async ([method = "", path = ""]) => (await ask(method, path)).status),
  );
  expect(statuses).toEqual([405, 405, 404, 200]);
  expect(matched).toBe(4);
});

test("no listener has routes of its own beside its table", () => {
  const root = resolve(import.meta.dirname, "../../../../adapters");
  const own = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .filter((name) =>
      /\bapp\s*\.(?:get|post|put|patch|delete|on|route)\(/.test(readFileSync(join(root, name), "utf8")),
    );
  expect(own).toEqual([]);
});
