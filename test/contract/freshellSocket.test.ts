/** Freshell's WebSocket on a stub server: hello, frames, refusals (docs/contracts/freshell.md). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StubServer } from "../../daemon/servers/stub/stubServer.ts";
import {
  CAPABILITIES,
  FRESHELL_TOKEN,
  type FreshellClient,
  FreshellFixture,
  type FreshellFixtureOptions,
} from "../support/daemon/freshellFixture.ts";
import { stubServer } from "../support/daemon/nativeServer.ts";
import { eventually } from "../support/clock/eventually.ts";

let server: StubServer;
let freshell: FreshellFixture;
beforeEach(async () => {
  server = stubServer();
  freshell = await FreshellFixture.start(server);
});
afterEach(() => freshell[Symbol.asyncDispose]());

/** Instead of the one of `beforeEach`. */
async function startWith(options: FreshellFixtureOptions): Promise<void> {
  await freshell[Symbol.asyncDispose]();
  server = stubServer();
  freshell = await FreshellFixture.start(server, options);
}

const hello = { type: "hello", token: FRESHELL_TOKEN, capabilities: CAPABILITIES };
const UNKNOWN = "x".repeat(21);

describe("F210 F211 F212 F213 F230: hello", () => {
  test("ready says who this is; ping gets its response before it", async () => {
    const client = await freshell.connect(false);
    client.send({ type: "ping" });
    expect(await client.next("pong")).toEqual({ type: "pong", timestamp: expect.any(String) as unknown });
    client.send({ ...hello, device: { deviceId: "d1", deviceLabel: "me", deviceType: "browser", role: "caller" } });
    expect(await client.next("ready")).toEqual({
      type: "ready",
      timestamp: expect.any(String) as unknown,
      serverInstanceId: expect.any(String) as unknown,
      presenceTtlMs: 15_000,
      heartbeatIntervalMs: 5_000,
      device: { deviceId: "d1", role: "caller", online: false },
    });
  });

  test.each([
    [{ type: "terminal.list", requestId: "r" }],
    [{ type: "nothing" }],
    [{ ...hello, token: "wrong" }],
    [{ ...hello, token: undefined }],
    // The token is looked at before the capabilities.
    [{ type: "hello", token: "wrong", capabilities: {} }],
  ])("%j: 4001", async (message) => {
    const client = await freshell.connect(false);
    client.send(message);
    expect(await client.next("error")).toMatchObject({ code: "NOT_AUTHENTICATED" });
    expect((await client.closed).code).toBe(4_001);
  });

  const names = Object.keys(CAPABILITIES) as (keyof typeof CAPABILITIES)[];
  const lacking = Array.from({ length: 7 }, (_, bits) => names.filter((_name, at) => (bits & (1 << at)) === 0));
  test.each(lacking)("without %s it is another version: 4010", async (...missing) => {
    const capabilities = Object.fromEntries(
      names.filter((name) => !missing.includes(name)).map((name) => [name, true]),
    );
    const client = await freshell.connect(false);
    client.send({ ...hello, capabilities });
    const error = await client.next("error");
    expect(error).toMatchObject({ code: "PROTOCOL_MISMATCH", details: { missing } });
    for (const name of missing) expect(error["message"]).toContain(name);
    expect((await client.closed).code).toBe(4_010);
  });

  test("a capability that is not true counts as missing; unknown ones are ignored", async () => {
    const refused = await freshell.connect(false);
    refused.send({ ...hello, capabilities: { ...CAPABILITIES, layoutRpcV1: "true" } });
    expect((await refused.closed).code).toBe(4_010);
    for (const more of [
      { sessionsPatchV1: true },
      { terminalAttachChunkV1: false, sessionsPatchV1: true },
      { inventedV9: 3 },
    ]) {
      await freshell.connect({ capabilities: { ...CAPABILITIES, ...more } });
    }
  });

  test("silence: 4002", async () => {
    await startWith({ config: { helloTimeoutMs: 20 } });
    expect((await (await freshell.connect(false)).closed).code).toBe(4_002);
  });

  test("one connection too many: 4003, before hello; the others stay", async () => {
    await startWith({ config: { maxConnections: 2 } });
    const [first] = [await freshell.connect(), await freshell.connect()];
    const third = await freshell.connect(false);
    expect((await third.closed).code).toBe(4_003);
    first.send({ type: "ping" });
    await first.next("pong");
    first.socket.close();
    await first.closed;
    await eventually(async () => {
      const next = await freshell.connect(false);
      next.send(hello);
      return Promise.race([next.next("ready").then(() => true), next.closed.then(() => false)]);
    });
  });

  test("F188: a device token is good, for its own device", async () => {
    const device = { deviceId: "d1", deviceLabel: "me", deviceType: "cli" };
    const { json } = await freshell.call("POST", "/api/device-sessions", device);
    await freshell.connect({ token: json["deviceToken"], device: { ...device, role: "caller" } });
    const other = await freshell.connect(false);
    other.send({ ...hello, token: json["deviceToken"], device: { ...device, deviceId: "d2", role: "caller" } });
    expect((await other.closed).code).toBe(4_001);
  });

  test("the daemon stops: 4009", async () => {
    const client = await freshell.connect();
    freshell.freshell.end();
    expect((await client.closed).code).toBe(4_009);
  });
});

