/** From what the daemon knows to the API's responses. */
import type { PaneInfo, SessionInfo } from "../../daemon/tmux/inventory.ts";
import type { Capture, PaneDetails } from "../../daemon/tmux/io.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { headOf } from "../../daemon/tmux/outputSource.ts";
import type { Dialog, Readiness } from "../../daemon/readiness/readiness.ts";
import type { WaitResult } from "../../daemon/waits/waitTypes.ts";
import type {
  NativeCapture,
  NativePane,
  NativePaneDetails,
  NativeReadiness,
  NativeServer,
  NativeSession,
  NativeWaitResponse,
} from "../../protocol/api/nativeResponses.ts";
import { nativeExit, screenFields } from "./screenOutputs.ts";
import { formatGap, formatPosition } from "../../protocol/position.ts";

export function nativeServer(name: string, server: TmuxServer): NativeServer {
  const { kind, state, epoch, tmuxVersion, socketPath } = server.status();
  return {
    name,
    kind,
    state,
    epoch,
    tmuxVersion: tmuxVersion ?? null,
    socketPath: socketPath ?? null,
    sessions: server.sessions().length,
    panes: server.panes().length,
  };
}

export const nativeSession = ({ id, name, windows, activePane, createdSec }: SessionInfo): NativeSession => ({
  id,
  name,
  windows: [...windows],
  activePane: activePane ?? null,
  createdSec,
});

export function nativePane(server: TmuxServer, pane: PaneInfo, readiness: Readiness | undefined): NativePane {
  const { id, window, cols, rows, active, pid, title, exit } = pane;
  const sessions = server.sessions().filter((session) => session.windows.includes(window));
  return {
    id,
    window,
    sessions: sessions.map((session) => session.name),
    cols,
    rows,
    active,
    pid,
    title,
    dead: exit !== undefined,
    exit: exit === undefined ? null : nativeExit(exit),
    position: server.status().kind === "guest" ? null : formatPosition(headOf(server.output(id))),
    readiness: readiness === undefined ? null : nativeReadiness(readiness),
  };
}

export const nativePaneDetails = (
  server: TmuxServer,
  pane: PaneInfo,
  details: PaneDetails,
  readiness: Readiness | undefined,
): NativePaneDetails => ({
  ...nativePane(server, pane, readiness),
  ...details,
});

export const nativeReadiness = ({
  state,
  source,
  sinceUnixMs,
  position,
  profile,
  dialog,
}: Readiness): NativeReadiness => ({
  state,
  source,
  sinceUnixMs: Math.round(sinceUnixMs),
  position: position === undefined ? null : formatPosition(position),
  profile,
  ...(dialog === undefined ? {} : { dialog: nativeDialog(dialog) }),
});

const nativeDialog = ({ id, text, options, otherIndex, marked, multi }: Dialog): NativeReadiness["dialog"] => ({
  id,
  text,
  options: options.map(({ index, number, label, checked, keys }) => ({
    index,
    ...(number === undefined ? {} : { number }),
    label,
    ...(checked === undefined ? {} : { checked }),
    keys: [...keys],
  })),
  ...(otherIndex === undefined ? {} : { otherIndex }),
  ...(marked === undefined ? {} : { marked }),
  multi,
});

export const nativeCapture = (capture: Capture): NativeCapture => ({
  ...screenFields(capture),
  lines: [...capture.lines],
  cursor: capture.cursor,
});

export const waitResponse = ({ matched, position, exit, elapsedMs, gaps }: WaitResult): NativeWaitResponse => ({
  matched: matched.map(({ predicate, text, on, from, to }) => ({
    predicate,
    ...(text === undefined ? {} : { text }),
    ...(on === undefined ? {} : { on }),
    ...(from === undefined ? {} : { from: formatPosition(from) }),
    ...(to === undefined ? {} : { to: formatPosition(to) }),
  })),
  position: formatPosition(position),
  ...(exit === undefined ? {} : { exit: nativeExit(exit) }),
  elapsedMs: Math.round(elapsedMs * 1_000) / 1_000,
  gaps: gaps.map(formatGap),
});
