/**
 * The native API in a process of its own, for the benches: with a socket path on tmux, without on a pane in memory that
 * prints at the rate it is told. Speaks JSON over IPC; ends with its parent.
 */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createNativeApp } from "../adapters/native/nativeApp.ts";
import { listen } from "../adapters/kit/listeners/listen.ts";
import { silentLog } from "./silentLog.ts";
import { startOwnedServer } from "../daemon/servers/owned/ownedServer.ts";
import { StubServer } from "../daemon/servers/stub/stubServer.ts";
import type { TmuxServer } from "../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../daemon/time/clock.ts";
import { WaitManager } from "../daemon/waits/waitManager.ts";
import { benchEnvironment, SESSION } from "./privateServer.ts";

/** What the parent asks for; each gets one reply. */
type DaemonRequest =
  | { readonly ask: "print"; readonly bytesPerSec: number; readonly chunkBytes: number; readonly seconds: number }
  | { readonly ask: "raw"; readonly everyMs: number }
  | { readonly ask: "usage" };

export interface Printed {
  /** Share of one core that this process used meanwhile. */
  readonly cpu: number;
  readonly bytes: number;
}

const [socketPath, ringBytes] = process.argv.slice(2);
const server: TmuxServer =
  socketPath === undefined || socketPath === ""
    ? new StubServer({ nowUnixMs: () => Date.now(), onListenerError: () => undefined })
    : await startOwnedServer({
        socketPath,
        env: benchEnvironment,
        clock: systemClock,
        ringBytes: ringBytes === undefined ? undefined : Number(ringBytes),
      });
if (server instanceof StubServer) await server.createSession({ name: SESSION });
const native = createNativeApp({
  servers: new Map([["main", server]]),
  waits: new WaitManager({ clock: systemClock }),
  clock: systemClock,
  log: silentLog,
});
const listener = await listen({
  fetch: native.app.fetch,
  host: "127.0.0.1",
  port: 0,
  websocket: native.websocket,
  clock: systemClock,
});

async function print(request: Extract<DaemonRequest, { ask: "print" }>): Promise<Printed> {
  const pane = server.panes()[0]!.id;
  const bytes = new Uint8Array(request.chunkBytes - 1).fill(0x78);
  const startedMs = performance.now();
  const before = process.cpuUsage();
  let printed = 0;
  await new Promise<void>((resolve) => {
    const tick = (): void => {
      const elapsedSec = (performance.now() - startedMs) / 1_000;
      // As tmux does: many chunks of one read each, never one large one.
      while (printed < elapsedSec * request.bytesPerSec) {
        void server.input(pane, [{ kind: "text", bytes }]);
        printed += request.chunkBytes;
      }
      if (elapsedSec >= request.seconds) resolve();
      else setTimeout(tick, 1);
    };
    tick();
  });
  return { cpu: cpuSince(before, startedMs), bytes: printed };
}

function cpuSince(before: NodeJS.CpuUsage, startedMs: number): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / (performance.now() - startedMs);
}

/**
 * The least that handing on can be: what the pane prints is copied once every `everyMs` and written to every connection.
 * A connection is told by one byte that it will get all from now on.
 */
function handOnRaw(everyMs: number, onListening: (port: number) => void): void {
  const source = server.output(server.panes()[0]!.id);
  const connections = new Set<Socket>();
  let at = source.outputSeq;
  let isWaiting = false;
  source.subscribe({
    advanced: () => {
      if (isWaiting) return;
      isWaiting = true;
      setTimeout(() => {
        isWaiting = false;
        const slice = source.read(at);
        if (slice.kind !== "bytes") throw new Error(`bench: ${slice.kind} instead of output`);
        at = slice.to;
        const bytes = Buffer.from(slice.bytes);
        for (const connection of connections) connection.write(bytes);
      }, everyMs);
    },
    gap: () => undefined,
    exited: () => undefined,
    closed: () => undefined,
  });
  const raw = createServer({ noDelay: true }, (connection) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
    connection.on("error", () => undefined);
    connection.write("\n");
  });
  raw.listen(0, "127.0.0.1", () => onListening((raw.address() as AddressInfo).port));
}

process.on("message", (request: DaemonRequest) => {
  switch (request.ask) {
    case "print":
      void print(request).then((printed) => process.send?.(printed));
      return;
    case "raw":
      handOnRaw(request.everyMs, (port) => process.send?.({ port }));
      return;
    case "usage": {
      const { rss } = process.memoryUsage();
      process.send?.({ rss, cpu: process.cpuUsage() });
      return;
    }
  }
});
process.on("disconnect", () => void server.close().finally(() => process.exit(0)));
process.send?.({ port: listener.port });