describe("F215 F221: messages that are wrong", () => {
  let client: FreshellClient;
  beforeEach(async () => {
    client = await freshell.connect();
  });

  test.each<[unknown, string, object]>([
    ["{", "INVALID_MESSAGE", {}],
    [[], "INVALID_MESSAGE", {}],
    ["null", "INVALID_MESSAGE", {}],
    [Buffer.from(JSON.stringify({ type: "ping" })), "INVALID_MESSAGE", {}],
    [{ type: 7, requestId: "r" }, "INVALID_MESSAGE", { requestId: "r" }],
    [{ type: "no.such" }, "UNKNOWN_MESSAGE", {}],
    [{ type: "toString", requestId: "r" }, "UNKNOWN_MESSAGE", { requestId: "r" }],
    [{ type: "__proto__" }, "UNKNOWN_MESSAGE", {}],
    [hello, "INVALID_MESSAGE", {}],
    [{ type: "terminal.create" }, "INVALID_MESSAGE", {}],
    [{ type: "terminal.create", requestId: "r", cols: 1 }, "INVALID_MESSAGE", { requestId: "r" }],
    [{ type: "terminal.create", requestId: "r", mode: "vim" }, "INVALID_MESSAGE", { requestId: "r" }],
    [{ type: "terminal.resize", terminalId: UNKNOWN, cols: 80, rows: 501 }, "INVALID_MESSAGE", {}],
    [{ type: "terminal.attach", terminalId: UNKNOWN }, "INVALID_TERMINAL_ID", { terminalId: UNKNOWN }],
    [{ type: "terminal.detach", terminalId: UNKNOWN }, "INVALID_TERMINAL_ID", { terminalId: UNKNOWN }],
    [{ type: "terminal.input", terminalId: UNKNOWN, data: "x" }, "INVALID_TERMINAL_ID", { terminalId: UNKNOWN }],
    [
      { type: "terminal.resize", terminalId: UNKNOWN, cols: 80, rows: 24 },
      "INVALID_TERMINAL_ID",
      { terminalId: UNKNOWN },
    ],
    [{ type: "terminal.kill", terminalId: UNKNOWN }, "INVALID_TERMINAL_ID", { terminalId: UNKNOWN }],
    [{ type: "terminal.attach", terminalId: "../../etc" }, "INVALID_TERMINAL_ID", { terminalId: "../../etc" }],
    [
      { type: "terminal.input", terminalId: "a".repeat(10_000), data: "x" },
      "INVALID_TERMINAL_ID",
      { terminalId: "a".repeat(256) },
    ],
    [
      { type: "terminal.input", terminalId: "a\u001b]0;b\u0007\u202ec\ud800", data: "x" },
      "INVALID_TERMINAL_ID",
      { terminalId: "a]0;bc" },
    ],
    [
      { type: "sdk.send", sessionId: `\u001b[2J${"s".repeat(400)}`, text: "x" },
      "INVALID_SESSION_ID",
      { sessionId: `[2J${"s".repeat(253)}` },
    ],
    [{ type: "terminal.create", requestId: "r", cwd: "/not/there" }, "PTY_SPAWN_FAILED", { requestId: "r" }],
    [{ type: "terminal.create", requestId: "r", mode: "gemini" }, "PTY_SPAWN_FAILED", { requestId: "r" }],
  ])("%j: %s, and the connection lives on", async (message, code, about) => {
    await startWith({ env: { PATH: "/nowhere" } });
    client = await freshell.connect();
    client.send(message);
    const error = await client.next("error");
    expect(error).toEqual({
      type: "error",
      code,
      message: expect.any(String) as unknown,
      timestamp: expect.any(String) as unknown,
      ...about,
    });
    client.send({ type: "ping" });
    await client.next("pong");
    expect((await freshell.call("GET", "/api/terminals")).json).toEqual([]);
  });

  test("a frame of more than a snapshot with what goes around it: 1009", async () => {
    client.send("x".repeat(1_114_113));
    expect((await client.closed).code).toBe(1_009);
  });
});

