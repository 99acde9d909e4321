/** Readers of a WebSocket in a process of their own, so that what they cost is not the daemon's. Told over IPC. */
import { WebSocket } from "ws";

const [url = "", protocol = "", messages = "[]", count = "1"] = process.argv.slice(2);
const hello = /** @type {object[]} */ (JSON.parse(messages));
let bytes = 0;
const sockets = await Promise.all(
  Array.from({ length: Number(count) }, async () => {
    const socket = new WebSocket(url, protocol === "" ? [] : [protocol]);
    socket.on("message", (data) => {
      bytes += data.length;
    });
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    for (const message of hello) socket.send(JSON.stringify(message));
    return socket;
  }),
);
process.on("message", () => process.send(bytes));
process.on("disconnect", () => process.exit(0));
process.send(sockets.length);
