// oxlint-disable typescript/no-unsafe-assignment, typescript/no-base-to-string, typescript/strict-boolean-expressions -- plain JavaScript: frames have no types here
/**
 * Owners and callers in a process of their own, so that what is measured is the server. Arguments: url, token, mode, count.
 * `presence`: so many owners, each heard of every 5 s. `requests`: one owner that responds at once, and a caller that asks so
 * often a second. Says `ready` once all are there, and how many responses have come when it is told to end.
 */
import { WebSocket } from "ws";

const [url = "", token = "", mode = "", count = "0"] = process.argv.slice(2);
const capabilities = { layoutOwnershipV1: true, layoutRpcV1: true, devicePresenceV1: true };

const open = (deviceId, role, onFrame) =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
    const device = { deviceId, deviceLabel: deviceId, deviceType: "cli", role };
    socket.once("error", reject);
    socket.once("open", () => socket.send(JSON.stringify({ type: "hello", token, capabilities, device })));
    socket.on("message", (data) => {
      const frame = JSON.parse(data.toString());
      if (frame.type === "ready") resolve(socket);
      else onFrame(frame, socket);
    });
  });

let answers = 0;
if (mode === "presence") {
  const ids = Array.from({ length: Number(count) }, (_, at) => `owner${at}`);
  const owners = await Promise.all(ids.map((id) => open(id, "owner", () => undefined)));
  for (const [at, socket] of owners.entries()) {
    const beat = () =>
      socket.send(JSON.stringify({ type: "device.presence", deviceId: ids[at], workspaceRevision: 1 }));
    setTimeout(() => setInterval(beat, 5_000), (5_000 * at) / owners.length);
  }
} else {
  const owner = await open("busy", "owner", (frame, socket) => {
    if (frame.type !== "layout.rpc.request") return;
    const { requestId, expectedRevision } = frame;
    socket.send(JSON.stringify({ type: "layout.rpc.ack", requestId }));
    socket.send(
      JSON.stringify({
        type: "layout.rpc.result",
        requestId,
        ok: true,
        result: {},
        appliedRevision: expectedRevision + 1,
      }),
    );
  });
  owner.send(JSON.stringify({ type: "device.presence", deviceId: "busy", remoteControl: { allow: ["*"] } }));
  const caller = await open("caller", "caller", (frame) => {
    if (frame.type === "layout.rpc.result" && frame.ok) answers += 1;
  });
  let asked = 0;
  setInterval(() => {
    for (let more = Number(count) / 100; more > 0; more -= 1) {
      asked += 1;
      caller.send(
        JSON.stringify({
          type: "layout.rpc.request",
          requestId: `r${asked}`,
          callerDeviceId: "caller",
          targetDeviceId: "busy",
          command: "kill-pane",
          args: { target: "pane:p1" },
          expectedRevision: 1,
        }),
      );
    }
  }, 10);
}
process.send?.("ready");
process.on("message", () => process.send?.({ answers }, () => process.exit()));
