/**
 * The sessions, windows and panes of a tmux server, and their changes. Served from memory unless stated otherwise.
 */
import type { PaneId, SessionId, WindowId } from "../../protocol/ids.ts";
import type { WindowPlace } from "./layout.ts";
import type { ExitStatus, Waiting } from "./outputSource.ts";

export interface PaneInfo {
  readonly id: PaneId;
  readonly window: WindowId;
  readonly cols: number;
  readonly rows: number;
  readonly active: boolean;
  readonly pid: number;
  /** Set by the program in the pane: foreign text. */
  readonly title: string;
  readonly exit: ExitStatus | undefined;
}

export interface WindowInfo {
  readonly id: WindowId;
  /** Foreign text. */
  readonly name: string;
  readonly panes: readonly PaneId[];
  readonly cols: number;
  readonly rows: number;
  /** As tmux writes it; empty for the stub. */
  readonly layout: string;
  readonly zoomed: boolean;
}

export interface SessionInfo {
  readonly id: SessionId;
  /** The name tmux reports (`.` and `:` become `_`). */
  readonly name: string;
  readonly windows: readonly WindowId[];
  /** The same windows, with their indexes. */
  readonly places: readonly WindowPlace[];
  readonly activeWindow: WindowId | undefined;
  /** The pane that input to the session reaches; undefined only while the session is being created or ended. */
  readonly activePane: PaneId | undefined;
  /** Unix time in seconds. */
  readonly createdSec: number;
  /** Terminals that show it. */
  readonly attachedClients: number;
}

export interface CreateSession {
  readonly name: string;
  /** Absolute path; taken literally, never as a tmux format (docs/tmuxFacts.md 23). */
  readonly cwd?: string | undefined;
  /** The program's argv; if absent, the user's shell. */
  readonly command?: readonly string[] | undefined;
  readonly cols?: number | undefined;
  readonly rows?: number | undefined;
  /**
   * Keep the pane readable after its program has ended (tmux `remain-on-exit`). Default false: the pane closes, as in tmux.
   * Refused before tmux 3.3, where it can crash the server; `whereSafe` means false there.
   */
  readonly remainOnExit?: boolean | "whereSafe" | undefined;
  /**
   * With `remainOnExit` on an owned server: the program is the pane's own process, without the shell that preserves the end
   * of its output (docs/tmuxFacts.md 15). Default false.
   */
  readonly direct?: boolean | undefined;
  /** Variables of the session in addition to the server's. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Default: tmux derives it from the command. */
  readonly windowName?: string | undefined;
  /** User options that its pane has from the beginning (`setPaneUserOption`). */
  readonly userOptions?: Readonly<Record<string, string>> | undefined;
}

/** A server's counters since it was started. */
export interface ServerCounters {
  readonly outputBytes: number;
  /** Times tmux paused a pane and dropped output (docs/tmuxFacts.md 13). */
  readonly pauses: number;
}

export type ServerState = "connecting" | "ready" | "degraded" | "closed";

export interface ServerStatus {
  readonly kind: "owned" | "guest" | "stub";
  readonly state: ServerState;
  /** `tmux 3.3a`; undefined for the stub. */
  readonly tmuxVersion: string | undefined;
  readonly socketPath: string | undefined;
  readonly epoch: string;
  /**
   * Identifies the tmux server that the ids belong to, by its process and start. A different value means that all ids are
   * new; the same value after a reconnect or a restart of the daemon means that the ids are still valid. Undefined while
   * unknown.
   */
  readonly identity: string | undefined;
  /** Set while our control clients wait for sessions and clients to stop changing, because attaching now could crash tmux. */
  readonly waiting?: Waiting | undefined;
}

export type ServerEvent =
  | { readonly kind: "state"; readonly state: ServerState }
  /** Clients of ours begin to wait, or none waits any more: `ServerStatus.waiting` has changed. */
  | { readonly kind: "waiting"; readonly waiting: Waiting | undefined }
  | { readonly kind: "session-created"; readonly session: SessionId }
  | { readonly kind: "session-closed"; readonly session: SessionId }
  | { readonly kind: "pane-resized"; readonly pane: PaneId; readonly cols: number; readonly rows: number }
  | { readonly kind: "pane-exited"; readonly pane: PaneId; readonly status: ExitStatus }
  | { readonly kind: "pane-closed"; readonly pane: PaneId };

export interface ServerInventory {
  /** The state as of the last heartbeat and later notifications. */
  status(): ServerStatus;
  /** The current state: asks tmux whether our client is where it should be. Takes at most a second. */
  check(): Promise<ServerStatus>;
  /** All sessions except the hub, sorted by name. */
  sessions(): readonly SessionInfo[];
  /** Finds a session by the exact name that tmux reports, or that was requested when it was created. */
  findSession(name: string): SessionInfo | undefined;
  windows(): readonly WindowInfo[];
  panes(): readonly PaneInfo[];
  findPane(pane: PaneId): PaneInfo | undefined;
  /** @throws AppError ALREADY_EXISTS, INVALID_ARGUMENT, RESOURCE_LIMIT, TMUX_COMMAND_FAILED, CONNECTION_LOST */
  createSession(request: CreateSession): Promise<SessionInfo>;
  /** Ends the session and every program in it. @throws AppError NOT_FOUND, CONNECTION_LOST */
  killSession(session: SessionId): Promise<void>;
  /**
   * How many terminals show each session, asked of tmux now; control clients, ours included, do not count. Sessions
   * without one are left out. @throws AppError CONNECTION_LOST
   */
  terminals(): Promise<ReadonlyMap<SessionId, number>>;
  counters(): ServerCounters;
  /** Returns the unsubscribe function. */
  subscribe(listener: (event: ServerEvent) => void): () => void;
}
