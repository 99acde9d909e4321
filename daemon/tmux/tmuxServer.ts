/**
 * The interface adapters program against. A real tmux, of our own or the user's (`RealServer`), and the in-memory stub
 * implement it and pass the same contract tests. Methods that reach tmux are promises; everything else answers from
 * memory. Targets are ids; names are resolved here, exactly (docs/tmuxFacts.md 24).
 */
import type { PaneId, SessionId, WindowId } from "../../protocol/ids.ts";
import type { Position } from "../../protocol/position.ts";
import type { HostProcesses } from "../host/hostProcesses.ts";
import type { PaneForeground } from "../panes/foreground.ts";
import type { ExitStatus, OutputSource } from "./outputSource.ts";
import type { WindowLayout, WindowPlace } from "./layout.ts";

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
  /** The same windows, and where each stands. */
  readonly places: readonly WindowPlace[];
  readonly activeWindow: WindowId | undefined;
  /** The pane that input to the session reaches; undefined only while the session is being made or ended. */
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
  /** argv of the program; the user's shell when absent. */
  readonly command?: readonly string[] | undefined;
  readonly cols?: number | undefined;
  readonly rows?: number | undefined;
  /**
   * Keep the pane readable after its program has ended (tmux `remain-on-exit`). Default false: it goes, as in tmux. Refused
   * by tmux before 3.3, which can end over it; `whereSafe` is false there.
   */
  readonly remainOnExit?: boolean | "whereSafe" | undefined;
  /**
   * With `remainOnExit` on an owned server: the program is the pane's own process, without the shell that keeps the last
   * of its output (docs/tmuxFacts.md 15). Default false.
   */
  readonly direct?: boolean | undefined;
  /** Variables of the session besides the server's own; on an owned server. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Default: what tmux makes of the command; on an owned server. */
  readonly windowName?: string | undefined;
  /** Marks of its pane (`setPaneMark`) that it has from its first moment; on an owned server. */
  readonly marks?: Readonly<Record<string, string>> | undefined;
}

export type InputPart =
  /** Arrives byte for byte, any of the 256 values. */
  | { readonly kind: "text"; readonly bytes: Uint8Array }
  /** Key names as tmux knows them (`Enter`, `C-c`, `Up`): `isKeyName` of `daemon/panes/keys.ts`. */
  | { readonly kind: "keys"; readonly keys: readonly string[]; readonly onlyIf?: PaneCondition | undefined }
  /** Text (`pasteText.ts`) that arrives byte for byte, bracketed when the program asked for that (`?2004h`). */
  | { readonly kind: "paste"; readonly bytes: Uint8Array; readonly onlyIf?: PaneCondition | undefined };

/**
 * What must hold in the moment in which tmux executes a part, by tmux's own judgement; else it is not typed:
 * INCONSISTENT_STATE. Only on the last part of a job.
 */
export interface PaneCondition {
  /** What the program has drawn since a capture has moved it. */
  readonly cursor?: { readonly col: number; readonly row: number } | undefined;
  /** The pane's own process: another one since a respawn. */
  readonly pid?: number | undefined;
  /** The program in the foreground, as tmux calls it (`pane_current_command`). A name that a format cannot hold is not compared. */
  readonly command?: string | undefined;
}

export interface InputOptions {
  /** Called in the turn in which the job's first byte is written, before any of its output can arrive. */
  readonly beforeWrite?: (() => void) | undefined;
  /** Gives up waiting. What was already written stays written. */
  readonly signal?: AbortSignal | undefined;
}

export interface InputReceipt {
  /** The pane's position when the job was written: its output is after this. */
  readonly position: Position;
}

export interface CaptureOptions {
  /** Last lines of history and screen, 1–5000, after blank lines at the end are dropped. Default: the visible screen. */
  readonly lines?: number | undefined;
  /** Join lines that tmux wrapped (capture-pane -J). */
  readonly joinWrapped?: boolean | undefined;
  /** Keep colours and attributes (capture-pane -e). Default: plain text without any control character. */
  readonly ansi?: boolean | undefined;
  /**
   * As `capture-pane -p -S -LINES -E -` prints it: that much history before the whole screen, blank rows at its end
   * included, in plain text without any control character. Needs `lines`; does not go with `ansi`.
   */
  readonly whole?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Capture {
  /** One string per row, blanks at the end of each trimmed unless `ansi`. */
  readonly lines: readonly string[];
  readonly position: Position;
  /** Whether `position` is exactly the place in the stream that the screen shows (docs/tmuxFacts.md 36). */
  readonly exact: boolean;
  readonly cols: number;
  readonly rows: number;
  readonly cursor: { readonly col: number; readonly row: number };
  readonly alternateScreen: boolean;
  /** Rows above the screen that tmux keeps. */
  readonly historyLines: number;
}

/** Bytes that rebuild a pane's screen in a terminal emulator of the same size, and where the output goes on. */
export interface Snapshot {
  readonly position: Position;
  /** As for a capture; when false, the output that follows may repeat or miss something. */
  readonly exact: boolean;
  readonly cols: number;
  readonly rows: number;
  readonly alternateScreen: boolean;
  /** Begins with a full reset. */
  readonly data: Uint8Array;
}

/** What only tmux knows at the moment it is asked. */
export interface PaneDetails {
  /** Program in the foreground, working directory, title: foreign text. */
  readonly command: string;
  readonly cwd: string;
  readonly title: string;
  readonly tty: string;
  readonly historyLines: number;
  readonly alternateScreen: boolean;
  /** Copy mode or another of tmux's modes covers the screen. */
  readonly inMode: boolean;
}

export interface ForegroundOptions {
  /** Of processes only what the host tells without starting a program for it; for what is asked again and again. */
  readonly atNoCost?: boolean | undefined;
}

/** What a server has counted since it was started. */
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
   * Which tmux server the ids are of: its process and start. Another value means that every id is another pane's; the same
   * one after a reconnect or a restart of ours, that the ids hold. Undefined while none is known.
   */
  readonly identity: string | undefined;
}

