/** The panes behind terminals: each in its own session, made in one step with its options, and removed with it. */
import { randomBytes } from "node:crypto";
import type { SessionInfo } from "../../../daemon/tmux/inventory.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { MadeFor } from "../../../protocol/api/freshell/freshellHttp.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Terminal, TerminalSize } from "./terminal.ts";
import { BEGIN_LOOK_MS, BEGIN_WITHIN_MS } from "../freshellLimits.ts";
import { userOptionsOf, type TerminalIdentity } from "./terminalOptions.ts";

/** Our sessions: one without our options was interrupted while being made. */
const SESSION_PREFIX = "freshell-";

interface PaneToMake {
  readonly identity: TerminalIdentity;
  readonly command: readonly string[];
  readonly size: TerminalSize;
  readonly generation: number;
  readonly reservedSeq: number;
  readonly isOrphan: boolean;
  readonly madeFor: MadeFor | undefined;
  /** For `FRESHELL_URL`. */
  readonly url: string;
}

/** @throws AppError RESOURCE_LIMIT, TMUX_COMMAND_FAILED, CONNECTION_LOST */
export async function makePane(server: TmuxServer, pane: PaneToMake): Promise<PaneId> {
  const { identity, command, size, madeFor, url } = pane;
  const { activePane } = await server.createSession({
    name: `${SESSION_PREFIX}${randomBytes(8).toString("hex")}`,
    cwd: identity.cwd,
    command,
    ...size,
    remainOnExit: "whereSafe",
    windowName: "freshell",
    environment: { FRESHELL_URL: url, FRESHELL_TERMINAL_ID: identity.id, ...placeVariables(madeFor) },
    userOptions: userOptionsOf(identity, pane),
  });
  if (activePane !== undefined) return activePane;
  throw new AppError("TMUX_COMMAND_FAILED", "the terminal's program has ended at once; is it there?");
}

/** So that a command line in it knows its own pane. */
const placeVariables = (madeFor: MadeFor | undefined): Readonly<Record<string, string>> =>
  madeFor === undefined
    ? {}
    : {
        FRESHELL_DEVICE_ID: madeFor.deviceId,
        FRESHELL_TAB_ID: madeFor.tabId,
        FRESHELL_PANE_ID: madeFor.paneId,
      };

/** Resolves once the program of a new pane is known: tmux answers before it has begun. */
export async function begun(terminal: Terminal, pane: PaneId, server: TmuxServer, clock: Clock): Promise<void> {
  const lastMs = clock.nowMs() + BEGIN_WITHIN_MS;
  while (terminal.program === undefined && terminal.isRunning && clock.nowMs() < lastMs) {
    const program = await server.programIn(pane);
    if (terminal.pane === pane) terminal.program = program;
    // Where every look takes a program, a kill looks again.
    if (!server.processes.reportsNow) return;
    if (program === undefined)
      await new Promise<void>((next) => void clock.callAt(clock.nowMs() + BEGIN_LOOK_MS, next));
  }
}

/** With its program, if that still runs. @throws AppError CONNECTION_LOST */
export async function removePane(server: TmuxServer, pane: PaneId): Promise<void> {
  const session = server.sessions().find((each) => panesOf(server, each).includes(pane));
  try {
    if (session?.name.startsWith(SESSION_PREFIX) === true) await server.killSession(session.id);
    else await server.layout.run({ kind: "kill-pane", pane });
  } catch (error) {
    // It has closed by itself.
    if (!(error instanceof AppError && error.code === "NOT_FOUND")) throw error;
  }
}

/** Our sessions without a terminal's pane: a daemon was killed while it made or respawned one. */
export const unfinishedSessions = (server: TmuxServer, terminals: ReadonlySet<PaneId>): readonly SessionInfo[] =>
  server
    .sessions()
    .filter(({ name }) => name.startsWith(SESSION_PREFIX))
    .filter((session) => !panesOf(server, session).some((pane) => terminals.has(pane)));

function panesOf(server: TmuxServer, { windows }: SessionInfo): readonly PaneId[] {
  const inSession = new Set(windows);
  return server.windows().flatMap((window) => (inSession.has(window.id) ? window.panes : []));
}
