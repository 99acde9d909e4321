/** What the daemon knows as the API's answers. */
import type {
  Capture,
  PaneDetails,
  PaneInfo,
  SessionInfo,
  Snapshot,
  TmuxServer,
} from "../../daemon/server/tmuxServer.ts";
import type { StreamGap } from "../../daemon/panes/subscription.ts";
import type { ExitStatus } from "../../daemon/panes/outputSource.ts";
import { headOf } from "../../daemon/panes/outputSource.ts";
import type { WaitResult } from "../../daemon/waits/waitTypes.ts";
import type {
  NativeCapture,
  NativeExit,
  NativeGap,
  NativePane,
  NativePaneDetails,
  NativeServer,
  NativeSession,
  NativeSnapshot,
  NativeWaitAnswer,
} from "../../protocol/api/nativeAnswers.ts";
import { formatPosition, type Gap } from "../../protocol/position.ts";

export function serverAnswer(name: string, server: TmuxServer): NativeServer {
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

export const sessionAnswer = ({ id, name, windows, activePane, createdSec }: SessionInfo): NativeSession => ({
  id,
  name,
  windows: [...windows],
  activePane: activePane ?? null,
  createdSec,
});

export function paneAnswer(server: TmuxServer, pane: PaneInfo): NativePane {
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
    exit: exit === undefined ? null : exitAnswer(exit),
    position: server.status().kind === "guest" ? null : formatPosition(headOf(server.output(id))),
  };
}

export const paneDetailsAnswer = (server: TmuxServer, pane: PaneInfo, details: PaneDetails): NativePaneDetails => ({
  ...paneAnswer(server, pane),
  ...details,
});

export const exitAnswer = ({ exitCode, signal }: ExitStatus): NativeExit => ({
  ...(exitCode === undefined ? {} : { exitCode }),
  ...(signal === undefined ? {} : { signal }),
});

export const captureAnswer = (capture: Capture): NativeCapture => ({
  ...screenAnswer(capture),
  lines: [...capture.lines],
  cursor: capture.cursor,
});

export const snapshotAnswer = (snapshot: Snapshot): NativeSnapshot => ({
  ...screenAnswer(snapshot),
  data: Buffer.from(snapshot.data.buffer, snapshot.data.byteOffset, snapshot.data.byteLength).toString("base64"),
});

const screenAnswer = ({ position, exact, cols, rows, alternateScreen }: Capture | Snapshot) => ({
  position: formatPosition(position),
  exact,
  cols,
  rows,
  alternateScreen,
});

export const gapAnswer = ({ from, to, reason }: StreamGap): NativeGap => ({
  from: formatPosition(from),
  to: formatPosition(to),
  reason,
});

/** A gap within one epoch. */
export const gapWithin = (epoch: string, { from, to, reason }: Gap): NativeGap => ({
  from: formatPosition({ epoch, outputSeq: from }),
  to: formatPosition({ epoch, outputSeq: to }),
  reason,
});

export const waitAnswer = ({ matched, position, exit, elapsedMs, gaps }: WaitResult): NativeWaitAnswer => ({
  matched: matched.map(({ predicate, text, from, to }) => ({
    predicate,
    ...(text === undefined ? {} : { text }),
    ...(from === undefined ? {} : { from: formatPosition(from) }),
    ...(to === undefined ? {} : { to: formatPosition(to) }),
  })),
  position: formatPosition(position),
  ...(exit === undefined ? {} : { exit: exitAnswer(exit) }),
  elapsedMs: Math.round(elapsedMs * 1_000) / 1_000,
  gaps: gaps.map((gap) => gapWithin(position.epoch, gap)),
});
