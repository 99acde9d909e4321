/** Input to a pane, and what can be read of it. */
import type { Position } from "../../protocol/position.ts";

export type InputPart =
  /** Arrives byte for byte, any of the 256 values. */
  | { readonly kind: "text"; readonly bytes: Uint8Array }
  /** Key names as tmux knows them (`Enter`, `C-c`, `Up`): `isKeyName` of `daemon/panes/keys.ts`. */
  | { readonly kind: "keys"; readonly keys: readonly string[] }
  /** Text (`pasteText.ts`) that arrives byte for byte, bracketed when the program has enabled that (`?2004h`). */
  | { readonly kind: "paste"; readonly bytes: Uint8Array };

/** What must hold for a pane when tmux types into it, as tmux itself evaluates it. */
export interface PaneCondition {
  /** It moves when the program draws something after the capture. */
  readonly cursor?: { readonly col: number; readonly row: number } | undefined;
  /** The pane's own process: another one since a respawn. */
  readonly pid?: number | undefined;
  /**
   * The program in the foreground, as tmux calls it (`pane_current_command`). A name that a format cannot contain is
   * not compared.
   */
  readonly command?: string | undefined;
}

export interface InputOptions {
  /**
   * Checked by tmux in the step in which it types, for a long job (over 8 KiB) in each of its steps; where it does not hold,
   * nothing is typed, or nothing more (`details.delivery`): INCONSISTENT_STATE.
   */
  readonly onlyIf?: PaneCondition | undefined;
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
   * included, in plain text without any control character. Needs `lines`; cannot be combined with `ansi`.
   */
  readonly whole?: boolean | undefined;
  /**
   * The lines of `capture-pane -p -S START` as it prints them, blank rows at the end of the screen included; `oldest`
   * means all that is kept. Replaces `lines` and `whole`; can be combined with the others.
   */
  readonly start?: number | "oldest" | undefined;
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
  /** How many it keeps at most: past that tmux drops the oldest tenth. Undefined where there is no such limit. */
  readonly historyLimit?: number | undefined;
}

/** Bytes that rebuild a pane's screen in a terminal emulator of the same size, and where the output continues. */
export interface Snapshot {
  readonly position: Position;
  /** As for a capture; when false, the output that follows may repeat or miss something. */
  readonly exact: boolean;
  readonly cols: number;
  readonly rows: number;
  readonly alternateScreen: boolean;
  /** Begins with a full reset. */
  readonly data: Uint8Array;
  /** Bytes at the end of `data` that the output which follows completes: an unfinished sequence or character. Default 0. */
  readonly pendingBytes?: number | undefined;
}

export interface SnapshotOptions {
  /** The newest lines of history as well, for an emulator to scroll back to. Default: none. */
  readonly historyLines?: number | undefined;
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
  /** Processes only as far as the host knows without starting a program; for repeated queries. */
  readonly atNoCost?: boolean | undefined;
}
