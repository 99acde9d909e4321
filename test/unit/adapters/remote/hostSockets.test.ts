/** A client's WebSocket on another machine that takes nothing for a while. */
import { mkdirSync } from "node:fs";
import type { Socket } from "node:net";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { HostSockets } from "../../../../adapters/remote/hostSockets.ts";
import type { RemoteHosts } from "../../../../adapters/remote/remoteHosts.ts";
import type { StreamMessage, StreamRequest } from "../../../../protocol/api/native/nativeStream.ts";
import { STREAM_MAX_MESSAGE_BYTES } from "../../../../protocol/api/native/nativeFrames.ts";
import { AppError } from "../../../../protocol/errors.ts";
import { Waiters } from "../../../support/clock/waiters.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

test("credit that the host does not take yet is granted once it does", async () => {
  const waiters = new Waiters();
  const socketPath = join(ownDirectory(), "far.sock");
  const http = createServer();
  const far = new WebSocketServer({ server: http });
  const received: StreamRequest[] = [];
  let theirs: WebSocket | undefined;
  let wire: Socket | undefined;
  far.on("connection", (socket, request) => {
    theirs = socket;
    wire = request.socket;
    socket.on("message", (data: Buffer) => {
      received.push(JSON.parse(data.toString()) as StreamRequest);
      waiters.probe();
    });
  });
  await new Promise<void>((resolve) => http.listen(socketPath, resolve));
  const sent: StreamMessage[] = [];
  const host = {
    name: "far",
    link: { connection: () => Promise.resolve({ socketPath, host: {} }) },
    probe: () => Promise.resolve(),
    lost: () => new AppError("CONNECTION_LOST", "lost"),
  };
  const hosts = { find: ({ pane }: { pane: string }) => ({ host, names: { server: "main", pane } }) };
  const sockets = new HostSockets(hosts as unknown as RemoteHosts, {
    newChannel: () => 1,
    room: () => 1,
    send: (message) => {
      sent.push(message);
      waiters.probe();
    },
    binary: () => undefined,
    fail: (_id, error) => {
      throw error;
    },
  });
  try {
    sockets.take({ type: "subscribe", id: 1, server: "main@far", pane: "%1" });
    await waiters.until(() => (received.length === 1 ? true : undefined));
    theirs?.send(JSON.stringify({ type: "subscribed", id: 1, server: "main", channel: 7 }));
    await waiters.until(() => (sent.length === 1 ? true : undefined));
    wire?.pause();
    const parts = [{ kind: "text" as const, text: "x".repeat(STREAM_MAX_MESSAGE_BYTES / 2) }];
    const type = (id: number): boolean => sockets.take({ type: "input", id, server: "main@far", pane: "%1", parts });
    let id = 2;
    expect(() => {
      for (; id < 20; id += 1) type(id);
    }).toThrow(/takes nothing/);
    const last = { kind: "text" as const, text: "x".repeat(1_024) };
    expect(() => {
      for (;;) sockets.take({ type: "input", id: (id += 1), server: "main@far", pane: "%1", parts: [last] });
    }).toThrow(/takes nothing/);
    for (let more = 0; more < 100; more += 1)
      expect(sockets.take({ type: "credit", channel: 1, bytes: 10 })).toBe(true);
    wire?.resume();
    const granted = (): number =>
      received.reduce(
        (sum, request) => sum + (request.type === "credit" && request.channel === 7 ? request.bytes : 0),
        0,
      );
    await waiters.until(() => (granted() === 1_000 ? true : undefined));
    expect(sent.map(({ type: kind }) => kind)).toEqual(["subscribed"]);
  } finally {
    sockets.close();
    far.close();
    http.closeAllConnections();
    http.close();
  }
});

test("a host is reached through a socket below a folder with any name", async () => {
  const folder = join(ownDirectory(), "jürgen #1 a?b%20c");
  mkdirSync(folder);
  const socketPath = join(folder, "far.sock");
  const http = createServer();
  const far = new WebSocketServer({ server: http });
  const arrived = new Promise<StreamRequest>((resolve) => {
    far.on("connection", (socket) =>
      socket.on("message", (data: Buffer) => resolve(JSON.parse(data.toString()) as StreamRequest)),
    );
  });
  await new Promise<void>((resolve) => http.listen(socketPath, resolve));
  const host = {
    name: "far",
    link: { connection: () => Promise.resolve({ socketPath, host: {} }) },
    probe: () => Promise.resolve(),
    lost: () => new AppError("CONNECTION_LOST", "lost"),
  };
  const hosts = { find: () => ({ host, names: { server: "main", pane: "%1" } }) } as unknown as RemoteHosts;
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => (fail = reject));
  const client = { newChannel: () => 1, room: () => 1, send: () => undefined, binary: () => undefined };
  const sockets = new HostSockets(hosts, { ...client, fail: (_id, error) => fail(error) });
  try {
    sockets.take({ type: "subscribe", id: 1, server: "main@far", pane: "%1" });
    expect(await Promise.race([arrived, failed])).toMatchObject({ type: "subscribe", server: "main" });
  } finally {
    sockets.close();
    far.close();
    http.closeAllConnections();
    http.close();
  }
});
