/** What Node offers on every Unix: sockets, directories and signals of the local machine. */
import { existsSync, watch as watchPath } from "node:fs";
import { connect } from "node:net";
import { attempt } from "./attempt.ts";
import type { Closable, HostSockets } from "./host.ts";
import type { HostProcesses } from "./hostProcesses.ts";

export const nodeSockets: Pick<HostSockets, "exists" | "connect" | "watch"> = {
  exists: existsSync,
  connect: (path) =>
    new Promise((resolve) => {
      const socket = connect({ path });
      socket.once("connect", () => {
        socket.destroy();
        resolve({ accepts: true });
      });
      socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve({ accepts: false, errno: code }));
    }),
  watch: (directory, listener) => watchNames(directory, (_kind, name) => listener(name)),
};

export const nodeProcesses: Pick<HostProcesses, "isAlive" | "signal"> = {
  isAlive: (pid) => {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      // Any other error means that the process is another user's.
      return (error as NodeJS.ErrnoException).code !== "ESRCH";
    }
  },
  signal: (pid, name) => {
    try {
      return process.kill(pid, name);
    } catch {
      return false;
    }
  },
};

/** Undefined if the directory does not exist, or the system has no watch left. */
export function watchNames(
  directory: string,
  listener: (kind: "rename" | "change", name: string | null) => void,
): Closable | undefined {
  const watcher = attempt(() => watchPath(directory, { persistent: false }, listener));
  watcher?.on("error", () => watcher.close());
  return watcher;
}
