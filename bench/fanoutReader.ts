/** Readers of one pane in a process of their own: WebSockets that take every frame and count its bytes. */
import { WebSocket } from "ws";
import { decodeStreamFrame, STREAM_PROTOCOL } from "../protocol/api/native/nativeFrames.ts";

const [port, count] = process.argv.slice(2).map(Number);
let bytes = 0;
let subscribed = 0;
for (let index = 0; index < (count ?? 0); index += 1) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/stream`, [STREAM_PROTOCOL]);
  socket.on("open", () => {
    socket.send(JSON.stringify({ type: "subscribe", id: 1, server: "main", pane: "0", creditBytes: 1_073_741_824 }));
  });
  socket.on("message", (data: Buffer, isBinary) => {
    if (isBinary) {
      bytes += decodeStreamFrame(data)?.bytes.length ?? 0;
      return;
    }
    subscribed += 1;
    if (subscribed === count) process.send?.({ ready: true });
  });
}
process.on("message", () => process.send?.({ bytes }));
process.on("disconnect", () => process.exit(0));
