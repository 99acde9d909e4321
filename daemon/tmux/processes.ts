/** Who reads what is typed into a pane, according to tmux and the system. */

/** One process, for as long as it runs the same program. */
export interface ProcessMark {
  readonly pid: number;
  readonly start: string;
  /** Undefined for another user's process. */
  readonly executable: string | undefined;
}

export interface ForegroundProcess extends ProcessMark {
  /** Its names, see `namesOf`. */
  readonly names: readonly string[];
  /** A shell that reads commands from its terminal, judging by its arguments. */
  readonly isInteractiveShell: boolean;
  readonly isShell: boolean;
  /** Its standard input is a terminal; undefined where that is unknown. */
  readonly hasTerminalInput?: boolean | undefined;
  /** How many processes lie between it and the leader. */
  readonly depth: number;
}

/** The leader first, then its descendants, nearest first: only those that can read from the terminal now. */
export type Foreground = readonly ForegroundProcess[];

/** A pane's foreground at one moment, according to tmux and the system. */
export interface PaneForeground {
  /** The pane's own process; undefined when it has none or it is unknown. */
  readonly pid: number | undefined;
  /** `pane_current_command`: foreign text. */
  readonly command: string;
  /** Undefined where the system does not report them. */
  readonly processes: Foreground | undefined;
}
