/**
 * The least a daemon between two processes can be, in a process of its own: a WebSocket server, a naive control client, and
 * nothing else. A message is typed, output is sent as it comes; `capture` returns the screen.
 */
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { openPtyTransport } from "../daemon/host/clients/ptyTransport.ts";
import { ASKS_FOR_CAPTURE, ECHO, naiveReady } from "./echoBench.ts";
import { naivePane } from "./privateServer.ts";

const naive = await naivePane(ECHO, openPtyTransport);
await naiveReady(naive);
const { client, pane } = naive;
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("connection", (socket) => {
  client.onOutput = (text) => socket.send(text);
  socket.on("message", (data: Buffer) => {
    const text = data.toString("utf8");
    if (text !== ASKS_FOR_CAPTURE) void client.command(`send-keys -t ${pane} -l ${text}`);
    else void client.command(`capture-pane -p -t ${pane}`).then((screen) => socket.send(screen));
  });
});
server.on("listening", () => process.send?.({ port: (server.address() as AddressInfo).port }));

async function end(): Promise<void> {
  await naive[Symbol.asyncDispose]();
  process.exit(0);
}
process.on("disconnect", () => void end());
