/** Readers of a WebSocket in a process of their own, so that what they cost is not the daemon's. Told over IPC. */
import { WebSocket } from "ws";

/** @type {{ url: string, protocols: string[], hello: object[], count: number }} */
const { url, protocols, hello, count } = JSON.parse(process.argv[2] ?? "{}");
let bytes = 0;
const sockets = await Promise.all(
  Array.from({ length: count }, async () => {
    const socket = new WebSocket(url, protocols);
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
