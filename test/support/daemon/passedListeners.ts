/** Listening sockets to pass to a daemon as descriptors 3 and 4, as a service manager does (sd_listen_fds(3)). */
import { once } from "node:events";
import { renameSync } from "node:fs";
import { createServer, type Server } from "node:net";

interface PassedListeners {
  readonly socketPath: string;
  readonly port: number;
  readonly descriptors: readonly [unix: number, tcp: number];
  /** From then on only whoever has the descriptors accepts. */
  readonly close: () => void;
}

export async function passedListeners(directory: string): Promise<PassedListeners> {
  const socketPath = `${directory}/activated.sock`;
  const [unix, tcp] = [createServer(), createServer()];
  unix.listen(`${directory}/bound.sock`);
  tcp.listen(0, "127.0.0.1");
  await Promise.all([once(unix, "listening"), once(tcp, "listening")]);
  const { port } = tcp.address() as { port: number };
  // Closing a server removes the path that it was bound to: this one stays.
  renameSync(`${directory}/bound.sock`, socketPath);
  return {
    socketPath,
    port,
    descriptors: [descriptorOf(unix), descriptorOf(tcp)],
    close: () => {
      unix.close();
      tcp.close();
    },
  };
}

/** Node has no word for it. */
const descriptorOf = (server: Server): number => (Reflect.get(server, "_handle") as { fd: number }).fd;
