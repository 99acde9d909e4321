/** The panes behind terminals: each in its own session, made in one step with its options, and removed with it. */
import { randomBytes } from "node:crypto";
import type { SessionInfo } from "../../../daemon/tmux/inventory.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { sleep } from "../../../daemon/time/within.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import {
  type MadeFor,
  madeForSchema,
  TERMINAL_ID,
  TERMINAL_MODES,
  type TerminalMode,
} from "../../../protocol/api/freshell/freshellHttp.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Terminal, TerminalIdentity, TerminalSize } from "./terminal.ts";
import { BEGIN_LOOK_MS, BEGIN_WITHIN_MS } from "../freshellLimits.ts";
import { matches } from "../../../protocol/api/parse.ts";
import type { PaneUserOptions } from "../../../daemon/tmux/userOptions.ts";

/** Our sessions: one without our options was interrupted while being made. */
const SESSION_PREFIX = "freshell-";

/** What is kept of a terminal on its pane. */
interface MarkedTerminal extends TerminalIdentity {
  /** Of two panes of one terminal the later one counts: a respawn was interrupted. */
  readonly generation: number;
  /** No `outputSeq` above this has been reported. */
  readonly reservedSeq: number;
  readonly isOrphan: boolean;
  readonly madeFor: MadeFor | undefined;
}

interface StoredTerminal extends MarkedTerminal {
  readonly pane: PaneId;
}

interface PaneToMake {
  readonly command: readonly string[];
  readonly size: TerminalSize;
  /** For `FRESHELL_URL`. */
  readonly url: string;
}

/** @throws AppError RESOURCE_LIMIT, TMUX_COMMAND_FAILED, CONNECTION_LOST */
export async function makePane(
  server: TmuxServer,
  terminal: MarkedTerminal,
  { command, size, url }: PaneToMake,
): Promise<PaneId> {
  const { id, cwd, madeFor } = terminal;
  const { activePane } = await server.createSession({
    name: `${SESSION_PREFIX}${randomBytes(8).toString("hex")}`,
    cwd,
    command,
    ...size,
    remainOnExit: "whereSafe",
    windowName: "freshell",
    environment: { FRESHELL_URL: url, FRESHELL_TERMINAL_ID: id, ...placeVariables(madeFor) },
    userOptions: userOptionsOf(terminal),
  });
  if (activePane !== undefined) return activePane;
  throw new AppError("TMUX_COMMAND_FAILED", "the terminal's program exited immediately; is it installed?");
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
    if (program === undefined) await sleep(clock, BEGIN_LOOK_MS);
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

/**
 * The user options that make a pane a terminal, so that terminals outlive the daemon. `freshell` holds the terminal's id, the
 * others what its entry and a respawn need. Anyone with access to the tmux socket can set them too: values are validated,
 * and trusted no further.
 */
export const SEQ_OPTION = "freshell_seq";
/** Made for a device's pane, and no pane has been confirmed to show it. */
export const ORPHAN_OPTION = "freshell_orphan";
/** The pane it was made for: device, tab and pane, whose ids hold no blanks. */
const MADE_FOR_OPTION = "freshell_made_for";
const [ID_OPTION, TITLE_OPTION, CWD_OPTION, SHELL_OPTION, RESUME_OPTION] = [
  "freshell",
  "freshell_title",
  "freshell_cwd",
  "freshell_shell",
  "freshell_resume",
] as const;

function userOptionsOf(terminal: MarkedTerminal): Record<string, string> {
  const { id, createdAt, mode, shell, cwd, title, resumeSessionId, generation, reservedSeq, isOrphan, madeFor } =
    terminal;
  return {
    [ID_OPTION]: `${id}.${generation}.${createdAt}.${mode}`,
    [SEQ_OPTION]: String(reservedSeq),
    [TITLE_OPTION]: title,
    [CWD_OPTION]: cwd,
    [SHELL_OPTION]: shell,
    ...(resumeSessionId === undefined ? {} : { [RESUME_OPTION]: resumeSessionId }),
    ...(isOrphan ? { [ORPHAN_OPTION]: "1" } : {}),
    ...(madeFor === undefined ? {} : { [MADE_FOR_OPTION]: `${madeFor.deviceId} ${madeFor.tabId} ${madeFor.paneId}` }),
  };
}

/** The newest pane of each terminal, oldest terminal first, asked of tmux. @throws AppError CONNECTION_LOST */
export async function readTerminals(server: PaneUserOptions): Promise<readonly StoredTerminal[]> {
  const newest = new Map<string, StoredTerminal>();
  for (const stored of await readPanes(server)) {
    const other = newest.get(stored.id);
    if (other === undefined || other.generation < stored.generation) newest.set(stored.id, stored);
  }
  return [...newest.values()].toSorted((a, b) => a.createdAt - b.createdAt);
}

async function readPanes(server: PaneUserOptions): Promise<readonly StoredTerminal[]> {
  const [ids, seqs, titles, cwds, shells, resumes, orphans, madeFor] = await Promise.all(
    [ID_OPTION, SEQ_OPTION, TITLE_OPTION, CWD_OPTION, SHELL_OPTION, RESUME_OPTION, ORPHAN_OPTION, MADE_FOR_OPTION].map(
      (name) => server.paneUserOptions(name),
    ),
  );
  return [...(ids ?? [])].flatMap(([pane, value]) => {
    const [id = "", generation, createdAt, mode = ""] = value.split(".");
    const numbers = [generation, createdAt, seqs?.get(pane) ?? "0"].map(Number);
    if (!TERMINAL_ID.test(id) || !isMode(mode) || !numbers.every((number) => isCount(number))) return [];
    return [
      {
        pane,
        id,
        mode,
        generation: numbers[0]!,
        createdAt: numbers[1]!,
        reservedSeq: numbers[2]!,
        title: titles?.get(pane) ?? mode,
        cwd: cwds?.get(pane) ?? "/",
        shell: shells?.get(pane) ?? "system",
        resumeSessionId: resumes?.get(pane),
        isOrphan: orphans?.has(pane) === true,
        madeFor: madeForOf(madeFor?.get(pane)),
      },
    ];
  });
}

function madeForOf(text: string | undefined): MadeFor | undefined {
  const [deviceId, tabId, paneId] = text?.split(" ") ?? [];
  const given = { deviceId, tabId, paneId };
  return matches(madeForSchema, given) ? given : undefined;
}

const isMode = (text: string): text is TerminalMode => (TERMINAL_MODES as readonly string[]).includes(text);
const isCount = (number: number): boolean => Number.isSafeInteger(number) && number >= 0;
