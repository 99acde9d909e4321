/**
 * Who is let in: every combination of Host, Origin, token and content type, for plain requests, preflights, event streams
 * and upgrades, against the rules of docs/contracts/native.md ("Who is let in") written down a second time.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nativeFixture, type NativeFixture, stubServer } from "../support/daemon/nativeServer.ts";
import { sendRaw, UPGRADE_HEADERS } from "../support/daemon/nativeRaw.ts";

const TOKEN = "0123456789abcdef";
const ORIGIN = "https://app.example";

const HOSTS = [
  { host: "127.0.0.1", ok: true },
  { host: "localhost:7420", ok: true },
  { host: "[::1]:7420", ok: true },
  { host: "daemon.example", ok: true },
  { host: "evil.example", ok: false },
  { host: "127.0.0.1.evil.example", ok: false },
  // No host at all: refused before anything of ours is asked.
  { host: "localhost@evil.example", ok: false, refusal: 400 },
];
const ORIGINS = [
  { origin: undefined, ok: true },
  { origin: ORIGIN, ok: true },
  { origin: "null", ok: false },
  { origin: `${ORIGIN}/`, ok: false },
  { origin: "https://APP.example", ok: false },
  { origin: "https://evil.example", ok: false },
];
const TOKENS = [
  { authorization: `Bearer ${TOKEN}`, ok: true },
  { authorization: undefined, ok: false },
  { authorization: `Bearer ${TOKEN}0`, ok: false },
  { authorization: `Bearer ${TOKEN.slice(1)}`, ok: false },
  { authorization: `bearer ${TOKEN}`, ok: false },
  { authorization: TOKEN, ok: false },
];
const PROTOCOLS = [
  { protocol: `tmuxwire.v1, tmuxwire.bearer.${TOKEN}`, ok: true },
  { protocol: `tmuxwire.bearer.${TOKEN},tmuxwire.v1`, ok: true },
  { protocol: "tmuxwire.v1", ok: false },
  { protocol: `tmuxwire.v1, tmuxwire.bearer.${TOKEN}0`, ok: false },
  { protocol: `tmuxwire.v1, ${TOKEN}`, ok: false },
];
const TYPES = [
  { type: "application/json", ok: true },
  { type: "application/json; charset=utf-8", ok: true },
  { type: "text/plain", ok: false },
  { type: "application/x-www-form-urlencoded", ok: false },
  { type: "multipart/form-data; boundary=x", ok: false },
];

/** The order of the refusals. */
interface Rule {
  readonly host: { readonly ok: boolean; readonly refusal?: number };
  readonly originOk: boolean;
  readonly tokenOk: boolean;
  readonly typeOk?: boolean;
  readonly done: number;
}

function expected(rule: Rule): number {
  if (!rule.host.ok) return rule.host.refusal ?? 403;
  if (!rule.originOk) return 403;
  if (!rule.tokenOk) return 401;
  return rule.typeOk === false ? 415 : rule.done;
}

let api: NativeFixture;

beforeAll(async () => {
  const server = stubServer();
  await server.createSession({ name: "work" });
  api = await nativeFixture(server, {
    token: TOKEN,
    origins: new Set([ORIGIN]),
    hosts: new Set(["daemon.example"]),
  });
});
afterAll(() => api[Symbol.asyncDispose]());

interface Case {
  readonly name: string;
  readonly status: number;
  readonly wanted: number;
}

const wrong = (cases: readonly Case[]): readonly Case[] => cases.filter((each) => each.status !== each.wanted);

