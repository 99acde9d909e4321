/** Subscribers that are slow, stingy or gone: they cost themselves something, and nobody else anything. */
import { once } from "node:events";
import { connect } from "node:net";
import { WebSocket } from "ws";
import { describe, expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { decodeStreamFrame } from "../../protocol/api/native/nativeFrames.ts";
import { isThroughHost, nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";
import { Reader } from "../support/daemon/nativeReader.ts";
import { RawSocket } from "../support/daemon/nativeSocket.ts";

async function withPane(streamBounds: { stallMs?: number; bufferBytes?: number } = {}) {
  const server = stubServer(65_536);
  await server.createSession({ name: "work" });
  const fixture = await nativeFixture(server, { streamBounds });
  const client = createClient({ url: fixture.url });
  const pane = client.server("main").pane("work");
  const metric = async (pattern: RegExp) =>
    Number(pattern.exec((await fixture.call("GET", "/metrics")).text)?.[1] ?? 0);
  return { ...fixture, server, client, pane, metric };
}

interface Lazy {
  readonly closed: Promise<void>;
  /** Reads after all: only then does a socket see that its other end is gone. */
  resume(): void;
}

/** Asks for a stream and reads nothing of it. */
const neverRead = {
  sse: async (port: number): Promise<Lazy> => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.pause();
    socket.write("GET /v1/servers/main/panes/work/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return { closed: once(socket, "close").then(() => undefined), resume: () => void socket.resume() };
  },
  websocket: async (port: number): Promise<Lazy> => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/stream`, ["tmuxwire.v1"]);
    socket.on("error", () => undefined);
    await once(socket, "open");
    const subscribe = { type: "subscribe", id: 1, server: "main", pane: "work", creditBytes: 1_000_000_000 };
    socket.send(JSON.stringify(subscribe));
    socket.pause();
    return { closed: once(socket, "close").then(() => undefined), resume: () => socket.resume() };
  },
};

const LINE = "x".repeat(32_767);

describe("a reader that never reads", () => {
  test.each(["sse", "websocket"] as const)(
    "by %s is closed after a bound, and others get every byte meanwhile",
    async (transport) => {
      await using api = await withPane({ stallMs: 200, bufferBytes: 65_536 });
      await using reader = new Reader(api.pane.follow());
      await reader.next();
      const lazy = await neverRead[transport](api.port);
      await expect.poll(() => api.metric(/subscribers\{server="main"\} (\d+)/)).toBe(2);
      const stalled = new RegExp(`stalled_total\\{transport="${transport}"\\} (\\d+)`);
      // More than the kernel holds for a socket, however much that is.
      for (let line = 0; line % 20 !== 0 || (await api.metric(stalled)) === 0; line += 1) {
        await api.pane.type(LINE);
        expect(await reader.text(32_768)).toBe(`${LINE}\n`);
      }
      expect(await api.metric(stalled)).toBe(1);
      lazy.resume();
      await lazy.closed;
      expect(await api.metric(/subscribers\{server="main"\} (\d+)/)).toBe(1);
    },
  );
});

describe("the WebSocket", () => {
  test("sends while there is credit, stops without, goes on with more", async () => {
    await using api = await withPane();
    await using socket = await RawSocket.open(api.port);
    socket.send({ type: "subscribe", id: 1, server: "main", pane: "0", creditBytes: 10 });
    const { channel, position } = await socket.message("subscribed");
    await api.pane.type("0123456789");
    await api.pane.type("abc");
    await expect.poll(() => socket.frames.length).toBe(1);
    socket.send({ type: "credit", channel, bytes: 100 });
    await expect.poll(() => socket.frames.length).toBe(2);
    const frames = socket.frames.map((frame) => decodeStreamFrame(frame)!);
    expect(frames.map((frame) => Buffer.from(frame.bytes).toString())).toEqual(["0123456789\n", "abc\n"]);
    expect(frames.map((frame) => frame.outputSeq)).toEqual([0, 11]);
    expect(frames.map((frame) => frame.channel)).toEqual([channel, channel]);
    expect(position).toBe(`${api.server.status().epoch}:0`);
  });

  test("a channel without credit that falls behind the ring gets a gap and a snapshot and continues", async () => {
    await using api = await withPane();
    await using socket = await RawSocket.open(api.port);
    socket.send({ type: "subscribe", id: 1, server: "main", pane: "0", creditBytes: 1 });
    const { channel } = await socket.message("subscribed");
    for (let line = 0; line < 10; line += 1) await api.pane.type(LINE);
    await expect.poll(() => socket.frames.length).toBe(1);
    const from = decodeStreamFrame(socket.frames[0]!)!.bytes.length;
    socket.send({ type: "credit", channel, bytes: 1_000_000 });
    const { epoch } = api.server.status();
    expect(await socket.message("gap")).toMatchObject({
      from: `${epoch}:${from}`,
      to: `${epoch}:327680`,
      reason: "evicted",
    });
    expect(await socket.message("snapshot")).toMatchObject({ channel, position: `${epoch}:327680` });
    await api.pane.type("on");
    await expect.poll(() => socket.frames.length).toBe(2);
    expect(decodeStreamFrame(socket.frames[1]!)).toMatchObject({ channel, outputSeq: 327_680 });
  });

  test("types, resizes, follows a pane once and unfollows it", async () => {
    await using api = await withPane();
    await using socket = await RawSocket.open(api.port);
    socket.send({ type: "input", id: 7, server: "main", pane: "work", parts: [{ kind: "text", text: "hi" }] });
    expect(await socket.message("ack")).toEqual({ type: "ack", id: 7, position: `${api.server.status().epoch}:0` });
    socket.send({ type: "resize", id: 8, server: "main", pane: "0", cols: 99, rows: 9 });
    await expect.poll(() => api.server.panes()[0]?.cols).toBe(99);
    socket.send({ type: "subscribe", id: 9, server: "main", pane: "0" });
    socket.send({ type: "subscribe", id: 10, server: "main", pane: "0" });
    expect(await socket.message("error")).toMatchObject({ id: 10, code: "ALREADY_EXISTS" });
    const { channel } = await socket.message("subscribed");
    socket.send({ type: "unsubscribe", id: 11, channel });
    await expect.poll(() => socket.messages.some((message) => message["id"] === 11)).toBe(true);
    await api.pane.type("unheard");
    expect(await api.metric(/subscribers\{server="main"\} (\d+)/)).toBe(0);
    expect(socket.frames).toEqual([]);
  });

  test.each([
    ["no JSON", "{", null],
    ["no object", "[1]", null],
    ["an unknown type", { type: "shout", id: 3 }, 3],
    ["a misspelt field", { type: "subscribe", id: 4, server: "main", pane: "0", form: "now" }, 4],
    ["no server", { type: "subscribe", id: 5, server: "none", pane: "0" }, 5],
    ["a start that is none", { type: "subscribe", id: 6, server: "main", pane: "0", from: "tail:x" }, 6],
    ["a bad key", { type: "input", id: 2, server: "main", pane: "0", parts: [{ kind: "text" }] }, 2],
  ])("responds to %s with an error and stays open", async (_name, message, id) => {
    await using api = await withPane();
    await using socket = await RawSocket.open(api.port);
    socket.send(message);
    expect(await socket.message("error")).toMatchObject({ id });
    socket.send({ type: "subscribe", id: 1, server: "main", pane: "0" });
    expect(await socket.message("subscribed")).toMatchObject({ pane: "%0" });
  });

  test("a binary message is an error, one that is too long ends the connection", async () => {
    await using api = await withPane();
    await using socket = await RawSocket.open(api.port);
    socket.sendBinary(new Uint8Array(5));
    expect(await socket.message("error")).toMatchObject({ id: null, code: "INVALID_ARGUMENT" });
    socket.send("x".repeat(2_100_000));
    await expect.poll(() => socket.closeCode).toBe(1009);
    expect((await api.call("GET", "/livez")).status).toBe(200);
  });

  // Each client has its own connection to another machine.
  test.skipIf(isThroughHost)("all subscribers of a pane share its frames", async () => {
    await using api = await withPane();
    await using one = await RawSocket.open(api.port);
    await using two = await RawSocket.open(api.port);
    for (const socket of [one, two]) {
      socket.send({ type: "subscribe", id: 1, server: "main", pane: "0" });
      await socket.message("subscribed");
    }
    await api.pane.type("same");
    await expect.poll(() => one.frames.length + two.frames.length).toBe(2);
    expect(one.frames).toEqual(two.frames);
  });
});
