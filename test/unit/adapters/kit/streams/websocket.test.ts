/**
 * Whether the peer of a WebSocket is there: one that says something is not asked, one that returns no ping is given up. What
 * is buffered for it, and what its messages hold of the budget for bodies.
 */
import { EventEmitter, once } from "node:events";
import type { Socket } from "node:net";
import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket as Client, type WebSocket } from "ws";
import { systemClock } from "../../../../../daemon/time/clock.ts";
import type { GuardEnv } from "../../../../../adapters/kit/guard/requestGuard.ts";
import { listen } from "../../../../../adapters/kit/listeners/listen.ts";
import { bodyBudget } from "../../../../../adapters/kit/guard/body.ts";
import { MAX_BODY_BYTES_ALONE } from "../../../../../adapters/kit/peers/httpLimits.ts";
import { createWebSocketServer, SocketWriter, upgradeSocket } from "../../../../../adapters/kit/streams/websocket.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

function scene(bounds: Partial<ConstructorParameters<typeof SocketWriter>[0]> = {}) {
  const clock = new FakeClock();
  const asked: number[] = [];
  const events: string[] = [];
  const socket = Object.assign(new EventEmitter(), {
    readyState: 1,
    OPEN: 1,
    bufferedAmount: 0,
    sent: [] as unknown[],
    flushed: () => undefined as void,
    send(frame: unknown, { binary }: { binary: boolean }, flushed: () => void) {
      socket.sent.push([frame, binary]);
      socket.flushed = flushed;
    },
    ping: () => void asked.push(clock.nowMs()),
    terminate: () => void events.push(`terminated at ${clock.nowMs()}`),
  });
  const writer = new SocketWriter({
    socket: socket as unknown as WebSocket,
    clock,
    onDrain: () => void events.push("drained"),
    onStall: () => void events.push("stalled"),
    ...bounds,
  });
  return { clock, socket, writer, asked, events };
}

test("a peer that is heard of is not asked whether it is there", () => {
  const { clock, writer, asked, events } = scene();
  for (let at = 0; at < 60; at += 1) {
    writer.received();
    clock.advanceMs(5_000);
  }
  expect([asked, events]).toEqual([[], []]);
});

test("one that was heard of and is silent now is asked, and given up when it returns no ping", () => {
  const { clock, writer, asked, events } = scene();
  writer.received();
  clock.advanceMs(30_000);
  expect(asked).toEqual([30_000]);
  clock.advanceMs(29_999);
  expect(events).toEqual([]);
  clock.advanceMs(15_001);
  expect(events).toEqual(["stalled", "terminated at 60000"]);
  expect(asked).toEqual([30_000]);
});

test("one that is silent and returns pings is kept", () => {
  const { clock, socket, asked, events } = scene();
  for (let at = 0; at < 8; at += 1) {
    clock.advanceMs(15_000);
    socket.emit("pong");
  }
  expect([asked.length, events]).toEqual([8, []]);
});

test("there is room up to the bound; the reader is told when half of it is empty", () => {
  const { socket, writer, events } = scene({ bufferBytes: 100 });
  const leave = (bytes: number): void => {
    socket.bufferedAmount = bytes;
    socket.flushed();
  };
  writer.binary(new Uint8Array(1));
  writer.text("{}");
  expect(socket.sent).toEqual([
    [new Uint8Array(1), true],
    ["{}", false],
  ]);
  socket.bufferedAmount = 99;
  expect(writer.room()).toBe(1);
  leave(0);
  expect(events).toEqual([]);
  socket.bufferedAmount = 100;
  expect(writer.room()).toBe(0);
  leave(51);
  expect(events).toEqual([]);
  leave(50);
  expect(events).toEqual(["drained"]);
  leave(0);
  expect(events).toEqual(["drained"]);
  socket.readyState = 2;
  writer.binary(new Uint8Array(1));
  writer.text("{}");
  expect(socket.sent).toHaveLength(2);
});

