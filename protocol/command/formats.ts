/**
 * The formats we ask tmux to expand, each with the decoder of its rows beside it. Ids and numbers come first; a field
 * that a program can influence is preceded by the reply's nonce, so no text can be mistaken for a field or a row
 * (docs/tmuxFacts.md 19).
 */
import { isPaneId, isSessionId, isWindowId, type PaneId, type SessionId, type WindowId } from "../ids.ts";

export interface WindowLink {
  readonly session: SessionId;
  readonly window: WindowId;
  readonly index: number;
  /** The session's current window. */
  readonly active: boolean;
  /** It was made in a hub (`STRAY_OPTION`). */
  readonly stray: boolean;
}

/** Set to 1 on a window that somebody made in a hub. */
export const STRAY_OPTION = "@tmuxwire_stray";

/** For `list-windows -a`: one row per place of a window in a session. Ids only. */
export const WINDOW_LINKS_FORMAT = `#{session_id} #{window_id} #{window_index} #{window_active} #{?#{==:#{${STRAY_OPTION}},1},1,0}`;

export function decodeWindowLinks(body: Uint8Array): WindowLink[] {
  return lines(body).flatMap((line) => {
    const [session = "", window = "", index, active, stray] = line.split(" ");
    if (!isSessionId(session) || !isWindowId(window)) return [];
    return [{ session, window, index: Number(index), active: active === "1", stray: stray === "1" }];
  });
}

export interface SessionRow {
  readonly session: SessionId;
  readonly createdSec: number;
  /** Unix time of the second in which it was used last, by a key, or by somebody who came to it. */
  readonly usedSec: number;
  /** Clients attached to it. */
  readonly attached: number;
  readonly name: string;
}

/** For `list-sessions`. */
export const sessionRowsFormat = (nonce: string): string =>
  `${nonce}#{session_id} #{session_created} #{session_attached} #{session_activity}${nonce}#{session_name}`;

export function decodeSessionRows(body: Uint8Array, nonce: string): SessionRow[] {
  return foreignRows(body, nonce, 2).flatMap(([ids = "", name = ""]) => {
    const [session = "", created, attached, used] = ids.split(" ");
    if (!isSessionId(session)) return [];
    return [{ session, createdSec: Number(created), usedSec: Number(used), attached: Number(attached), name }];
  });
}

/** For `list-clients`. */
export const TERMINALS_FORMAT = "#{client_control_mode} #{session_id}";

/** Terminals per session: clients in control mode are programs. */
export function decodeTerminals(body: Uint8Array): ReadonlyMap<SessionId, number> {
  const counts = new Map<SessionId, number>();
  for (const line of lines(body)) {
    const [control, session = ""] = line.split(" ");
    if (control === "0" && isSessionId(session)) counts.set(session, (counts.get(session) ?? 0) + 1);
  }
  return counts;
}

/** What tmux says of a program that has ended, and of the process that it was. */
export interface PaneEnd {
  /** 0 when tmux does not say. */
  readonly pid: number;
  readonly deadStatus: number | undefined;
  readonly deadSignal: number | undefined;
}

interface WindowShapeRow {
  readonly cols: number;
  readonly rows: number;
  /** The window's active pane covers it. */
  readonly zoomed: boolean;
  /** As tmux writes it; of a zoomed window that to which it goes back. */
  readonly layout: string;
}

export interface PaneRow extends PaneEnd {
  readonly window: WindowId;
  readonly pane: PaneId;
  readonly active: boolean;
  readonly cols: number;
  readonly rows: number;
  readonly dead: boolean;
  /** Only in the row of the window's active pane: each row would be as long as the window has panes. */
  readonly shape: WindowShapeRow | undefined;
  readonly windowName: string;
  readonly title: string;
}

/** For `list-panes`. */
export const paneRowsFormat = (nonce: string): string =>
  `${nonce}#{window_id} #{pane_id} #{pane_active} #{pane_width} #{pane_height} #{pane_pid}` +
  ` #{pane_dead} #{pane_dead_status} #{pane_dead_signal}` +
  ` #{?pane_active,#{window_width} #{window_height} #{window_zoomed_flag} #{window_layout},}${nonce}#{window_name}${nonce}#{pane_title}`;

