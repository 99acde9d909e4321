/**
 * Readers of one pane in a process of their own: WebSockets that take every frame and count its bytes, or with `raw` plain
 * connections that count what comes.
 */
import { connect } from "node:net";
import { WebSocket } from "ws";
import { decodeStreamFrame, STREAM_PROTOCOL } from "../protocol/api/native/nativeFrames.ts";

const [port = 0, count = 0] = process.argv.slice(2, 4).map(Number);
const isRaw = process.argv[4] === "raw";
let bytes = 0;
let subscribed = 0;
const begun = (): void => {
  subscribed += 1;
  if (subscribed === count) process.send?.({ ready: true });
};
for (let index = 0; index < count; index += 1) {
  if (isRaw) readRaw();
  else readFrames();
}
process.on("message", () => process.send?.({ bytes }));
process.on("disconnect", () => process.exit(0));

function readFrames(): void {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/stream`, [STREAM_PROTOCOL]);
  socket.on("open", () => {
    socket.send(JSON.stringify({ type: "subscribe", id: 1, server: "main", pane: "0", creditBytes: 1_073_741_824 }));
  });
  socket.on("message", (data: Buffer, isBinary) => {
    if (isBinary) bytes += decodeStreamFrame(data)?.bytes.length ?? 0;
    else begun();
  });
}

/** The first byte says that it has begun. */
function readRaw(): void {
  let isFirst = true;
  connect(port, "127.0.0.1").on("data", (data) => {
    bytes += data.length;
    if (!isFirst) return;
    isFirst = false;
    bytes -= 1;
    begun();
  });
}