test("a reader that takes nothing for the whole time is given up, one that takes a little is not", () => {
  const { clock, socket, writer, events } = scene({ bufferBytes: 100, stallMs: 1_000 });
  socket.bufferedAmount = 120;
  writer.room();
  clock.advanceMs(500);
  writer.room();
  socket.bufferedAmount = 119;
  clock.advanceMs(500);
  writer.received();
  clock.advanceMs(999);
  writer.received();
  expect(events).toEqual([]);
  clock.advanceMs(1);
  expect(events).toEqual(["stalled", "terminated at 2000"]);
});

test("its time ends when it has taken enough, and when the caller closes", () => {
  const { clock, socket, writer, events } = scene({ bufferBytes: 100, stallMs: 1_000 });
  writer.text("{}");
  socket.bufferedAmount = 120;
  writer.room();
  socket.bufferedAmount = 0;
  socket.flushed();
  expect([events.splice(0), clock.pendingTimers]).toEqual([["drained"], 1]);
  socket.bufferedAmount = 120;
  writer.room();
  writer.close();
  expect(clock.pendingTimers).toBe(0);
});

test.each([
  ["8 MiB", {}, 8_388_608],
  ["what is set", { maxBufferedBytes: 10 }, 10],
])("responses that are not read end the connection above %s", (_what, bounds, bytes) => {
  const { socket, writer, events } = scene(bounds);
  socket.bufferedAmount = bytes;
  writer.text("{}");
  expect(events).toEqual([]);
  socket.bufferedAmount += 1;
  writer.text("{}");
  expect(events).toEqual(["stalled", "terminated at 0"]);
});

/** A connection whose client sends chunks; what a message holds of the budget. */
function connected() {
  const clock = new FakeClock();
  const socket = Object.assign(new EventEmitter(), { destroySoon: () => void events.push("destroyed") });
  const events: string[] = [];
  const websocket = Object.assign(new EventEmitter(), {
    isPaused: false,
    pause: () => void (websocket.isPaused = true),
    resume: () => void (websocket.isPaused = false),
    close: (code: number) => void events.push(`closed ${code} at ${clock.nowMs()}`),
  });
  const { server } = createWebSocketServer({ paths: [], protocol: "p", maxMessageBytes: 1_000, clock });
  (server as unknown as EventEmitter).emit("connection", websocket, { socket });
  const before = bodyBudget.heldBytes;
  return { clock, socket, websocket, events, held: () => bodyBudget.heldBytes - before };
}

test("a message holds its bytes from the first one on; the answer to a ping holds none", () => {
  const { clock, socket, websocket, held } = connected();
  socket.emit("data", Buffer.alloc(100));
  expect([held(), clock.pendingTimers]).toEqual([100, 1]);
  // Within the message.
  socket.emit("data", Buffer.alloc(10));
  websocket.emit("pong", Buffer.alloc(4));
  expect([held(), clock.pendingTimers]).toEqual([100, 1]);
  websocket.emit("ping", Buffer.alloc(94));
  expect([held(), clock.pendingTimers]).toEqual([0, 0]);
  socket.emit("data", Buffer.alloc(50));
  expect([held(), clock.pendingTimers]).toEqual([50, 1]);
  websocket.emit("close");
  expect([held(), clock.pendingTimers]).toEqual([0, 0]);
});

test("without room the socket is not read until there is some", () => {
  const { socket, websocket, held } = connected();
  const others = {};
  expect(bodyBudget.hold(others, MAX_BODY_BYTES_ALONE)).toBe(true);
  const [full, big] = [held(), 4_000_000];
  socket.emit("data", Buffer.alloc(big));
  expect([held() - full, websocket.isPaused]).toEqual([0, true]);
  // Not of the message: there is less to find room for.
  websocket.emit("pong", Buffer.alloc(994));
  bodyBudget.release(others, MAX_BODY_BYTES_ALONE);
  expect([held(), websocket.isPaused]).toEqual([big - 1_000, false]);
  websocket.emit("close");
  expect(held()).toBe(0);
});