export function decodePaneRows(body: Uint8Array, nonce: string): PaneRow[] {
  return foreignRows(body, nonce, 3).flatMap(([ids = "", windowName = "", title = ""]) => {
    const [window = "", pane = "", active, cols, rows, pid, dead, status, signal, ...ofWindow] = ids.split(" ");
    const [windowCols, windowRows, zoomed, layout] = ofWindow;
    if (!isWindowId(window) || !isPaneId(pane)) return [];
    return [
      {
        window,
        pane,
        active: active === "1",
        cols: Number(cols),
        rows: Number(rows),
        pid: Number(pid),
        dead: dead === "1",
        deadStatus: optionalNumber(status),
        deadSignal: optionalNumber(signal),
        shape:
          layout === undefined
            ? undefined
            : { cols: Number(windowCols), rows: Number(windowRows), zoomed: zoomed === "1", layout },
        windowName,
        title,
      },
    ];
  });
}

export interface PaneDetailsRow {
  readonly pane: PaneId;
  /** Lines above the screen. */
  readonly historyLines: number;
  readonly alternateScreen: boolean;
  /** A mode of tmux's own covers the screen (copy mode and the like). */
  readonly inMode: boolean;
  readonly tty: string;
  /** Of the pane's own process; undefined where tmux does not tell (a dead pane). */
  readonly pid: number | undefined;
  readonly command: string;
  readonly path: string;
  readonly title: string;
}

/** For `display-message -p`; the last three fields are foreign text. */
export const paneDetailsFormat = (nonce: string): string =>
  `${nonce}#{pane_id} #{history_size} #{alternate_on} #{pane_in_mode} #{pane_tty} #{pane_pid}` +
  `${nonce}#{pane_current_command}${nonce}#{pane_current_path}${nonce}#{pane_title}`;

export function decodePaneDetails(body: Uint8Array, nonce: string): PaneDetailsRow | undefined {
  const [ids = "", command = "", path = "", title = ""] = foreignRows(body, nonce, 4)[0] ?? [];
  const [pane = "", history, alternate, modes, tty = "", pid] = ids.split(" ");
  if (!isPaneId(pane)) return undefined;
  const [historyLines, inMode] = [Number(history), Number(modes) > 0];
  const own = optionalNumber(pid);
  return { pane, historyLines, alternateScreen: alternate === "1", inMode, tty, pid: own, command, path, title };
}

/** For `display-message -p -t PANE`: where a pane is; of a pane that is gone every field is empty. Ids only. */
export const PANE_PLACE_FORMAT = "#{pane_id} #{window_id}";

export function decodePanePlaces(body: Uint8Array): (readonly [PaneId, WindowId])[] {
  return lines(body).flatMap((line) => {
    const [pane = "", window = ""] = line.split(" ");
    return isPaneId(pane) && isWindowId(window) ? [[pane, window] as const] : [];
  });
}

/** For `list-panes -F #{pane_id}`; a window in several sessions is listed as often. */
export const decodePaneIds = (body: Uint8Array): PaneId[] => [...new Set(lines(body).filter(isPaneId))];

/** What `new-window` and `split-window` print of the pane they made (`layoutCommands.ts`). */
export function decodeMade(body: Uint8Array): { readonly window: WindowId; readonly pane: PaneId } | undefined {
  const [window = "", pane = ""] = lines(body)[0]?.split(" ") ?? [];
  return isWindowId(window) && isPaneId(pane) ? { window, pane } : undefined;
}

export interface DeadPane extends PaneEnd {
  readonly pane: PaneId;
}

/** For `list-panes` of those whose terminal is closed. Ids and numbers only. */
export const DEAD_PANES_FORMAT = "#{pane_id} #{pane_pid} #{pane_dead_status} #{pane_dead_signal}";

