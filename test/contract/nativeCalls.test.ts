/** Operations called over the WebSocket: finished in any order, bounded, given up with their connection. */
import { describe, expect, test } from "vitest";
import { MAX_CALLS } from "../../adapters/native/socketCalls.ts";
import { eventually } from "../support/clock/eventually.ts";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";
import { RawSocket } from "../support/daemon/nativeSocket.ts";

async function withSession() {
  const server = stubServer();
  await server.createSession({ name: "work" });
  const fixture = await nativeFixture(server);
  return { ...fixture, server };
}

const call = (id: number, operation: string, more: object = {}) => ({ type: "call", id, operation, ...more });
const PANE = { server: "main", pane: "work" };
const forever = (id: number, pane = "work") =>
  call(id, "wait", { server: "main", pane, input: { pattern: { literal: "never" } } });

describe("calls", () => {
  test("respond when they end, in any order", async () => {
    await using api = await withSession();
    await using socket = await RawSocket.open(api.port);
    socket.send(call(1, "wait", { ...PANE, input: { pattern: { literal: "gone" } } }));
    socket.send(call(2, "capture", { ...PANE, input: { lines: 3 } }));
    socket.send(call(3, "input", { ...PANE, input: { parts: [{ kind: "text", text: "gone" }] } }));
    await eventually(() => socket.messages.length === 3);
    expect(new Set(socket.messages.map(({ id }) => id))).toEqual(new Set([1, 2, 3]));
    expect(socket.messages.find(({ id }) => id === 1)).toMatchObject({
      type: "result",
      output: { matched: [{ text: "gone" }] },
    });
  });

  test.each([
    [call(7, "shout"), "INVALID_ARGUMENT", "operation"],
    [call(7, "toString"), "INVALID_ARGUMENT", "operation"],
    [call(7, "capture", { server: "main" }), "INVALID_ARGUMENT", "pane"],
    [call(7, "listPanes", PANE), "INVALID_ARGUMENT", "pane"],
    [call(7, "capture", { ...PANE, input: { lines: "3" } }), "INVALID_ARGUMENT", "lines"],
    [call(7, "capture", { ...PANE, input: [] }), "INVALID_ARGUMENT", ""],
    [call(7, "capture", { ...PANE, input: null }), "INVALID_ARGUMENT", ""],
    [call(7, "capture", { ...PANE, inputs: {} }), "INVALID_ARGUMENT", "inputs"],
    [call(7, "capture", { server: "main", pane: "wor" }), "NOT_FOUND", "wor"],
  ])("refuse %j", async (message, code, word) => {
    await using api = await withSession();
    await using socket = await RawSocket.open(api.port);
    socket.send(message);
    const response = await socket.message("error");
    expect(response).toMatchObject({ id: 7, code });
    expect(response["message"]).toContain(word);
  });

  test("are cancelled one by one, and all together when the connection closes", async () => {
    await using api = await withSession();
    const socket = await RawSocket.open(api.port);
    for (const id of [1, 2, 3]) socket.send(forever(id));
    await eventually(() => api.waits.metrics().wait_active === 3);
    socket.send({ type: "cancel", id: 2 });
    expect(await socket.message("error")).toMatchObject({ id: 2, code: "CANCELLED" });
    expect(api.waits.metrics().wait_active).toBe(2);
    // Nothing under way has this id any more.
    socket.send({ type: "cancel", id: 2 });
    await socket[Symbol.asyncDispose]();
    await eventually(() => api.waits.metrics().wait_active === 0);
  });

  test("are bounded in number, and ids are unique", async () => {
    await using api = await withSession();
    await using socket = await RawSocket.open(api.port);
    // One pane takes fewer waits.
    const names = Array.from({ length: MAX_CALLS / 32 }, (_, index) => `s${index}`);
    await Promise.all(names.map((name) => api.server.createSession({ name })));
    for (let id = 1; id <= MAX_CALLS; id += 1) socket.send(forever(id, names[id % names.length]));
    socket.send(forever(1));
    expect(await socket.message("error")).toMatchObject({ id: 1, code: "ALREADY_EXISTS" });
    socket.messages.length = 0;
    socket.send(forever(MAX_CALLS + 1));
    expect(await socket.message("error")).toMatchObject({ id: MAX_CALLS + 1, code: "RESOURCE_LIMIT" });
    expect(api.waits.metrics().wait_active).toBe(MAX_CALLS);
  });
});
