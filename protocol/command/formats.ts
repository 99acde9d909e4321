/** The rows that we request from tmux. Ids and numbers come first, text that a program can influence last (`rowFormat.ts`). */
import type { PaneId } from "../ids.ts";
import {
  field,
  flag,
  foreignRowFormat,
  number,
  optionalNumber,
  paneId,
  type RowOf,
  rowFormat,
  sessionId,
  when,
  windowId,
  word,
} from "./rowFormat.ts";

/** Set to 1 on a window that somebody created in a hub. */
export const STRAY_OPTION = "@tmuxwire_stray";

/** For `list-windows -a`: one row per place of a window in a session. */
export const WINDOW_LINKS = rowFormat({
  session: sessionId,
  window: windowId,
  index: number("#{window_index}"),
  /** The session's current window. */
  active: flag("#{window_active}"),
  /** Whether it was created in a hub. */
  stray: flag(`#{?#{==:#{${STRAY_OPTION}},1},1,0}`),
});
export type WindowLink = RowOf<typeof WINDOW_LINKS>;

/** For `list-sessions`. */
export const SESSIONS = foreignRowFormat(
  {
    session: sessionId,
    createdSec: number("#{session_created}"),
    /** Number of attached clients. */
    attached: number("#{session_attached}"),
    /** Unix time in seconds of its last use, by a key press or an attaching client. */
    usedSec: number("#{session_activity}"),
  },
  { name: "#{session_name}" },
);
export type SessionRow = RowOf<typeof SESSIONS>;

/** For `list-clients`: clients in control mode are programs, others are terminals. */
export const CLIENTS = rowFormat({ isControl: flag("#{client_control_mode}"), session: sessionId });

/** The fields about a program that has ended. */
const end = {
  deadStatus: optionalNumber("#{pane_dead_status}"),
  deadSignal: optionalNumber("#{pane_dead_signal}"),
};

/** For `list-panes`. */
export const PANES = foreignRowFormat(
  {
    window: windowId,
    pane: paneId,
    active: flag("#{pane_active}"),
    cols: number("#{pane_width}"),
    rows: number("#{pane_height}"),
    /** 0 if tmux does not report it. */
    pid: number("#{pane_pid}"),
    dead: flag("#{pane_dead}"),
    ...end,
    /** Only in the row of the window's active pane, because its length grows with the number of panes. */
    shape: when("pane_active", {
      cols: number("#{window_width}"),
      rows: number("#{window_height}"),
      /** Whether the active pane fills the window. */
      zoomed: flag("#{window_zoomed_flag}"),
      /** tmux's layout string; for a zoomed window, the one that unzooming restores. */
      layout: word("#{window_layout}"),
    }),
  },
  { windowName: "#{window_name}", title: "#{pane_title}" },
);
export type PaneRow = RowOf<typeof PANES>;
/** How a program ended, and its pid. */
export type PaneEnd = Pick<PaneRow, "pid" | "deadStatus" | "deadSignal">;

/** For `display-message -p`. */
export const PANE_DETAILS = foreignRowFormat(
  {
    pane: paneId,
    /** Lines above the screen. */
    historyLines: number("#{history_size}"),
    alternateScreen: flag("#{alternate_on}"),
    /** Whether one of tmux's modes covers the screen, such as copy mode. */
    inMode: field("#{pane_in_mode}", (text) => Number(text) > 0),
    tty: word("#{pane_tty}"),
    /** The pane's own process; undefined if tmux does not report it (a dead pane). */
    pid: optionalNumber("#{pane_pid}"),
  },
  { command: "#{pane_current_command}", path: "#{pane_current_path}", title: "#{pane_title}" },
);
export type PaneDetailsRow = RowOf<typeof PANE_DETAILS>;

/** For `display-message -p`: a pane's default program, and the SHELL with which the server was started. */
export const SHELL_TRIED = foreignRowFormat(
  { pid: number("#{pid}") },
  { shell: "#{default-shell}", environment: "#{SHELL}", defaultCommand: "#{default-command}" },
);

/** For `display-message -p -t PANE`: a pane's window; every field is empty if the pane is gone. */
export const PANE_PLACES = rowFormat({ pane: paneId, window: windowId });

/** For `list-panes`; a window in several sessions is listed once for each. */
export const PANE_IDS = rowFormat({ pane: paneId });

export const decodePaneIds = (body: Uint8Array): PaneId[] => [
  ...new Set(PANE_IDS.decode(body).map(({ pane }) => pane)),
];

/**
 * The row that `new-window` and `split-window` print about the new pane. The window's id comes first, because no reply in a
 * group may begin with `%`.
 */
export const MADE_PANE = rowFormat({ window: windowId, pane: paneId });

/** For `list-panes`: each pane's process, and how it ended if it has. From 3.8 on, a dead pane has no process. */
export const PROGRAMS = rowFormat({
  window: windowId,
  pane: paneId,
  pid: optionalNumber("#{pane_pid}"),
  dead: flag("#{pane_dead}"),
  ...end,
});

/** For `list-panes` of panes that have this user option, which anyone may have set. */
export const paneOptionRows = (option: string) => foreignRowFormat({ pane: paneId }, { text: `#{${option}}` });

/** For `display-message -p`: this server's identity (docs/tmuxFacts.md 8), and this client's session. */
export const SERVER_IDENTITY = rowFormat({
  pid: number("#{pid}"),
  startSec: number("#{start_time}"),
  version: word("#{version}"),
  /** The session this client is attached to. */
  session: sessionId,
  window: windowId,
  pane: paneId,
  /** Its uid; reported from tmux 3.3 on. */
  uid: optionalNumber("#{uid}"),
  /** The name of this client: its terminal, or `client-PID`. */
  client: word("#{client_name}"),
});
export type ServerIdentity = RowOf<typeof SERVER_IDENTITY>;

/** The server's identity as one word. */
export const identityText = ({ pid, startSec }: Pick<ServerIdentity, "pid" | "startSec">): string =>
  `${pid}.${startSec}`;

/** For `display-message -p`: this client's session and flags. */
export const CLIENT_STATE = rowFormat({
  /** The session this client is attached to. */
  session: sessionId,
  flags: field("#{client_flags}", (text): ReadonlySet<string> => new Set(text.split(","))),
});

/** For `list-windows`. */
export const WINDOW_TIMES = rowFormat({
  session: sessionId,
  window: windowId,
  /** Unix time in seconds of its last output. */
  writtenSec: number("#{window_activity}"),
});
export type WindowTime = RowOf<typeof WINDOW_TIMES>;