describe("F231 F232 F234 F235 F236: terminals", () => {
  test("create, output, list, detach, kill", async () => {
    const [client, other] = [await freshell.connect(), await freshell.connect()];
    client.send({ type: "terminal.create", requestId: "r1", cwd: "/tmp" });
    const created = await client.next("terminal.created");
    expect(created).toEqual({
      type: "terminal.created",
      requestId: "r1",
      terminalId: expect.any(String) as unknown,
      createdAt: expect.any(Number) as unknown,
      outputSeq: expect.any(Number) as unknown,
      snapshot: expect.any(String) as unknown,
    });
    await client.next("terminal.list.updated");
    await other.next("terminal.list.updated");
    const terminalId = String(created["terminalId"]);
    client.send({ type: "terminal.input", terminalId, data: "héllo" });
    const output = await client.next("terminal.output");
    expect(output).toMatchObject({ terminalId, data: expect.stringContaining("héllo") as unknown });
    expect(output["outputSeq"]).toBeGreaterThan(Number(created["outputSeq"]));
    client.send({ type: "terminal.list", requestId: "r2" });
    const list = await client.next("terminal.list.response");
    expect(list).toMatchObject({ requestId: "r2", terminals: [{ terminalId, cwd: "/tmp", hasClients: true }] });
    client.send({ type: "terminal.meta.list", requestId: "r3" });
    expect(await client.next("terminal.meta.list.response")).toEqual({
      type: "terminal.meta.list.response",
      requestId: "r3",
      terminals: [{ terminalId, cwd: "/tmp", updatedAt: expect.any(Number) as unknown }],
    });
    client.send({ type: "terminal.detach", terminalId });
    expect(await client.next("terminal.detached")).toEqual({ type: "terminal.detached", terminalId });
    await client.next("terminal.list.updated");
    other.send({ type: "terminal.attach", terminalId });
    const attached = await other.next("terminal.attached");
    expect(attached["snapshot"]).toContain("héllo");
    other.send({ type: "terminal.kill", terminalId });
    expect(await other.next("terminal.exit")).toEqual({ type: "terminal.exit", terminalId, exitCode: null });
    await client.next("terminal.list.updated");
    // Not attached any more.
    expect(client.frames.some(({ type }) => type === "terminal.exit")).toBe(false);
  });

  test("F232: the same requestId is the same terminal, for the connection and for the device", async () => {
    const create = { type: "terminal.create", requestId: "once" };
    const one = await freshell.connect();
    one.send(create);
    one.send(create);
    const [first, second] = [await one.next("terminal.created"), await one.next("terminal.created")];
    expect(second["terminalId"]).toBe(first["terminalId"]);
    const stranger = await freshell.connect();
    stranger.send(create);
    expect((await stranger.next("terminal.created"))["terminalId"]).not.toBe(first["terminalId"]);
    const device = { deviceId: "d1", deviceLabel: "me", deviceType: "browser", role: "caller" };
    const before = await freshell.connect({ device });
    before.send(create);
    const made = await before.next("terminal.created");
    before.socket.terminate();
    const after = await freshell.connect({ device });
    after.send(create);
    expect((await after.next("terminal.created"))["terminalId"]).toBe(made["terminalId"]);
    expect((await freshell.call("GET", "/api/terminals")).json).toHaveLength(3);
  });

  test("F236: ten in ten seconds; the same one again and a restored one do not count", async () => {
    const client = await freshell.connect();
    const create = (requestId: string, more: object = {}) =>
      client.send({ type: "terminal.create", requestId, ...more });
    for (let at = 0; at < 10; at += 1) {
      create(`r${at}`);
      create(`r${at}`);
    }
    for (let at = 0; at < 20; at += 1) await client.next("terminal.created");
    create("r10");
    expect(await client.next("error")).toMatchObject({ code: "RATE_LIMITED", requestId: "r10" });
    create("r11", { restore: true });
    expect(await client.next("terminal.created")).toMatchObject({ requestId: "r11" });
    create("r3");
    expect(await client.next("terminal.created")).toMatchObject({ requestId: "r3" });
  });

  test("no more than MAX_TERMINALS: the same words on the socket", async () => {
    await startWith({ config: { maxTerminals: 1 } });
    const client = await freshell.connect();
    client.send({ type: "terminal.create", requestId: "a" });
    await client.next("terminal.created");
    client.send({ type: "terminal.create", requestId: "b" });
    const refused = await client.next("error");
    const { json } = await freshell.call("POST", "/api/terminals", {});
    expect(refused).toMatchObject({ code: "PTY_SPAWN_FAILED", requestId: "b" });
    expect(refused["message"]).toBe((json["error"] as Record<string, unknown>)["message"]);
  });

  test("several clients: the last resize holds, each may type, each sees it once", async () => {
    const { terminalId } = await freshell.create();
    const clients = [await freshell.connect(), await freshell.connect()] as const;
    for (const client of clients) {
      client.send({ type: "terminal.attach", terminalId });
      await client.next("terminal.attached");
    }
    clients[0].send({ type: "terminal.resize", terminalId, cols: 100, rows: 40 });
    clients[1].send({ type: "terminal.resize", terminalId, cols: 90, rows: 30 });
    clients[0].send({ type: "terminal.input", terminalId, data: "<one>" });
    clients[1].send({ type: "terminal.input", terminalId, data: "<two>" });
    for (const client of clients) {
      await client.shows(terminalId, "<one>");
      await client.shows(terminalId, "<two>");
      expect(client.text(terminalId).split("<one>")).toHaveLength(2);
    }
    await eventually(async () => {
      const { json } = await freshell.call("GET", `/api/terminals/${terminalId}`);
      return json["cols"] === 90 && json["rows"] === 30;
    });
  });
});

