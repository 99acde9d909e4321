/** A port through which another one is reached as over a long way: every byte takes so long in each direction. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

interface DelayedPort extends AsyncDisposable {
  readonly port: number;
  /** One way, in milliseconds; for what comes from now on. */
  delayMs: number;
  /** Connections that exist carry nothing any more, and neither side is told, as when a line is cut. New ones are carried. */
  cutLines(): void;
}

export async function delayedPort(target: number, delayMs: number): Promise<DelayedPort> {
  const open = new Set<Socket>();
  const cut = new WeakSet<Socket>();
  const carry = (from: Socket, to: Socket): void => {
    from.on("data", (chunk: Buffer) => cut.has(from) || void setTimeout(() => to.write(chunk), made.delayMs));
    from.once("close", () => cut.has(from) || void setTimeout(() => to.destroy(), made.delayMs));
    from.on("error", () => undefined);
    from.setNoDelay(true);
    open.add(from);
    from.once("close", () => open.delete(from));
  };
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    carry(near, far);
    carry(far, near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const made: DelayedPort = {
    port: (server.address() as AddressInfo).port,
    delayMs,
    cutLines: () => {
      for (const socket of open) cut.add(socket);
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return made;
}
