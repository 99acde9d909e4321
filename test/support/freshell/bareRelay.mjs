// oxlint-disable typescript/no-unsafe-assignment, typescript/no-base-to-string, typescript/strict-boolean-expressions -- plain JavaScript: frames have no types here
/**
 * What is below any relay: the same frames between the same kinds of clients, each parsed once and handed on, and nothing
 * looked at. What Freshell takes beside it is what Freshell adds. Started as a program it says its port, and ends with its
 * parent.
 */
import { once } from "node:events";
import { pathToFileURL } from "node:url";
import { WebSocketServer } from "ws";

/** Resolves with where it listens, and how it is ended. */
export async function bareRelay() {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  await once(server, "listening");
  const owners = new Map();
  const callers = new Map();
  server.on("connection", (socket) => {
    socket.on("error", () => undefined);
    socket.on("message", (data) => {
      const frame = JSON.parse(data.toString());
      const { type, requestId } = frame;
      if (type === "hello") {
        if (frame.device?.role === "owner") owners.set(frame.device.deviceId, socket);
        socket.send(JSON.stringify({ type: "ready" }));
      } else if (type === "ping") socket.send(JSON.stringify({ type: "pong", timestamp: new Date().toISOString() }));
      else if (type === "layout.rpc.request") {
        callers.set(requestId, socket);
        owners.get(frame.targetDeviceId).send(JSON.stringify({ ...frame, phase: "apply", deadlineMs: 15_000 }));
      } else if (type === "layout.rpc.result") {
        callers.get(requestId)?.send(JSON.stringify(frame));
        callers.delete(requestId);
      }
    });
  });
  const { port } = server.address();
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { url } = await bareRelay();
  process.send?.({ url });
  process.on("disconnect", () => process.exit());
}
