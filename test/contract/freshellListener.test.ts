/** Freshell over HTTP on a stub server: who is let in, tokens, bodies, queries, errors (docs/contracts/freshell.md). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TERMINAL_ID } from "../../protocol/api/freshell/freshellHttp.ts";
import { FRESHELL_TOKEN, FreshellFixture } from "../support/daemon/freshellFixture.ts";
import { stubServer } from "../support/daemon/nativeServer.ts";
import { sendRaw, UPGRADE_HEADERS } from "../support/daemon/nativeRaw.ts";

let freshell: FreshellFixture;
beforeEach(async () => {
  freshell = await FreshellFixture.start(stubServer());
});
afterEach(() => freshell[Symbol.asyncDispose]());

const UNKNOWN = "x".repeat(21);
const ROUTES = [
  ["GET", "/api/lan-info"],
  ["GET", "/api/metrics"],
  ["GET", "/api/terminals"],
  ["POST", "/api/terminals"],
  ["GET", `/api/terminals/${UNKNOWN}`],
  ["POST", `/api/terminals/${UNKNOWN}/input`],
  ["POST", `/api/terminals/${UNKNOWN}/resize`],
  ["GET", `/api/terminals/${UNKNOWN}/capture`],
  ["POST", `/api/terminals/${UNKNOWN}/respawn`],
  ["POST", `/api/terminals/${UNKNOWN}/kill`],
  ["POST", "/api/waits"],
  ["POST", "/api/device-sessions"],
  ["DELETE", "/api/device-sessions/current"],
] as const;
const asJson = { "content-type": "application/json" };
const device = { deviceId: "d1", deviceLabel: "host-me-a1", deviceType: "cli" };
const fault = (code: string) => ({
  error: expect.objectContaining({ code, message: expect.any(String) as unknown }) as unknown,
});

describe("F188 F204 F227: tokens", () => {
  test.each(ROUTES)("%s %s needs a token", async (method, path) => {
    const body = method === "POST" ? {} : undefined;
    for (const headers of [
      {},
      { "x-auth-token": "wrong" },
      { authorization: "Bearer wrong" },
      { "x-auth-token": "" },
    ]) {
      const { status, json } = await freshell.call(method, path, body, headers);
      expect([status, json]).toEqual([401, fault("UNAUTHORIZED")]);
    }
    const { status } = await freshell.call(method, path, body, { authorization: `Bearer ${FRESHELL_TOKEN}` });
    expect(status).not.toBe(401);
  });

  test("health needs no token", async () => {
    const { status, json } = await freshell.call("GET", "/api/health", undefined, {});
    expect([status, json]).toEqual([200, { app: "freshell", ok: true, version: "0.0.0", ready: true }]);
    expect((await freshell.call("GET", "/api/lan-info")).json).toEqual({ ips: expect.any(Array) as unknown });
  });
});

describe("F188 F189 F190 F203: device sessions", () => {
  const open = () => freshell.call("POST", "/api/device-sessions", device);
  const using = (token: unknown) => ({ "x-auth-token": String(token) });

  test("a token for a device, which opens no other session", async () => {
    const { status, json } = await open();
    expect(status).toBe(200);
    expect(json).toMatchObject({ deviceId: "d1", scopes: ["terminals", "layout:write:d1"] });
    const leftSec = (Number(json["expiresAt"]) - Date.now()) / 1_000;
    expect(leftSec).toBeGreaterThan(898 - 60);
    expect(leftSec).toBeLessThanOrEqual(900);
    const token = using(json["deviceToken"]);
    expect((await freshell.call("GET", "/api/terminals", undefined, token)).status).toBe(200);
    const again = await freshell.call("POST", "/api/device-sessions", device, token);
    expect([again.status, again.json]).toEqual([401, fault("UNAUTHORIZED")]);
  });

  test("is rotated, and the old pair is invalid", async () => {
    const first = (await open()).json;
    const refresh = (token: unknown) =>
      freshell.call("POST", "/api/device-sessions/refresh", { refreshToken: token }, {});
    const second = await refresh(first["refreshToken"]);
    expect(second.json).toMatchObject({ deviceId: "d1" });
    expect((await refresh(first["refreshToken"])).json).toEqual(fault("UNAUTHORIZED"));
    expect((await freshell.call("GET", "/api/terminals", undefined, using(first["deviceToken"]))).status).toBe(401);
    expect((await freshell.call("GET", "/api/terminals", undefined, using(second.json["deviceToken"]))).status).toBe(
      200,
    );
  });

  test("is ended, and its refresh token with it", async () => {
    const { deviceToken, refreshToken } = (await open()).json;
    const ended = await freshell.call("DELETE", "/api/device-sessions/current", undefined, using(deviceToken));
    expect([ended.status, ended.json]).toEqual([200, { ok: true }]);
    const { json } = await freshell.call("POST", "/api/device-sessions/refresh", { refreshToken }, {});
    expect(json).toEqual({
      error: { code: "UNAUTHORIZED", message: expect.stringContaining("freshell auth login") as unknown },
    });
  });

  test("expires", async () => {
    let nowMs = 1_000_000;
    await using other = await FreshellFixture.start(stubServer(), { app: { nowUnixMs: () => nowMs } });
    const { deviceToken, expiresAt } = (await other.call("POST", "/api/device-sessions", device)).json;
    expect(expiresAt).toBe(nowMs + 900_000);
    nowMs += 900_000;
    expect((await other.call("GET", "/api/terminals", undefined, using(deviceToken))).status).toBe(401);
  });

  test.each([
    [{ deviceId: "a b", deviceLabel: "x", deviceType: "cli" }, /^deviceId: /],
    [{ deviceId: "a", deviceLabel: "", deviceType: "cli" }, /^deviceLabel: /],
    [{ deviceId: "a", deviceLabel: "x", deviceType: "phone" }, /^deviceType: /],
    [{ ...device, more: 1 }, /more/],
  ])("%j is refused", async (body, message) => {
    const { status, json } = await freshell.call("POST", "/api/device-sessions", body);
    expect([status, json]).toEqual([
      400,
      { error: { code: "INVALID_ARGUMENT", message: expect.stringMatching(message) as unknown } },
    ]);
  });
});

describe("F205: which requests are accepted", () => {
  const ask = (headers: Record<string, string>, path = "/api/terminals") =>
    sendRaw(freshell.port, { method: "GET", path, headers: { "x-auth-token": FRESHELL_TOKEN, ...headers } });
  const host = (): string => `127.0.0.1:${freshell.port}`;

  test("names of this machine, no page of another site", async () => {
    const own = `http://127.0.0.1:${freshell.port}`;
    expect((await ask({ host: host() })).status).toBe(200);
    expect((await ask({ host: `localhost:${freshell.port}`, origin: own })).status).toBe(200);
    expect((await ask({ host: "evil.example" })).status).toBe(403);
    expect((await ask({ host: host(), origin: "https://evil.example" })).status).toBe(403);
    expect((await ask({ host: host(), origin: "null" })).status).toBe(403);
    expect((await ask({ host: host(), "sec-fetch-site": "cross-site" })).status).toBe(403);
  });

  test("an upgrade from another site is refused before anything", async () => {
    const from = (origin: string) => ask({ ...UPGRADE_HEADERS, host: host(), origin }, "/ws");
    expect((await from("https://evil.example")).status).toBe(403);
    expect((await from(`http://127.0.0.1:${freshell.port}`)).status).toBe(101);
  });

  test("a refusal has the contract's shape", async () => {
    const { status, json } = await freshell.call("GET", "/api/health", undefined, { origin: "https://evil.example" });
    expect([status, json]).toEqual([
      403,
      { error: expect.objectContaining({ code: "UNAUTHORIZED", details: { reason: "forbidden" } }) as unknown },
    ]);
  });
});

describe("paths, methods, bodies", () => {
  test.each([
    ["GET", "/api/nothing", 404, "NOT_FOUND", undefined],
    ["GET", "/", 404, "NOT_FOUND", undefined],
    ["DELETE", "/api/terminals", 405, "INVALID_ARGUMENT", "GET, POST"],
    ["POST", "/api/health", 405, "INVALID_ARGUMENT", "GET"],
    ["GET", `/api/terminals/${UNKNOWN}/kill`, 405, "INVALID_ARGUMENT", "POST"],
  ])("%s %s: %i", async (method, path, status, code, allow) => {
    const answer = await freshell.call(method, path, method === "POST" ? {} : undefined);
    expect([answer.status, answer.json]).toEqual([status, fault(code)]);
    expect(answer.headers.get("allow") ?? undefined).toBe(allow);
  });

  const raw = async (body: string, headers: Record<string, string> = asJson) => {
    const response = await fetch(`${freshell.url}/api/terminals`, {
      method: "POST",
      headers: { "x-auth-token": FRESHELL_TOKEN, ...headers },
      body,
    });
    return { status: response.status, json: (await response.json()) as { error: Record<string, unknown> } };
  };

  test("1 MiB and a byte, another type, no JSON", async () => {
    const large = await raw(`{"title":"${"x".repeat(1_048_576)}"}`);
    expect([large.status, large.json.error]).toMatchObject([
      413,
      { code: "INVALID_ARGUMENT", details: { reason: "body_too_large" } },
    ]);
    const typed = await raw("{}", { "content-type": "text/plain" });
    expect([typed.status, typed.json.error]).toMatchObject([
      415,
      { code: "INVALID_ARGUMENT", details: { reason: "content_type" } },
    ]);
    for (const body of ["", "{", "[]", '"x"', "null", "7"]) {
      const { status, json } = await raw(body);
      expect([body, status, json.error["code"]]).toEqual([body, 400, "INVALID_ARGUMENT"]);
    }
  });

  test.each([
    ['{"__proto__":{"cols":3}}', /__proto__/],
    ['{"colours":1}', /colours/],
    ['{"cols":1}', /^cols: /],
    ['{"cwd":"relative"}', /^cwd /],
    ['{"cwd":"/not/there"}', /^cwd /],
    ['{"shell":"/not/there"}', /^shell /],
    ['{"title":"a\\nb"}', /^title: /],
    ['{"resumeSessionId":"x"}', /resumeSessionId/],
  ])("%s is refused, and nothing is made", async (body, message) => {
    const { status, json } = await raw(body);
    expect([status, json.error]).toEqual([
      400,
      { code: "INVALID_ARGUMENT", message: expect.stringMatching(message) as unknown },
    ]);
    expect((await freshell.call("GET", "/api/terminals")).json).toEqual([]);
  });

  test.each(["GET", "POST"])("%s: an invalid id is not found and not echoed", async (method) => {
    for (const id of ["..%2F..%2Fetc", "%00", "a".repeat(10_000), "<script>", UNKNOWN]) {
      const path = method === "GET" ? `/api/terminals/${id}` : `/api/terminals/${id}/kill`;
      const { status, json, text } = await freshell.call(method, path);
      expect([status, json]).toEqual([404, fault("NOT_FOUND")]);
      expect(text).not.toContain(id.slice(0, 20));
    }
  });
});

describe("F008 F068: terminals", () => {
  test("are made, listed, resized and killed without a client", async () => {
    const made = await freshell.create({ title: "build", cwd: "/tmp", cols: 100, rows: 30 });
    expect(made).toEqual({
      terminalId: expect.stringMatching(TERMINAL_ID) as unknown,
      title: "build",
      mode: "shell",
      status: "running",
      createdAt: expect.any(Number) as unknown,
      lastActivityAt: expect.any(Number) as unknown,
      cwd: "/tmp",
      cols: 100,
      rows: 30,
      hasClients: false,
      pid: expect.any(Number) as unknown,
      bufferRef: { outputSeq: expect.any(Number) as unknown, tailSeq: 0 },
    });
    const path = `/api/terminals/${made.terminalId}`;
    expect((await freshell.call("GET", "/api/terminals")).json).toMatchObject([{ title: "build" }]);
    const resized = await freshell.call("POST", `${path}/resize`, { cols: 90, rows: 20 });
    expect(resized.json).toEqual({ cols: 90, rows: 20 });
    expect((await freshell.call("GET", path)).json).toMatchObject({ cols: 90, rows: 20 });
    const killed = await freshell.call("POST", `${path}/kill`);
    expect([killed.status, killed.json]).toEqual([200, { ok: true, exitCode: null }]);
    for (const again of [await freshell.call("POST", `${path}/kill`), await freshell.call("GET", path)]) {
      expect([again.status, again.json]).toEqual([404, fault("NOT_FOUND")]);
    }
  });

  test("input says what comes after it, and needs keys or data", async () => {
    const { terminalId } = await freshell.create();
    const input = (body: unknown) => freshell.call("POST", `/api/terminals/${terminalId}/input`, body);
    const first = Number((await input({ keys: ["abc", "Enter", "c-C"] })).json["outputSeq"]);
    const second = Number((await input({ data: "x" })).json["outputSeq"]);
    expect(second).toBeGreaterThan(first);
    const { json } = await freshell.call("GET", `/api/terminals/${terminalId}/capture?S=-`);
    expect((json["lines"] as string[]).join("\n")).toMatch(/abc <Enter> <C-c>/i);
    for (const body of [
      {},
      { keys: [] },
      { data: "" },
      { keys: ["a"], data: "b" },
      { data: "x", literal: true },
      { data: "\ud800" },
    ]) {
      const refused = await input(body);
      expect([refused.status, refused.json]).toEqual([400, fault("INVALID_ARGUMENT")]);
    }
  });

  test.each(["S=abc", "S=", "S=NaN", "S=1.5", "S=--1", "J=x", "x=1", "S=1&S=2", "e=yes"])(
    "F086: capture?%s is refused",
    async (query) => {
      const { terminalId } = await freshell.create();
      const { status, json } = await freshell.call("GET", `/api/terminals/${terminalId}/capture?${query}`);
      expect([status, json]).toEqual([400, fault("INVALID_ARGUMENT")]);
    },
  );
});
