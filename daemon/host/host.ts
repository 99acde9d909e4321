/**
 * The machine that tmux runs on, as far as the daemon asks it anything besides tmux. Types only: another machine, reached
 * over ssh, could be asked the same. `undefined` always means that the host cannot tell; it is never a result, and
 * the caller goes on without one.
 */
import type { HostProcesses } from "./hostProcesses.ts";
import type { RunProgram } from "./runProgram.ts";
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
  /** A program that ends by itself. */
  readonly run: RunProgram;
}

export interface Closable {
  /** Safe to call twice. */
  close(): void;
}

/** What became of a connection to a socket: somebody accepted it, or the system's name for why not. */
type ConnectResult = { readonly accepts: true } | { readonly accepts: false; readonly errno: string | undefined };

/** Unix sockets by their paths, and their directories. */
export interface HostSockets {
  /** Whether the path is there, a socket or a directory. */
  exists(path: string): boolean | undefined;
  /** Undefined: it cannot be tried. */
  connect(path: string): Promise<ConnectResult | undefined>;
  /** Tells of names that come to a directory or go from it, `null` when it is not known which. */
  watch(directory: string, listener: (name: string | null) => void): Closable | undefined;
  /**
   * The process of ours that listens on a socket which was made at this path, whether its file is still there or not.
   * @param called only of processes whose name begins so
   */
  listenerOf(path: string, called?: string): number | undefined;
}

export interface HostTerminals {
  /** Tells when a terminal comes or goes, whoever's. */
  watch(listener: (what: "came" | "gone") => void): Closable | undefined;
  /** Whether this is the process's standard input. */
  isInputOf(terminal: string, pid: number): boolean | undefined;
  /** Whether the process has the other end of the terminal. */
  isHeldBy(terminal: string, pid: number): boolean | undefined;
}
