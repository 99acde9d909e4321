/** Every endpoint of the native API against the stub: shapes, statuses, errors (docs/contracts/native.md). */
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as responses from "../../protocol/api/native/nativeResponses.ts";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";

const PANE = "/v1/servers/main/panes/0";
const text = (value: string) => ({ kind: "text", text: value });

async function withSession(options: Parameters<typeof nativeFixture>[1] = {}) {
  const server = stubServer();
  await server.createSession({ name: "work" });
  const fixture = await nativeFixture(server, options);
  return { ...fixture, server };
}

describe("servers and sessions", () => {
  test("lists servers with their state", async () => {
    await using api = await withSession();
    const { status, json } = await api.call("GET", "/v1/servers");
    expect(status).toBe(200);
    const { servers } = v.parse(responses.serversSchema, json);
    expect(servers).toMatchObject([
      { name: "main", kind: "stub", state: "ready", sessions: 1, panes: 1, tmuxVersion: null },
    ]);
  });

  test("creates, lists and kills a session", async () => {
    await using api = await withSession();
    const made = await api.call("POST", "/v1/servers/main/sessions", { name: "b", cwd: "/" });
    expect(made.status).toBe(201);
    const session = v.parse(responses.sessionSchema, made.json);
    const listed = await api.call("GET", "/v1/servers/main/sessions");
    expect(v.parse(responses.sessionsSchema, listed.json).sessions.map((each) => each.name)).toEqual(["b", "work"]);
    const again = await api.call("POST", "/v1/servers/main/sessions", { name: "b" });
    expect([again.status, again.json]).toMatchObject([409, { error: { code: "ALREADY_EXISTS" } }]);
    const gone = await api.call("DELETE", `/v1/servers/main/sessions/${encodeURIComponent(session.id)}`);
    expect([gone.status, gone.json]).toEqual([200, { ok: true }]);
    const twice = await api.call("DELETE", "/v1/servers/main/sessions/b");
    expect([twice.status, twice.json]).toMatchObject([404, { error: { code: "NOT_FOUND" } }]);
  });

  test("picks a name if none is given", async () => {
    await using api = await withSession();
    const { json } = await api.call("POST", "/v1/servers/main/sessions", {});
    expect(json["name"]).toMatch(/^tw-[0-9a-f]{8}$/);
  });

  test.each([
    [{ cwd: "relative" }, "cwd"],
    [{ cwd: "/no/such/directory" }, "cwd"],
    [{ name: "" }, "name"],
    [{ nmae: "x" }, "nmae"],
    [{ cols: 0 }, "cols"],
    [{ command: [] }, "command"],
    [[], ""],
  ])("refuses %j and names the field", async (body, field) => {
    await using api = await withSession();
    const { status, json } = await api.call("POST", "/v1/servers/main/sessions", body);
    const { error } = v.parse(responses.errorResponseSchema, json);
    expect([status, error.code]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(error.message).toContain(field);
  });
});

describe("panes", () => {
  test.each(["0", "%250", "work", "$0"])("finds the pane by %s", async (name) => {
    await using api = await withSession();
    const { status, json } = await api.call("GET", `/v1/servers/main/panes/${name}`);
    expect(status).toBe(200);
    const pane = v.parse(responses.paneDetailsSchema, json);
    expect(pane).toMatchObject({ id: "%0", sessions: ["work"], dead: false, exit: null, inMode: false });
    expect(pane.position).toMatch(/^\w+:0$/);
  });

  test.each(["1", "wor", "work%20", "%25", "-1"])("does not match %s", async (name) => {
    await using api = await withSession();
    const { status, json } = await api.call("GET", `/v1/servers/main/panes/${name}`);
    expect([status, json]).toMatchObject([404, { error: { code: "NOT_FOUND" } }]);
  });

  test("types one job and captures it", async () => {
    await using api = await withSession();
    const parts = [
      text("echo "),
      { kind: "text", base64: "aGk=" },
      { kind: "paste", text: "é" },
      { kind: "keys", keys: ["C-a"] },
      { kind: "enter" },
    ];
    const typed = await api.call("POST", `${PANE}/input`, { parts });
    expect(typed.status).toBe(200);
    expect(v.parse(responses.receiptSchema, typed.json).position).toMatch(/^\w+:0$/);
    const { json } = await api.call("GET", `${PANE}/capture?lines=5`);
    const capture = v.parse(responses.captureSchema, json);
    expect(capture.lines).toEqual(["echo  hi é <C-a> <Enter>"]);
    expect(capture.exact).toBe(true);
  });

  test.each([
    [{ parts: [] }, "parts"],
    [{ parts: [{ kind: "text" }] }, "parts.0"],
    [{ parts: [{ kind: "text", text: "a", base64: "YQ==" }] }, "parts.0"],
    [{ parts: [{ kind: "text", base64: "***" }] }, "base64"],
    [{ parts: [{ kind: "text", text: "\ud800" }] }, "Unicode"],
    [{ parts: [{ kind: "shout", text: "a" }] }, "kind"],
    [{ parts: [text("a")], more: 1 }, "more"],
  ])("refuses the input %j", async (body, word) => {
    await using api = await withSession();
    const { status, json } = await api.call("POST", `${PANE}/input`, body);
    expect([status, json]).toMatchObject([400, { error: { code: "INVALID_ARGUMENT" } }]);
    expect(JSON.stringify(json)).toContain(word);
  });

  test.each(["lines=0", "lines=20001", "lines=x", "lines=", "lines=5.0", "lines=0x5", "ansi=yes", "ansi=", "lnes=5"])(
    "refuses capture?%s",
    async (query) => {
      await using api = await withSession();
      const { status } = await api.call("GET", `${PANE}/capture?${query}`);
      expect(status).toBe(400);
    },
  );

  test("gives a snapshot and resizes", async () => {
    await using api = await withSession();
    const resized = await api.call("POST", `${PANE}/size`, { cols: 100, rows: 30 });
    expect([resized.status, resized.json]).toEqual([200, { ok: true }]);
    const { json } = await api.call("GET", `${PANE}/snapshot`);
    expect(v.parse(responses.snapshotSchema, json)).toMatchObject({ cols: 100, rows: 30, exact: true });
  });

  test("refuses run without a shell", async () => {
    await using api = await withSession();
    const { status, json } = await api.call("POST", `${PANE}/run`, { command: "ls" });
    expect([status, json]).toMatchObject([409, { error: { code: "INCONSISTENT_STATE" } }]);
  });
});

describe("waits", () => {
  test("sends and waits in one call", async () => {
    await using api = await withSession();
    const { status, json } = await api.call("POST", `${PANE}/wait`, {
      pattern: { regex: "<Ent(er)?>" },
      send: { parts: [text("n42"), { kind: "enter" }] },
      timeoutMs: 5_000,
    });
    expect(status).toBe(200);
    const response = v.parse(responses.waitResponseSchema, json);
    expect(response.matched.map((match) => match.predicate)).toEqual(["pattern"]);
  });

  test("a timeout reports the progress of each predicate", async () => {
    await using api = await withSession();
    const { status, json } = await api.call("POST", `${PANE}/wait`, { pattern: { literal: "never" }, timeoutMs: 20 });
    expect([status, json]).toMatchObject([
      408,
      { error: { code: "TIMEOUT", details: { predicates: { pattern: false } } } },
    ]);
  });

  test("reports the gap after a position of an earlier epoch, also on a timeout", async () => {
    await using api = await withSession();
    await api.call("POST", `${PANE}/input`, { parts: [text("one")] });
    const body = { pattern: { literal: "one" }, from: "0ther:77" };
    const gaps = [{ from: "0ther:77", to: `${api.server.status().epoch}:0`, reason: "epoch" }];
    expect((await api.call("POST", `${PANE}/wait`, body)).json).toMatchObject({ gaps });
    const late = await api.call("POST", `${PANE}/wait`, { ...body, pattern: { literal: "two" }, timeoutMs: 5 });
    expect(late.json["error"]).toMatchObject({ code: "TIMEOUT", details: { gaps } });
  });

  test("looks back from a position, and at any of several sets", async () => {
    await using api = await withSession();
    const { json } = await api.call("POST", `${PANE}/input`, { parts: [text("older")] });
    const from = json["position"];
    const found = await api.call("POST", `${PANE}/wait`, {
      from,
      anyOf: [{ exit: true }, { pattern: { literal: "older" } }],
      timeoutMs: 5_000,
    });
    expect(v.parse(responses.waitResponseSchema, found.json).matched[0]?.predicate).toBe("anyOf[1].pattern");
  });

  test.each([
    [{}, 400],
    [{ pattern: { regex: "(" } }, 400],
    [{ pattern: {} }, 400],
    [{ pattern: { literal: "a", regex: "b" } }, 400],
    [{ exit: true, patern: { literal: "a" } }, 400],
    [{ exit: true, anyOf: [{ patern: { literal: "a" } }] }, 400],
    [{ ready: "idle" }, 400],
    [{ exit: true, from: "snapshot" }, 400],
    [{ exit: true, from: "yesterday" }, 400],
  ])("refuses %j", async (body, status) => {
    await using api = await withSession();
    const response = await api.call("POST", `${PANE}/wait`, { timeoutMs: 10_000, ...body });
    expect([response.status, response.json]).toMatchObject([status, { error: { code: "INVALID_ARGUMENT" } }]);
  });

  test("ends when its client disconnects", async () => {
    await using api = await withSession();
    const abort = new AbortController();
    const gone = fetch(`${api.url}${PANE}/wait`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ exit: true, timeoutMs: 60_000 }),
      signal: abort.signal,
    });
    await expect.poll(() => api.waits.metrics().wait_active).toBe(1);
    abort.abort();
    await expect(gone).rejects.toThrow("abort");
    await expect.poll(() => api.waits.metrics().wait_active).toBe(0);
  });
});

