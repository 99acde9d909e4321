/**
 * What the daemon asks of the machine that tmux runs on, besides tmux itself. Types only: another machine, reached over
 * ssh, could be asked the same. `undefined` always means that the host cannot tell; it is never a result, and the
 * caller continues without one.
 */
import type { HostProcesses } from "./hostProcesses.ts";
import type { RunProgram } from "./runProgram.ts";
import type { OpenDirect } from "./directTransport.ts";
import type { OpenTransport } from "./transport.ts";

export type HostName = "linux" | "darwin" | "unknown";

export interface Host {
  readonly name: HostName;
  readonly clients: HostClients;
  readonly processes: HostProcesses;
  readonly sockets: HostSockets;
  readonly terminals: HostTerminals;
}

/** How tmux is started there. */
export interface HostClients {
  /** A control client that stays. */
  readonly open: OpenTransport;
  /** A control client that ends by itself, to the last byte of its output. */
  readonly openShort: OpenTransport;
  /** A control client that stays and is no process, on a running server of a release from 3.2 to 3.6. */
  readonly openDirect: OpenDirect | undefined;
  /** A program that ends by itself. */
  readonly run: RunProgram;
}

export interface Closable {
  /** Safe to call twice. */
  close(): void;
}

/** The outcome of connecting to a socket: accepted, or the system's error name. */
type ConnectResult = { readonly accepts: true } | { readonly accepts: false; readonly errno: string | undefined };

/** Unix sockets by their paths, and their directories. */
export interface HostSockets {
  /** Whether the path exists, as a socket or a directory. */
  exists(path: string): boolean | undefined;
  /** Undefined: it cannot be tried. */
  connect(path: string): Promise<ConnectResult | undefined>;
  /** Reports names that appear in a directory or leave it, `null` when it is not known which. */
  watch(directory: string, listener: (name: string | null) => void): Closable | undefined;
  /**
   * Our user's process that listens on a socket bound to this path, whether or not its file still exists.
   * @param called considers only processes whose name begins so
   */
  listenerOf(path: string, called?: string): number | undefined;
}

export interface HostTerminals {
  /** Reports every terminal that comes or goes. */
  watch(listener: (what: "came" | "gone") => void): Closable | undefined;
  /** Whether this is the process's standard input. */
  isInputOf(terminal: string, pid: number): boolean | undefined;
  /** Whether the process holds the other end of the terminal. */
  isHeldBy(terminal: string, pid: number): boolean | undefined;
}
