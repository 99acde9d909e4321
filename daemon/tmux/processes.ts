/** The processes that can read a pane's input, according to tmux and the host. */

/** Identifies one process while it runs the same program. */
export interface ProcessMark {
  readonly pid: number;
  readonly start: string;
  /** Undefined for another user's process. */
  readonly executable: string | undefined;
}

export interface ForegroundProcess extends ProcessMark {
  /** Its names, see `namesOf`. */
  readonly names: readonly string[];
  /** Whether it is a shell that, judging by its arguments, reads commands from its terminal. */
  readonly isInteractiveShell: boolean;
  readonly isShell: boolean;
  /** Whether its standard input is a terminal; undefined if unknown. */
  readonly hasTerminalInput?: boolean | undefined;
  /** Whether it has called no exec since it was forked, and may do so at any moment; undefined if unknown. */
  readonly isForked?: boolean | undefined;
  /** How many processes lie between it and the leader. */
  readonly depth: number;
}

/** The leader first, then its descendants, nearest first; only processes that can currently read from the terminal. */
export type Foreground = readonly ForegroundProcess[];

/** A pane's foreground at one moment, according to tmux and the host. */
export interface PaneForeground {
  /** The pane's own process; undefined if it has none or it is unknown. */
  readonly pid: number | undefined;
  /** `pane_current_command`: foreign text. */
  readonly command: string;
  /** Undefined if the host does not report processes. */
  readonly processes: Foreground | undefined;
}