describe("other endpoints", () => {
  test("health, readiness, metrics", async () => {
    await using api = await withSession();
    expect((await api.call("GET", "/livez")).json).toEqual({ ok: true });
    expect((await api.call("GET", "/readyz")).json).toEqual({ ok: true, servers: { main: "ready" } });
    await api.call("GET", `${PANE}/capture?lines=0`);
    const { text: metrics, headers } = await api.call("GET", "/metrics");
    expect(headers.get("content-type")).toContain("version=0.0.4");
    expect(metrics).toContain('tmuxwire_server_state{server="main",state="ready"} 1\n');
    expect(metrics).toContain('tmuxwire_panes{server="main",state="running"} 1\n');
    expect(metrics).toContain('tmuxwire_operation_errors_total{operation="capture",code="INVALID_ARGUMENT"} 1\n');
    expect(metrics).toContain('tmuxwire_operation_seconds_count{operation="readyz",outcome="ok"} 1\n');
    expect(metrics).toContain("wait_active 0\n");
    expect(metrics).toMatch(/^wait_match_latency_ms_bucket\{le="\+Inf"\} 0$/m);
  });

  test("is not ready while a server is not", async () => {
    await using api = await withSession();
    await api.server.close();
    const { status, json } = await api.call("GET", "/readyz");
    expect([status, json]).toEqual([503, { ok: false, servers: { main: "closed" } }]);
  });

  test.each([
    ["GET", "/", 404],
    ["GET", "/v1", 404],
    ["GET", "/v1/servers/", 404],
    ["POST", "/v1/servers", 405],
    ["DELETE", "/v1/servers/main/panes/0", 405],
    ["GET", "/v1/servers/other/panes", 404],
    ["GET", "/v1/stream", 400],
  ])("%s %s is %i", async (method, path, status) => {
    await using api = await withSession();
    const response = await api.call(method, path);
    expect(response.status).toBe(status);
    v.parse(responses.errorResponseSchema, response.json);
  });
});