describe("F104 F128 F135 F139: waits on the socket", () => {
  test("get responses, fail, and end with their client", async () => {
    const { terminalId } = await freshell.create();
    const client = await freshell.connect();
    const wait = (requestId: string, more: object) =>
      client.send({ type: "wait.start", requestId, target: { terminalId }, ...more });
    wait("w1", { pattern: "needle", timeoutSec: 30 });
    wait("w2", {});
    expect(await client.next("wait.result")).toMatchObject({
      requestId: "w2",
      ok: false,
      error: { code: "INVALID_ARGUMENT" },
    });
    client.send({ type: "terminal.input", terminalId, data: "a needle" });
    expect(await client.next("wait.result")).toMatchObject({
      requestId: "w1",
      ok: true,
      result: { matched: [{ predicate: "pattern", text: "needle" }] },
    });
    wait("w3", { pattern: "never", timeoutSec: 60 });
    await eventually(() => freshell.waits.metrics().wait_active === 1);
    client.send({ type: "wait.cancel", requestId: "w3" });
    await eventually(() => freshell.waits.metrics().wait_active === 0);
    wait("w4", { pattern: "never", timeoutSec: 60 });
    await eventually(() => freshell.waits.metrics().wait_active === 1);
    client.socket.terminate();
    await eventually(() => freshell.waits.metrics().wait_active === 0);
  });
});