export type ServerEvent =
  | { readonly kind: "state"; readonly state: ServerState }
  | { readonly kind: "session-created"; readonly session: SessionId }
  | { readonly kind: "session-closed"; readonly session: SessionId }
  | { readonly kind: "pane-resized"; readonly pane: PaneId; readonly cols: number; readonly rows: number }
  | { readonly kind: "pane-exited"; readonly pane: PaneId; readonly status: ExitStatus }
  | { readonly kind: "pane-closed"; readonly pane: PaneId };

export interface TmuxServer extends AsyncDisposable {
  /** As it was at the last heartbeat, or at what tmux has told since. */
  status(): ServerStatus;
  /** As it is now: tmux is asked whether our client is where it should be. Takes a second at most. */
  check(): Promise<ServerStatus>;
  /** All sessions but the hub, sorted by name. */
  sessions(): readonly SessionInfo[];
  /** Exact: the name tmux reports, or the name that was asked for when the session was made. */
  findSession(name: string): SessionInfo | undefined;
  windows(): readonly WindowInfo[];
  panes(): readonly PaneInfo[];
  findPane(pane: PaneId): PaneInfo | undefined;
  /** Windows and panes as they stand, what changes in them, and what can be done to them. */
  readonly layout: WindowLayout;

  /** @throws AppError ALREADY_EXISTS, INVALID_ARGUMENT, RESOURCE_LIMIT, TMUX_COMMAND_FAILED, CONNECTION_LOST */
  createSession(request: CreateSession): Promise<SessionInfo>;
  /** Ends the session and every program in it. @throws AppError NOT_FOUND, CONNECTION_LOST */
  killSession(session: SessionId): Promise<void>;
  /**
   * One atomic job in the pane's FIFO.
   * @throws AppError NOT_FOUND, INVALID_ARGUMENT, INCONSISTENT_STATE (`onlyIf`), RESOURCE_LIMIT, CONNECTION_LOST
   */
  input(pane: PaneId, parts: readonly InputPart[], options?: InputOptions): Promise<InputReceipt>;
  capture(pane: PaneId, options?: CaptureOptions): Promise<Capture>;
  /** @throws AppError NOT_FOUND, RESOURCE_LIMIT, CONNECTION_LOST */
  snapshot(pane: PaneId): Promise<Snapshot>;
  /** @throws AppError NOT_FOUND, CONNECTION_LOST */
  describePane(pane: PaneId): Promise<PaneDetails>;
  /** Who reads what is typed, asked of tmux and the host now. @throws AppError NOT_FOUND, CONNECTION_LOST */
  foreground(pane: PaneId, options?: ForegroundOptions): Promise<PaneForeground>;
  /** Of the host that tmux runs on. */
  readonly processes: HostProcesses;
  /** Sets the size of the pane's window. @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST; INVALID_ARGUMENT on a guest */
  resize(pane: PaneId, cols: number, rows: number): Promise<void>;
  /**
   * Notes a value on the pane itself, `undefined` takes it away: it outlives this daemon and goes with the pane. Any text
   * of at most `MAX_PANE_MARK_CHARS` comes back exactly; `name` is a lower-case word.
   * @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST
   */
  setPaneMark(pane: PaneId, name: string, value: string | undefined): Promise<void>;
  /** Every pane that carries this mark, asked of tmux. @throws AppError INVALID_ARGUMENT, CONNECTION_LOST */
  paneMarks(name: string): Promise<ReadonlyMap<PaneId, string>>;
  /**
   * How many terminals show each session, asked of tmux now; control clients, ours among them, are none. Sessions without
   * one are left out. @throws AppError CONNECTION_LOST
   */
  terminals(): Promise<ReadonlyMap<SessionId, number>>;
  counters(): ServerCounters;
  /** @throws AppError NOT_FOUND */
  output(pane: PaneId): OutputSource;
  /** Returns the unsubscribe function. */
  subscribe(listener: (event: ServerEvent) => void): () => void;
  close(): Promise<void>;
}