describe("every Host, Origin and token", () => {
  test.each([
    ["GET", "/v1/servers", 200, true],
    ["GET", "/v1/servers/main/panes/work/stream?from=now", 200, true],
    ["GET", "/v1/servers/main/panes/none/stream", 404, true],
    ["DELETE", "/v1/servers/main/sessions/none", 404, true],
    ["GET", "/metrics", 200, true],
    ["GET", "/livez", 200, false],
    ["GET", "/v1/openapi.json", 200, false],
  ])("%s %s", async (method, path, done, auth) => {
    const cases: Case[] = [];
    for (const named of HOSTS) {
      for (const { origin, ok: originOk } of ORIGINS) {
        for (const { authorization, ok } of TOKENS) {
          const { status } = await sendRaw(api.port, {
            method,
            path,
            headers: { host: named.host, origin, authorization },
          });
          const wanted = expected({ host: named, originOk, tokenOk: ok || !auth, done });
          cases.push({ name: `${named.host} ${origin} ${authorization}`, status, wanted });
        }
      }
    }
    expect(cases).toHaveLength(HOSTS.length * ORIGINS.length * TOKENS.length);
    expect(wrong(cases)).toEqual([]);
  });

  test("POST, with every content type", async () => {
    const body = JSON.stringify({ parts: [{ kind: "text", text: "x" }] });
    const before = api.servers.get("main")!.counters().outputBytes;
    const cases: Case[] = [];
    for (const named of HOSTS) {
      for (const { origin, ok: originOk } of ORIGINS) {
        for (const { authorization, ok: tokenOk } of TOKENS) {
          for (const { type, ok: typeOk } of TYPES) {
            const headers = {
              host: named.host,
              origin,
              authorization,
              "content-type": type,
              "content-length": String(body.length),
            };
            const request = { method: "POST", path: "/v1/servers/main/panes/work/input", headers, body };
            const { status } = await sendRaw(api.port, request);
            const wanted = expected({ host: named, originOk, tokenOk, typeOk, done: 200 });
            cases.push({ name: `${named.host} ${origin} ${authorization} ${type}`, status, wanted });
          }
        }
      }
    }
    expect(wrong(cases)).toEqual([]);
    // What was refused has typed nothing: two bytes for each that was let in.
    const typed = api.servers.get("main")!.counters().outputBytes - before;
    expect(typed).toBe(cases.filter((each) => each.wanted === 200).length * 2);
  });

  test("upgrades, with the token in either place", async () => {
    const cases: Case[] = [];
    const path = "/v1/stream";
    for (const named of HOSTS) {
      for (const { origin, ok: originOk } of ORIGINS) {
        for (const { authorization, ok: tokenOk } of TOKENS) {
          const headers = {
            ...UPGRADE_HEADERS,
            host: named.host,
            origin,
            authorization,
            "sec-websocket-protocol": "tmuxwire.v1",
          };
          const { status } = await sendRaw(api.port, { method: "GET", path, headers });
          const wanted = expected({ host: named, originOk, tokenOk, done: 101 });
          cases.push({ name: `${named.host} ${origin} ${authorization}`, status, wanted });
        }
        for (const { protocol, ok: tokenOk } of PROTOCOLS) {
          const headers = { ...UPGRADE_HEADERS, host: named.host, origin, "sec-websocket-protocol": protocol };
          const response = await sendRaw(api.port, { method: "GET", path, headers });
          const wanted = expected({ host: named, originOk, tokenOk, done: 101 });
          cases.push({ name: `${named.host} ${origin} ${protocol}`, status: response.status, wanted });
          // The chosen protocol comes back in the response: never the one with the token.
          if (response.status === 101) expect(response.headers["sec-websocket-protocol"]).toBe("tmuxwire.v1");
        }
      }
    }
    expect(wrong(cases)).toEqual([]);
  });

  test.each([
    [ORIGIN, "cross-site", 200],
    [ORIGIN, "same-site", 200],
    [undefined, "cross-site", 403],
    [undefined, "same-site", 403],
    [undefined, "same-origin", 200],
    [undefined, "none", 200],
  ])("a request with the origin %s that a browser calls %s is %d", async (origin, site, wanted) => {
    const headers = { host: "localhost", origin, authorization: `Bearer ${TOKEN}`, "sec-fetch-site": site };
    expect((await sendRaw(api.port, { method: "GET", path: "/v1/servers", headers })).status).toBe(wanted);
  });

  test("a token in a protocol opens nothing but the upgrade", async () => {
    const headers = { host: "localhost", "sec-websocket-protocol": `tmuxwire.bearer.${TOKEN}` };
    expect((await sendRaw(api.port, { method: "GET", path: "/v1/servers", headers })).status).toBe(401);
  });

  test("a token in the URL opens nothing", async () => {
    const path = `/v1/servers?token=${TOKEN}&access_token=${TOKEN}`;
    expect((await sendRaw(api.port, { method: "GET", path, headers: { host: "localhost" } })).status).toBe(401);
  });
});

describe("preflights", () => {
  test("preflights are served for allowed origins and hosts, for any path, without the token", async () => {
    const cases: Case[] = [];
    for (const path of ["/v1/servers", "/v1/servers/main/panes/0/input", "/v1/stream", "/nowhere"]) {
      for (const named of HOSTS) {
        for (const { origin, ok: originOk } of ORIGINS) {
          const headers = { host: named.host, origin, "access-control-request-method": "DELETE" };
          const response = await sendRaw(api.port, { method: "OPTIONS", path, headers });
          const wanted = expected({ host: named, originOk, tokenOk: true, done: 204 });
          cases.push({ name: `${path} ${named.host} ${origin}`, status: response.status, wanted });
          const isReported = response.headers["access-control-allow-origin"];
          expect(isReported).toBe(named.ok && originOk && origin !== undefined ? origin : undefined);
        }
      }
    }
    expect(wrong(cases)).toEqual([]);
  });

  test("an event stream has CORS headers", async () => {
    const headers = { host: "localhost", origin: ORIGIN, authorization: `Bearer ${TOKEN}` };
    const response = await sendRaw(api.port, { method: "GET", path: "/v1/servers/main/panes/work/stream", headers });
    expect(response.headers).toMatchObject({ "access-control-allow-origin": ORIGIN, vary: "Origin" });
    expect(response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
  });
});
