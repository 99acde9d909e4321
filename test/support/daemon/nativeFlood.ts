/** A pane that floods, a subscriber that hashes, others that never read, and another pane that must stay quick. */
import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";
import { createClient } from "../../../adapters/client/client.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { echoPane } from "./nativeEchoPane.ts";
import { nativeFixture } from "./nativeServer.ts";
import { collectUntil, seen } from "../tmux/output.ts";

interface FloodResult {
  readonly bytes: number;
  readonly hash: string;
  readonly expectedHash: string;
  readonly gaps: number;
  readonly rssGrowthMb: number;
  readonly echoP99Ms: number;
  readonly elapsedMs: number;
  readonly lazyReaders: number;
}

interface FloodOptions {
  /** The pane prints the numbers from 1 to this, one per line. */
  readonly lines: number;
  readonly transport: "sse" | "websocket";
  readonly lazyReaders: number;
}

export async function flood(server: TmuxServer, options: FloodOptions): Promise<FloodResult> {
  await using api = await nativeFixture(server);
  const client = createClient({ url: api.url });
  const command = ["sh", "-c", `stty -echo; printf ready; read go; seq 1 ${options.lines}; printf '.'; exec cat`];
  const session = await server.createSession({ name: "flood", command });
  await seen(server.output(session.activePane!), 0, "ready");
  const quick = await echoPane(server, "quick", 80, 24);
  const lazy = [
    ...Array.from({ length: options.lazyReaders / 2 }, () => lazyEvents(api.port)),
    ...Array.from({ length: options.lazyReaders / 2 }, () => lazySocket(api.port)),
  ];
  const { hash: expectedHash, bytes: expectedBytes } = expected(options.lines);

  const socket = options.transport === "websocket" ? client.openSocket({ WebSocket }) : undefined;
  const events = socket?.follow("main", "flood") ?? client.server("main").pane("flood").follow();
  await events.next();
  const rssBefore = process.memoryUsage().rss;
  const startedMs = performance.now();
  await server.input(session.activePane!, [{ kind: "keys", keys: ["Enter"] }]);
  const hash = createHash("sha256");
  let bytes = 0;
  let gaps = 0;
  let rssMax = rssBefore;
  const echoes: number[] = [];
  const flooding = new AbortController();
  const measuring = (async () => {
    while (!flooding.signal.aborted) {
      const sentMs = performance.now();
      const from = quick.source.outputSeq;
      await server.input(quick.pane, [{ kind: "text", bytes: Buffer.from("ping") }]);
      await collectUntil(quick.source, from, (all) => all.length >= 4);
      echoes.push(performance.now() - sentMs);
      rssMax = Math.max(rssMax, process.memoryUsage().rss);
    }
  })();
  for await (const event of events) {
    if (event.kind === "gap") gaps += 1;
    if (event.kind !== "output") continue;
    const wanted = event.bytes.subarray(0, expectedBytes - bytes);
    hash.update(wanted);
    bytes += wanted.length;
    if (bytes >= expectedBytes) break;
  }
  flooding.abort();
  await measuring;
  const elapsedMs = performance.now() - startedMs;
  for (const reader of lazy) reader.destroy();
  socket?.close();
  echoes.sort((a, b) => a - b);
  return {
    bytes,
    hash: hash.digest("hex"),
    expectedHash,
    gaps,
    rssGrowthMb: (rssMax - rssBefore) / 1_048_576,
    echoP99Ms: echoes[Math.floor(echoes.length * 0.99)] ?? 0,
    elapsedMs,
    lazyReaders: lazy.length,
  };
}

/** What the terminal makes of `seq`: CR LF at each line's end. */
function expected(lines: number): { readonly hash: string; readonly bytes: number } {
  const hash = createHash("sha256");
  let bytes = 0;
  for (let from = 1; from <= lines; from += 10_000) {
    let text = "";
    for (let n = from; n < from + 10_000 && n <= lines; n += 1) text += `${n}\r\n`;
    hash.update(text);
    bytes += text.length;
  }
  return { hash: hash.digest("hex"), bytes };
}

function lazyEvents(port: number): Socket {
  const socket = connect(port, "127.0.0.1", () => {
    socket.pause();
    socket.write("GET /v1/servers/main/panes/flood/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  });
  return socket.on("error", () => undefined);
}

function lazySocket(port: number): { destroy(): void } {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/stream`, ["tmuxwire.v1"]);
  socket.on("error", () => undefined);
  socket.on("open", () => {
    const subscribe = { type: "subscribe", id: 1, server: "main", pane: "flood", creditBytes: 1_073_741_824 };
    socket.send(JSON.stringify(subscribe), () => socket.pause());
  });
  return { destroy: () => socket.terminate() };
}
