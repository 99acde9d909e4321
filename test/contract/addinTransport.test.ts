/** docs/contracts/addin.md §1: every row of the table of transport, in the order in which the checks run. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StubServer } from "../../daemon/servers/stub/stubServer.ts";
import type { ServerStatus } from "../../daemon/tmux/inventory.ts";
import { AppError } from "../../protocol/errors.ts";
import type { AddinClient, Call, HeaderOverrides } from "../support/daemon/addinClient.ts";
import { ADDIN_ORIGIN, inProcess } from "../support/daemon/addinClient.ts";
import { addinApp, stubBackend } from "../support/daemon/backends.ts";
import type { RunningBackend } from "../support/daemon/backends.ts";

let backend: RunningBackend;
let open: AddinClient;
let closed: AddinClient;
const TOKEN = "s3cret";
const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };

beforeAll(async () => {
  backend = await stubBackend.start();
  open = inProcess(addinApp(backend.server));
  closed = inProcess(addinApp(backend.server, { token: TOKEN }));
});

afterAll(() => backend.close());

const LIST = '{"action":"list_sessions"}';
const failure = (error: string): object => ({ ok: false, error });

describe("peer", () => {
  test.each(["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"])("%s is allowed", async (peer) => {
    expect((await open.send({ method: "GET", path: "/health", peer })).status).toBe(200);
  });
  test.each([
    "192.168.1.4",
    "::ffff:192.168.1.4",
    "fe80::1",
    "::2",
    "128.0.0.1",
    "1127.0.0.1",
    "127.evil.example",
    "",
    undefined,
  ])("%s → 403 forbidden", async (peer) => {
    const refused = await open.send({ method: "GET", path: "/health", peer });
    expect(refused).toMatchObject({ status: 403, text: "forbidden" });
    expect(refused.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(refused.headers).not.toHaveProperty("access-control-allow-origin");
  });
});

describe("Host", () => {
  test.each(["localhost:3341", "127.1.2.3:3341", "[::1]:3341", "[::1]", "LocalHost"])("%s is allowed", async (host) => {
    expect((await open.health({ host })).status).toBe(200);
  });
  test.each([
    "evil.example:3341",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "127.evil.127.0.0.1",
    "localhost:3341@evil.example",
    "evil.example@localhost",
    "localhost:port",
    "localhost, evil.example",
    "[::1",
    "::1",
    "[evil.example]",
    "",
    undefined,
  ])("%s → 403 forbidden", async (host) => {
    expect(await open.health({ host })).toMatchObject({ status: 403, text: "forbidden" });
  });
  test("the configured host is allowed", async () => {
    const named = inProcess(addinApp(backend.server, { host: "Box.Test" }));
    expect((await named.health({ host: "box.test:3341" })).status).toBe(200);
  });
});

describe("Origin", () => {
  test.each(["https://localhost:3141", "https://localhost:3000", "https://pi-for-excel.vercel.app"])(
    "%s is allowed",
    async (origin) => {
      expect((await open.health({ origin })).headers["access-control-allow-origin"]).toBe(origin);
    },
  );
  test.each([
    ["missing", undefined],
    ["null", "null"],
    ["of another case", "https://LOCALHOST:3000"],
    ["with a trailing slash", "https://localhost:3000/"],
    ["of another port", "https://localhost:3001"],
    ["of another scheme", "http://localhost:3000"],
    ["of another site", "https://evil.example"],
  ])("%s → 403 forbidden without CORS headers", async (_name, origin) => {
    const refused = await open.health({ origin });
    expect(refused).toMatchObject({ status: 403, text: "forbidden" });
    expect(Object.keys(refused.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
  test("ALLOWED_ORIGINS replaces the defaults", async () => {
    const other = inProcess(addinApp(backend.server, { allowedOrigins: ["https://mine.test"] }));
    expect((await other.health({ origin: "https://mine.test" })).status).toBe(200);
    expect((await other.health({ origin: ADDIN_ORIGIN })).status).toBe(403);
  });
  const missing: [string, { token?: string; allowNoOrigin?: boolean }, HeaderOverrides, number][] = [
    ["token and permission", { token: TOKEN, allowNoOrigin: true }, AUTHORIZED, 200],
    ["a wrong token", { token: TOKEN, allowNoOrigin: true }, { authorization: "Bearer no" }, 403],
    ["no token sent", { token: TOKEN, allowNoOrigin: true }, {}, 403],
    ["a token but no permission", { token: TOKEN }, AUTHORIZED, 403],
    ["permission but no token configured", { allowNoOrigin: true }, AUTHORIZED, 403],
  ];
  test.each(missing)("missing, with %s", async (_name, config, headers, status) => {
    const client = inProcess(addinApp(backend.server, config));
    const answered = await client.send({ method: "GET", path: "/health", headers: { ...headers, origin: undefined } });
    expect(answered.status).toBe(status);
    expect(answered.headers).not.toHaveProperty("access-control-allow-origin");
  });
});

describe("CORS", () => {
  const expected = {
    "access-control-allow-origin": ADDIN_ORIGIN,
    vary: "Origin",
    "access-control-allow-methods": "GET,POST,OPTIONS",
    "access-control-allow-headers": "content-type,authorization",
    "access-control-max-age": "86400",
  };
  const calls: [string, Call][] = [
    ["a preflight", { method: "OPTIONS" }],
    ["an answer", { method: "GET", path: "/health" }],
    ["a 404", { method: "GET", path: "/nowhere" }],
    ["a 400", { body: "{" }],
  ];
  test.each(calls)("the headers are on %s, without credentials", async (_name, call) => {
    const { headers } = await open.send(call);
    expect(headers).toMatchObject(expected);
    expect(Object.keys(headers).filter((name) => /credentials|-network$/.test(name))).toEqual([]);
  });
  test("the requested headers are echoed", async () => {
    const { headers } = await open.send({
      method: "OPTIONS",
      headers: { "access-control-request-headers": "content-type,x-own" },
    });
    expect(headers["access-control-allow-headers"]).toBe("content-type,x-own");
  });
  test.each(["private", "local"])("a %s-network-access preflight is answered in kind", async (kind) => {
    const { headers } = await open.send({
      method: "OPTIONS",
      headers: { [`access-control-request-${kind}-network`]: "true" },
    });
    expect(headers[`access-control-allow-${kind}-network`]).toBe("true");
  });
  test.each(["/health", "/v1/tmux", "/nowhere"])("OPTIONS %s → 204, empty", async (path) => {
    expect(await closed.send({ method: "OPTIONS", path })).toMatchObject({ status: 204, text: "" });
  });
});

describe("paths and methods", () => {
  const rows: [string, string, number, object | undefined][] = [
    ["GET", "/health?x=1", 200, undefined],
    ["HEAD", "/health", 405, undefined],
    ["POST", "/health", 405, failure("Method not allowed.")],
    ["GET", "/health/", 404, failure("Not found.")],
    ["GET", "/v1/tmux", 405, failure("Method not allowed.")],
    ["PUT", "/v1/tmux", 405, failure("Method not allowed.")],
    ["DELETE", "/v1/tmux", 405, failure("Method not allowed.")],
    ["POST", "/v1/tmux/", 404, failure("Not found.")],
    ["GET", "/", 404, failure("Not found.")],
    ["POST", "/V1/tmux", 404, failure("Not found.")],
  ];
  test.each(rows)("%s %s → %i", async (method, path, status, body) => {
    const answered = await closed.send({ method, path });
    expect(answered.status).toBe(status);
    if (body !== undefined) expect(answered.json).toEqual(body);
  });
});

describe("auth", () => {
  test.each([
    undefined,
    "",
    "Bearer",
    "Bearer ",
    "Bearer wrong",
    "Bearer s3cre",
    "Bearer s3cret2",
    "bearer s3cret",
    "s3cret",
  ])("%s → 401, before the body is read", async (authorization) => {
    const refused = await closed.send({ body: "not json", headers: { authorization, "content-type": "text/plain" } });
    expect(refused).toMatchObject({ status: 401, json: failure("Unauthorized.") });
  });
  test("the token is accepted, with or without spaces around it", async () => {
    expect((await closed.tmux({ action: "list_sessions" }, AUTHORIZED)).status).toBe(200);
    expect((await closed.tmux({ action: "list_sessions" }, { authorization: `Bearer  ${TOKEN} ` })).status).toBe(200);
  });
  test("health needs no token", async () => {
    expect((await closed.health()).status).toBe(200);
  });
});

describe("content type", () => {
  const rows: [string, Call][] = [
    ["health", { method: "GET", path: "/health" }],
    ["an answer", { body: LIST, headers: { "content-type": "application/json" } }],
    ["a 400", { body: "{" }],
    ["a 404", { method: "GET", path: "/nowhere" }],
  ];
  test.each(rows)("%s has the original bridge's message", async (_name, call) => {
    expect((await open.send(call)).headers["content-type"]).toBe("application/json; charset=utf-8");
  });
});

describe("body", () => {
  const rows: [string, Call["body"], number, string][] = [
    ["absent", undefined, 400, "Missing JSON request body."],
    ["blank", "  \n", 400, "Missing JSON request body."],
    ["not JSON", "{not", 400, "Invalid JSON body."],
    ["an array", "[]", 400, "Request body must be a JSON object."],
    ["null", "null", 400, "Request body must be a JSON object."],
    ["a string", '"list_sessions"', 400, "Request body must be a JSON object."],
    ["one byte too large", `"${"x".repeat(262_143)}"`, 413, "Request body too large (max 262144 bytes)."],
  ];
  test.each(rows)("%s", async (_name, body, status, error) => {
    expect(await open.send({ body, headers: { "content-type": "application/json" } })).toMatchObject({
      status,
      json: failure(error),
    });
  });
  test("the largest body is read", async () => {
    const body = `${LIST.slice(0, -1)},"pad":"${"x".repeat(262_144 - LIST.length - 9)}"}`;
    expect(body.length).toBe(262_144);
    expect((await open.send({ body, headers: { "content-type": "application/json" } })).status).toBe(200);
  });
  test.each(["application/json", "Application/JSON ; charset=utf-8", "application/problem+json", "", undefined])(
    "as %s it is read",
    async (type) => {
      const body = new TextEncoder().encode(LIST);
      expect((await open.send({ body, headers: { "content-type": type } })).status).toBe(200);
    },
  );
  test.each([
    "text/plain",
    "text/plain;application/json",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "application/problem+jsonp",
    "x-application/problem+json",
  ])("as %s → 415", async (type) => {
    const refused = await open.send({ body: LIST, headers: { "content-type": type } });
    expect(refused).toMatchObject({ status: 415, json: failure("Content-Type must be application/json.") });
  });
});

describe("errors", () => {
  test("an unexpected one → 500 that hides what it says", async () => {
    const broken = new StubServer({ nowUnixMs: () => 0, onListenerError: () => undefined });
    broken.sessions = () => {
      throw new TypeError("secret path");
    };
    const answered = await inProcess(addinApp(broken)).tmux({ action: "list_sessions" });
    expect(answered).toMatchObject({ status: 500, json: failure("Internal server error.") });
    expect(answered.text).not.toContain("secret");
  });
  test.each([
    ["CONNECTION_LOST", 503],
    ["TMUX_COMMAND_FAILED", 502],
    ["RESOURCE_LIMIT", 429],
  ] as const)("%s → %i with its message", async (code, status) => {
    const broken = new StubServer({ nowUnixMs: () => 0, onListenerError: () => undefined });
    broken.createSession = () => Promise.reject(new AppError(code, "what to do"));
    const answered = await inProcess(addinApp(broken)).tmux({ action: "create_session" });
    expect(answered).toMatchObject({ status, json: failure("what to do") });
    expect(answered.headers["retry-after"]).toBe(status === 429 ? "1" : undefined);
  });
});

describe("health", () => {
  test("stub", async () => {
    expect((await open.health()).json).toEqual({ ok: true, mode: "stub", backend: "stub", sessions: 0 });
  });
  const tmux = (state: ServerStatus["state"]): AddinClient => {
    const server = new StubServer({ nowUnixMs: () => 0, onListenerError: () => undefined });
    server.status = () => ({
      kind: "owned",
      state,
      tmuxVersion: "tmux 3.3a",
      socketPath: "/run/t.sock",
      epoch: "e",
      identity: "1.2",
    });
    return inProcess(addinApp(server));
  };
  test("tmux, ready", async () => {
    expect((await tmux("ready").health()).json).toEqual({
      ok: true,
      mode: "tmux",
      backend: "tmux",
      tmuxVersion: "tmux 3.3a",
      socketPath: "/run/t.sock",
      sessions: 0,
    });
  });
  test.each(["connecting", "degraded", "closed"] as const)("tmux, %s → 503 that says so", async (state) => {
    const { status, headers, json } = await tmux(state).health();
    expect([status, headers["access-control-allow-origin"]]).toEqual([503, ADDIN_ORIGIN]);
    const { error, ...rest } = json;
    expect(error).toMatch(/tmux/);
    expect(rest).toEqual({ ok: false, mode: "tmux", backend: "tmux", state });
  });
});
