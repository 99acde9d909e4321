/** Converts the daemon's data to the API's responses. */
import type { PaneInfo, SessionInfo } from "../../daemon/tmux/inventory.ts";
import type { Capture } from "../../daemon/tmux/io.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { headOf, type Waiting } from "../../daemon/tmux/outputSource.ts";
import type { Readiness } from "../../daemon/readiness/readiness.ts";
import type { WaitResult } from "../../daemon/waits/waitRequest.ts";
import type {
  NativeCapture,
  NativePane,
  NativeReadiness,
  NativeServer,
  NativeSession,
  NativeWaitResponse,
} from "../../protocol/api/native/nativeResponses.ts";
import { screenFields } from "./panes/screenOutputs.ts";
import { formatGap, formatPosition } from "../../protocol/position.ts";

export function nativeServer(name: string, server: TmuxServer): NativeServer {
  const { kind, epoch, tmuxVersion, socketPath } = server.status();
  const { state, ...waiting } = nativeState(server);
  return {
    name,
    kind,
    state,
    epoch,
    tmuxVersion: tmuxVersion ?? null,
    socketPath: socketPath ?? null,
    sessions: server.sessions().length,
    panes: server.panes().length,
    ...waiting,
  };
}

/** Whether tmux responds, and what clients of ours wait for. */
export function nativeState(server: TmuxServer): Pick<NativeServer, "state" | "waiting"> {
  const { state, waiting } = server.status();
  return { state, ...nativeWaiting(waiting) };
}

/** Nothing where nothing is waited for. */
export const nativeWaiting = (waiting: Waiting | undefined): Pick<NativeServer, "waiting"> =>
  waiting === undefined ? {} : { waiting };

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
    exit: exit ?? null,
    position: server.status().kind === "guest" ? null : formatPosition(headOf(server.output(id))),
    readiness: readiness === undefined ? null : nativeReadiness(readiness),
  };
}

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
  dialog: dialog as NativeReadiness["dialog"],
});

/** Milliseconds, rounded to three decimals. */
export const wholeMicros = (ms: number): number => Math.round(ms * 1_000) / 1_000;

export const nativeCapture = (capture: Capture): NativeCapture => ({
  ...screenFields(capture),
  lines: [...capture.lines],
  cursor: capture.cursor,
});

export const waitResponse = ({ matched, position, exit, elapsedMs, gaps }: WaitResult): NativeWaitResponse => ({
  matched: matched.map(({ predicate, text, on, from, to }) => ({
    predicate,
    text,
    on,
    from: from && formatPosition(from),
    to: to && formatPosition(to),
  })),
  position: formatPosition(position),
  exit,
  elapsedMs: wholeMicros(elapsedMs),
  gaps: gaps.map(formatGap),
});