test("a message that does not arrive within half a minute, however many pieces come, ends its connection", () => {
  const { clock, socket, websocket, events } = connected();
  for (let second = 0; second < 30; second += 1) {
    expect(events).toEqual([]);
    socket.emit("data", Buffer.alloc(1));
    clock.advanceMs(1_000);
  }
  expect(events).toEqual(["closed 1013 at 30000", "destroyed"]);
  websocket.emit("close");
});

/** A listener with a WebSocket at `/ws`, whose messages are settled by the test. */
async function listening() {
  const seen: unknown[] = [];
  const settles: { resolve: () => void; reject: () => void }[] = [];
  const sockets: WebSocket[] = [];
  const app = new Hono<GuardEnv>();
  const upgrade = upgradeSocket(
    (socket) => {
      sockets.push(socket);
      return {
        message: (data) => {
          seen.push(data);
          if (data === "throw") throw new Error("thrown");
          if (data === "nothing") return undefined;
          return new Promise((resolve, reject) => settles.push({ resolve: () => resolve(1), reject: () => reject() }));
        },
        closed: () => void seen.push("closed"),
      };
    },
    (error) => void seen.push((error as Error).message),
  );
  app.get("/ws", async (c) => (await upgrade(c)) ?? c.text("no upgrade"));
  const clock = systemClock;
  const websocket = createWebSocketServer({ paths: ["/ws"], protocol: undefined, maxMessageBytes: 1_000, clock });
  const listener = await listen({ host: "127.0.0.1", port: 0, clock, websocket, fetch: app.fetch });
  onTestFinished(() => listener.close());
  const client = new Client(`ws://127.0.0.1:${listener.port}/ws`);
  onTestFinished(() => client.terminate());
  return { client, seen, settles, sockets, url: `${listener.url}/ws` };
}

test("a message holds its bytes until its response is sent, however that ends", async () => {
  const { client, seen, settles, url } = await listening();
  const before = bodyBudget.heldBytes;
  const held = (): number => bodyBudget.heldBytes - before;
  await once(client, "open");
  expect(await (await fetch(url)).text()).toBe("no upgrade");
  client.send("text");
  client.send(Uint8Array.of(1, 2));
  await expect.poll(() => settles.length).toBe(2);
  expect(seen.splice(0)).toEqual(["text", Buffer.from([1, 2])]);
  expect(held()).toBeGreaterThan(0);
  for (const ending of ["nothing", "throw"]) client.send(ending);
  await expect.poll(() => seen).toEqual(["nothing", "throw", "thrown"]);
  settles[0]?.resolve();
  settles[1]?.reject();
  await expect.poll(held).toBe(0);
  client.close();
  await expect.poll(() => seen.at(-1)).toBe("closed");
});

test("all frames of a turn leave in one write", async () => {
  const { client, sockets } = await listening();
  await once(client, "open");
  await expect.poll(() => sockets.length).toBe(1);
  const [socket] = sockets;
  const writer = new SocketWriter({
    socket: socket!,
    clock: new FakeClock(),
    onDrain: () => undefined,
    onStall: () => undefined,
  });
  const { _socket: connection } = socket as unknown as { _socket: Socket };
  for (let turn = 0; turn < 2; turn += 1) {
    writer.text("one");
    writer.binary(Uint8Array.of(1));
    expect(connection.writableCorked).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(connection.writableCorked).toBe(0);
  }
});

test("the subprotocol that is chosen is ours, never the one with the token", () => {
  const chosen = (protocol: string | undefined, ...offered: readonly string[]): unknown => {
    const { server } = createWebSocketServer({ paths: [], protocol, maxMessageBytes: 1_000, clock: new FakeClock() });
    const { options } = server as unknown as { options: { handleProtocols: (offered: Set<string>) => unknown } };
    expect(options).toMatchObject({ maxPayload: 1_000, perMessageDeflate: false });
    return options.handleProtocols(new Set(offered));
  };
  expect([chosen("p", "token.x", "p"), chosen("p", "token.x"), chosen(undefined, "token.x")]).toEqual([
    "p",
    false,
    false,
  ]);
});