export const decodeDeadPanes = (body: Uint8Array): DeadPane[] =>
  lines(body).flatMap((line) => {
    const [pane = "", pid, status, signal] = line.split(" ");
    if (!isPaneId(pane)) return [];
    return [{ pane, pid: Number(pid), deadStatus: optionalNumber(status), deadSignal: optionalNumber(signal) }];
  });

interface PaneMarkRow {
  readonly pane: PaneId;
  readonly text: string;
}

/** For `list-panes` of those that have this option of a user's own; its value may be anybody's. */
export const paneMarksFormat = (nonce: string, option: string): string => `${nonce}#{pane_id}${nonce}#{${option}}`;

export const decodePaneMarks = (body: Uint8Array, nonce: string): PaneMarkRow[] =>
  foreignRows(body, nonce, 2).flatMap(([pane = "", text = ""]) => (isPaneId(pane) ? [{ pane, text }] : []));

export interface ServerIdentity {
  readonly pid: number;
  readonly startSec: number;
  readonly version: string;
  /** The session this client is attached to. */
  readonly session: SessionId;
  readonly window: WindowId;
  readonly pane: PaneId;
  /** Whose it is; tmux tells since 3.3. */
  readonly uid?: number | undefined;
}

/** For `display-message -p`: who this server is (docs/tmuxFacts.md 8), and where this client is. */
export const SERVER_IDENTITY_FORMAT = "#{pid} #{start_time} #{version} #{session_id} #{window_id} #{pane_id} #{uid}";

export function decodeServerIdentity(body: Uint8Array): ServerIdentity | undefined {
  const [pid, start, version = "", session = "", window = "", pane = "", uid = ""] = lines(body)[0]?.split(" ") ?? [];
  if (!isSessionId(session) || !isWindowId(window) || !isPaneId(pane)) return undefined;
  const owner = uid === "" ? {} : { uid: Number(uid) };
  return { pid: Number(pid), startSec: Number(start), version, session, window, pane, ...owner };
}

interface ClientState {
  /** The session this client is attached to. */
  readonly session: SessionId;
  readonly flags: ReadonlySet<string>;
}

/** For `display-message -p`: where this client is and how it is; what follows them in a line is the caller's. */
export const CLIENT_STATE_FORMAT = "#{session_id} #{client_flags}";

export function decodeClientState(body: Uint8Array): ClientState | undefined {
  const [session = "", flags = ""] = lines(body)[0]?.split(" ") ?? [];
  return isSessionId(session) ? { session, flags: new Set(flags.split(",")) } : undefined;
}

export interface WindowTime {
  readonly session: SessionId;
  readonly window: WindowId;
  /** Unix time of the second in which something was last written in it. */
  readonly writtenSec: number;
}

/** For `list-windows`. Ids and numbers only. */
export const WINDOW_TIMES_FORMAT = "#{session_id} #{window_id} #{window_activity}";

export const decodeWindowTimes = (body: Uint8Array): WindowTime[] =>
  lines(body).flatMap((line) => {
    const [session = "", window = "", written] = line.split(" ");
    return isSessionId(session) && isWindowId(window) ? [{ session, window, writtenSec: Number(written) }] : [];
  });

/** One word for which server it is. */
export const identityText = ({ pid, startSec }: Pick<ServerIdentity, "pid" | "startSec">): string =>
  `${pid}.${startSec}`;

const utf8 = new TextDecoder();

/** A field that tmux leaves empty when it does not hold. */
export const optionalNumber = (text: string | undefined): number | undefined =>
  text === undefined || text === "" ? undefined : Number(text);

/** The lines of a body of ids and numbers. */
export function lines(body: Uint8Array): string[] {
  const all = utf8.decode(body).split("\n");
  all.pop();
  return all;
}

/** Rows of `fields` texts each, where every field begins with the nonce and a row ends with its line. */
function foreignRows(body: Uint8Array, nonce: string, fields: number): string[][] {
  const texts = utf8.decode(body).split(nonce).slice(1);
  const rows: string[][] = [];
  for (let at = 0; at + fields <= texts.length; at += fields) {
    const row = texts.slice(at, at + fields);
    row[fields - 1] = row[fields - 1]!.replace(/\n$/, "");
    rows.push(row);
  }
  return rows;
}
