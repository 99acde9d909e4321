/** Frames that are written past the WebSocket library stand in one order with its own, and are whole. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { WebSocket, type WebSocketServer } from "ws";
import { emptyFrame } from "../../adapters/kit/streams/messageFrame.ts";
import { createWebSocketServer, SocketWriter } from "../../adapters/kit/streams/websocket.ts";
import { systemClock } from "../../daemon/time/clock.ts";

const SIZES = [0, 1, 125, 126, 65_535, 65_536, 300_000];

function frameOf(bytes: number): Buffer {
  const { frame, at } = emptyFrame("binary", bytes);
  return frame.fill(bytes % 251, at);
}

test("texts, frames of every size, pings and the close frame, to two readers of the same bytes", async () => {
  const routes = createWebSocketServer({ paths: ["/"], protocol: undefined, maxMessageBytes: 1, clock: systemClock });
  const library = routes.server as unknown as WebSocketServer;
  const frames = SIZES.map(frameOf);
  const http = createServer().on("upgrade", (request, socket, head) => {
    library.handleUpgrade(request, socket, head, (websocket) => {
      library.emit("connection", websocket, request);
      const writer = new SocketWriter({
        socket: websocket,
        clock: systemClock,
        onDrain: () => undefined,
        onStall: () => undefined,
      });
      for (const [index, frame] of frames.entries()) {
        writer.text(`before ${index}`);
        writer.frame(frame);
        websocket.ping(String(index));
      }
      writer.close();
      websocket.close(1_001, "over");
      // After the close frame nothing may come.
      writer.frame(frames[1]!);
    });
  });
  await once(http.listen(0, "127.0.0.1"), "listening");
  const { port } = http.address() as AddressInfo;
  const expected = SIZES.flatMap((bytes, index) => [`before ${index}`, `${bytes} × ${bytes % 251}`, `ping ${index}`]);
  try {
    for (const got of await Promise.all([received(port), received(port)])) {
      expect(got).toEqual([...expected, "close 1001 over"]);
    }
  } finally {
    http.close();
    http.closeAllConnections();
  }
});

async function received(port: number): Promise<string[]> {
  const got: string[] = [];
  const client = new WebSocket(`ws://127.0.0.1:${port}/`);
  client.on("message", (data: Buffer, isBinary) => {
    if (!isBinary) got.push(data.toString());
    else got.push(`${data.length} × ${[...new Set(data)].join() || data.length % 251}`);
  });
  client.on("ping", (data) => got.push(`ping ${data.toString()}`));
  const [code, reason] = (await once(client, "close")) as [number, Buffer];
  got.push(`close ${code} ${reason.toString()}`);
  return got;
}
