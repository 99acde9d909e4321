/** A link to a daemon on a port of this machine, which a test can cut. */
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import type { Link } from "../../../adapters/remote/remoteHost.ts";
import { untilAborted } from "../../../daemon/time/within.ts";

export interface CutLink extends Link {
  /** Every connection through it breaks, and none is made. */
  cut(): void;
  mend(): void;
  /** How many connections through it were open at a time, at most: one that was given up makes room for another. */
  readonly mostConnections: number;
  /** Bytes go in and do not come out, as of a machine that is not there any more. */
  stall(): void;
}

export async function cutLink(port: number): Promise<CutLink> {
  const directory = mkdtempSync(join(tmpdir(), "tw-far-"));
  const path = join(directory, "far.sock");
  const open = new Set<Socket>();
  const listeners = new Set<() => void>();
  let [isCut, isStalled, count, most] = [false, false, 0, 0];
  let sinceUnixMs = Date.now();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    // A machine that is not there any more does not see who connects, and closes nothing.
    const ends = isStalled ? [near] : [near, connect({ port, host: "127.0.0.1", allowHalfOpen: true })];
    for (const socket of ends) {
      open.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        open.delete(socket);
        for (const end of ends) end.destroy();
      });
    }
    const [, far] = ends;
    if (far !== undefined) far.pipe(near).pipe(far);
    count += 1;
    near.once("close", () => (count -= 1));
    most = Math.max(most, count);
  });
  server.listen(path);
  await once(server, "listening");
  const tell = (): void => {
    sinceUnixMs = Date.now();
    for (const listener of listeners) listener();
  };
  const link: CutLink = {
    get state(): Link["state"] {
      const found = { version: "0.1.0", tmux: "3.5a" };
      return isCut
        ? { kind: "unreachable", sinceUnixMs, message: "the test has cut it" }
        : { kind: "connected", sinceUnixMs, found };
    },
    get mostConnections() {
      return most;
    },
    connection: (signal) =>
      untilAborted(signal, (resolve) => {
        const probe = (): void => {
          if (!isCut) resolve({ socketPath: path, host: { token: undefined } });
        };
        listeners.add(probe);
        probe();
        return () => listeners.delete(probe);
      }),
    subscribe: (listener) => {
      const told = (): void => listener(link.state);
      listeners.add(told);
      return () => listeners.delete(told);
    },
    cut: () => {
      isCut = true;
      for (const socket of open) socket.destroy();
      tell();
    },
    mend: () => {
      isCut = false;
      tell();
    },
    stall: () => {
      isStalled = true;
      for (const socket of open) socket.pause();
    },
    check: async () => 0,
    retry: () => undefined,
    forget: async () => undefined,
    close: async () => {
      for (const socket of open) socket.destroy();
      if (server.listening) await new Promise<void>((resolve) => server.close(() => resolve()));
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return link;
}
