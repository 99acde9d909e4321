/**
 * What the daemon asks of the machine that tmux runs on, besides tmux itself. Types only, so that another machine, reached
 * over ssh, could implement them too. `undefined` always means that the host cannot tell, and the caller continues without.
 */
import type { AppError } from "../../protocol/errors.ts";
import type { HostProcesses } from "./hostProcesses.ts";
import type { SocketPathOptions } from "./socketPath.ts";
import type { RunProgram } from "./runProgram.ts";
import type { OpenDirect } from "./clients/directTransport.ts";
import type { HoldServer } from "./clients/holdServer.ts";
import type { OpenTransport } from "./clients/transport.ts";

export type HostName = "linux" | "darwin" | "unknown";

export interface Host {
  readonly name: HostName;
  readonly clients: HostClients;
  readonly processes: HostProcesses;
  readonly sockets: HostSockets;
  readonly terminals: HostTerminals;
  /**
   * A folder in the memory of this very machine in which every user may have one: tmux can write there what the daemon
   * reads at once. Undefined: there is none, or the host is another machine.
   */
  readonly memory: () => string | undefined;
}

/** How tmux is started on the host. */
export interface HostClients {
  /** Opens a control client that stays. */
  readonly open: OpenTransport;
  /** Opens a control client that ends by itself, and reads its output completely. */
  readonly openShort: OpenTransport;
  /** Opens a control client that stays, without a process, on a running server of a release from 3.2 to 3.6. */
  readonly openDirect: OpenDirect | undefined;
  /** Starts a server for `openDirect`. */
  readonly hold: HoldServer | undefined;
  /** Runs a program that ends by itself. */
  readonly run: RunProgram;
}

export interface Closable {
  /** Safe to call twice. */
  close(): void;
}

/** The outcome of connecting to a socket. */
type ConnectResult =
  | { readonly accepts: true }
  | {
      readonly accepts: false;
      readonly errno: string | undefined;
      /** The host itself cannot be reached. */
      readonly why?: AppError | undefined;
    };

/** Unix sockets by their paths, and their directories. */
export interface HostSockets {
  /** Whether the path exists, as a socket or a directory. */
  exists(path: string): boolean | undefined;
  /** Undefined if connecting is not possible here. */
  connect(path: string): Promise<ConnectResult | undefined>;
  /** Reports names that appear in a directory or leave it; `null` if it is unknown which. */
  watch(directory: string, listener: (name: string | null) => void): Closable | undefined;
  /**
   * Our user's process that listens on a socket bound to this path, whether or not its file still exists.
   * @param called only processes whose name begins with this are considered
   */
  listenerOf(path: string, called?: string): number | undefined;
  /** Creates a missing directory for the socket of a tmux server of ours, and checks both. @throws AppError CONFIGURATION_INVALID */
  prepare(path: string, options?: SocketPathOptions): Promise<void>;
  /** Checks that the server at the path is ours. @param uid as tmux reports it @throws AppError CONFIGURATION_INVALID */
  requireOwn(path: string, uid: number | undefined, setting?: string): void;
}

export interface HostTerminals {
  /** Reports every terminal that appears or disappears. */
  watch(listener: (what: "came" | "gone") => void): Closable | undefined;
  /** Whether the terminal is the process's standard input. */
  isInputOf(terminal: string, pid: number): boolean | undefined;
  /** Whether the process holds the other end of the terminal. */
  isHeldBy(terminal: string, pid: number): boolean | undefined;
}