describe("F233: large snapshots", () => {
  test("come in pieces for a client that asked for them, before any output, and no character is cut", async () => {
    await startWith({ config: { maxAttachChunkBytes: 16_384 } });
    const { terminalId } = await freshell.create({ rows: 200, cols: 300 });
    const text = "𝄞\u0001é".repeat(8_000);
    await freshell.call("POST", `/api/terminals/${terminalId}/input`, { data: text });
    const [plain, pieces] = [
      await freshell.connect(),
      await freshell.connect({ capabilities: { ...CAPABILITIES, terminalAttachChunkV1: true } }),
    ];
    plain.send({ type: "terminal.attach", terminalId });
    const { snapshot } = await plain.next("terminal.attached");
    pieces.send({ type: "terminal.attach", terminalId });
    const start = await pieces.next("terminal.attached.start");
    const end = await pieces.next("terminal.attached.end");
    const chunks = pieces.frames.filter(({ type }) => type === "terminal.attached.chunk");
    expect(chunks.length).toBeGreaterThan(1);
    expect([start["totalChunks"], end["totalChunks"]]).toEqual([chunks.length, chunks.length]);
    expect(start["totalCodeUnits"]).toBe(String(snapshot).length);
    expect(chunks.map(({ chunk }) => chunk).join("")).toBe(snapshot);
    for (const frame of chunks) {
      expect(Buffer.byteLength(JSON.stringify(frame))).toBeLessThanOrEqual(16_384);
      expect(String(frame["chunk"])).toMatch(/^\P{Surrogate}*$/u);
    }
    expect(pieces.frames.some(({ type }) => type === "terminal.output" || type === "terminal.attached")).toBe(false);
  });
});

describe("F237: a client that does not read", () => {
  test("is disconnected with 4008, and others are not affected", async () => {
    const { terminalId } = await freshell.create();
    const [stalled, reading] = [await freshell.connect(), await freshell.connect()];
    for (const client of [stalled, reading]) {
      client.send({ type: "terminal.attach", terminalId });
      await client.next("terminal.attached");
    }
    const attachments = async (): Promise<string | undefined> =>
      /^freshell_attachments (\d+)$/m.exec((await freshell.call("GET", "/api/metrics")).text)?.[1];
    expect(await attachments()).toBe("2");
    stalled.socket.pause();
    let sent = 0;
    while ((await attachments()) === "2") {
      sent += 1;
      await freshell.call("POST", `/api/terminals/${terminalId}/input`, { data: `<${sent}>${"x".repeat(500_000)}` });
      await reading.shows(terminalId, `<${sent}>`);
    }
    stalled.socket.resume();
    expect((await stalled.closed).code).toBe(4_008);
    await freshell.call("POST", `/api/terminals/${terminalId}/input`, { data: "<last>" });
    await reading.shows(terminalId, "<last>");
    for (let at = 1; at <= sent; at += 1) expect(reading.text(terminalId).split(`<${at}>`)).toHaveLength(2);
    expect(reading.frames.some((frame) => "gap" in frame)).toBe(false);
  });
});
