/** Who reads what is typed into a pane, as tmux and the system tell. */

/** One process, for as long as it runs the same program. */
export interface ProcessMark {
  readonly pid: number;
  readonly start: string;
  /** Undefined for another user's process. */
  readonly executable: string | undefined;
}

export interface ForegroundProcess extends ProcessMark {
  /** What it calls itself. */
  readonly names: readonly string[];
  /** A shell that reads commands from its terminal, as far as its arguments tell. */
  readonly isInteractiveShell: boolean;
  readonly isShell: boolean;
  /** Its standard input is a terminal; undefined where that is not told. */
  readonly hasTerminalInput?: boolean | undefined;
  /** How many processes lie between it and the leader. */
  readonly depth: number;
}

/** The leader first, then what it has started, nearest first: only what can read from its terminal now. */
export type Foreground = readonly ForegroundProcess[];

/** What tmux and the system say of a pane's foreground at one moment. */
export interface PaneForeground {
  /** The pane's own process; undefined when it has none, or nobody knows. */
  readonly pid: number | undefined;
  /** `pane_current_command`: foreign text. */
  readonly command: string;
  /** Undefined where the system does not tell. */
  readonly processes: Foreground | undefined;
}
