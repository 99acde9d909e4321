/** Input to a pane, and captures and details of it. */
import type { Position } from "../../protocol/position.ts";

export type InputPart =
  /** Arrives byte for byte, any of the 256 values. */
  | { readonly kind: "text"; readonly bytes: Uint8Array }
  /** Key names as tmux knows them (`Enter`, `C-c`, `Up`): `isKeyName` of `daemon/panes/input/keys.ts`. */
  | { readonly kind: "keys"; readonly keys: readonly string[] }
  /** Text (`pasteText.ts`) that arrives byte for byte, bracketed when the program has enabled that (`?2004h`). */
  | { readonly kind: "paste"; readonly bytes: Uint8Array };

/** A condition on a pane that tmux itself evaluates when it types. */
export interface PaneCondition {
  /** The cursor's position, which changes if the program draws something after the capture. */
  readonly cursor?: { readonly col: number; readonly row: number } | undefined;
  /** The pane's own process, which a respawn changes. */
  readonly pid?: number | undefined;
  /**
   * The name of the program in the foreground (`pane_current_command`). A name that a format cannot contain is not
   * compared.
   */
  readonly command?: string | undefined;
}

export interface InputOptions {
  /**
   * tmux checks it in the step in which it types; for a job over 8 KiB, in each step. If it does not hold, nothing (more) is
   * typed: INCONSISTENT_STATE, with `details.delivery`.
   */
  readonly onlyIf?: PaneCondition | undefined;
  /** Called in the turn in which the job's first byte is written, before any of its output can arrive. */
  readonly beforeWrite?: (() => void) | undefined;
  /** Ends the wait. Parts already written are not withdrawn. */
  readonly signal?: AbortSignal | undefined;
}

export interface InputReceipt {
  /** The pane's position when the job was written; its output comes after this. */
  readonly position: Position;
}

export interface CaptureOptions {
  /** The last lines of history and screen, 1 to `MAX_CAPTURE_LINES`, without blank lines at the end. Default: the visible screen. */
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
  /** Its position goes with `output` of the same option. */
  readonly unfollowed?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Capture {
  /** One string per row, without trailing spaces unless `ansi`. */
  readonly lines: readonly string[];
  readonly position: Position;
  /** Whether the screen shows exactly the output up to `position` (docs/tmuxFacts.md 36). */
  readonly exact: boolean;
  readonly cols: number;
  readonly rows: number;
  readonly cursor: { readonly col: number; readonly row: number };
  readonly alternateScreen: boolean;
  /** Rows above the screen that tmux keeps. */
  readonly historyLines: number;
  /** The limit of history rows, above which tmux drops the oldest tenth. Undefined if there is no such limit. */
  readonly historyLimit?: number | undefined;
}

/** Bytes that rebuild a pane's screen in a terminal emulator of the same size, and where the output continues. */
export interface Snapshot extends Pick<Capture, "position" | "cols" | "rows" | "alternateScreen"> {
  /** As for a capture; if false, the output that follows may repeat or miss something. */
  readonly exact: boolean;
  /** Begins with a full reset. */
  readonly data: Uint8Array;
  /** Bytes at the end of `data` of an incomplete sequence or character, which the following output completes. Default 0. */
  readonly pendingBytes?: number | undefined;
}

export interface SnapshotOptions {
  /** How many of the newest history lines to include, for scrolling back in an emulator. Default: none. */
  readonly historyLines?: number | undefined;
}

/** Details that tmux is asked for on each request. */
export interface PaneDetails {
  /** Program in the foreground, working directory, title: foreign text. */
  readonly command: string;
  readonly cwd: string;
  readonly title: string;
  readonly tty: string;
  readonly historyLines: number;
  readonly alternateScreen: boolean;
  /** Whether copy mode or another mode of tmux covers the screen. */
  readonly inMode: boolean;
}

export interface ForegroundOptions {
  /** Report processes only if the host knows them without starting a program; for repeated queries. */
  readonly atNoCost?: boolean | undefined;
}
