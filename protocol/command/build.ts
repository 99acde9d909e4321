/**
 * One typed builder per tmux command that we send; each returns one command without a newline. Targets are ids; names only
 * occur as `=NAME:` inside a group that creates the name. No other code writes tmux syntax.
 *
 * Command names are written without their last letter. tmux completes them, which bypasses a `command-alias` for the full
 * name, with which anyone could redefine a command for the whole server (docs/tmuxFacts.md 52).
 */
import { PANE_IDS } from "./formats.ts";
import type { PaneId, SessionId, WindowId } from "../ids.ts";
import { type NewPaneProgram, program, quote, quoteLiteralFormat } from "./encode.ts";

/**
 * Several commands on one line, executed as one step, with one guard block each; if one fails, the rest is dropped. An empty
 * string stands for the block of a command that another command runs.
 */
export const joinGroup = (commands: readonly string[]): string =>
  commands.filter((command) => command !== "").join(" ; ");

/** Prints `format` expanded for `target`; an unknown target is not an error and expands to empty fields. */
export const displayMessage = (format: string, target?: PaneId): string =>
  `display-messag -p ${target === undefined ? "" : `-t ${target} `}${quote(format)}`;

/** Makes tmux start a program that ends at once, without waiting for it. */
export const startProgram = (): string => "run-shel -b true";

/** Leaves copy mode and any other mode; does nothing outside one (docs/tmuxFacts.md 26). */
export const leaveModes = (pane: PaneId): string => `copy-mod -q -t ${pane}`;

/** Prints 1 if the pane's input is turned off (`select-pane -d`), in which case tmux drops typed input. */
export const askInputOff = (pane: PaneId): string => displayMessage("#{pane_input_off}", pane);

/** Types printable UTF-8 text unchanged. */
export const sendLiteral = (pane: PaneId, text: Uint8Array): string => `send-key -l -t ${pane} -- ${quote(text)}`;

/** Types any bytes, including NUL and 0xFF, one argument each (docs/tmuxFacts.md 25). */
export function sendBytes(pane: PaneId, bytes: Uint8Array): string {
  let hex = "";
  for (const byte of bytes) hex += byte < 16 ? ` 0${byte.toString(16)}` : ` ${byte.toString(16)}`;
  return `send-key -H -t ${pane}${hex}`;
}

/** Presses keys by tmux's names, which the caller has validated. */
export const sendKeys = (pane: PaneId, keys: readonly string[]): string =>
  `send-key -t ${pane} -- ${keys.map((key) => quote(key)).join(" ")}`;

/** A condition on a pane that tmux evaluates when it executes a command (`PaneCondition`). */
interface CommandCondition {
  readonly cursor?: { readonly col: number; readonly row: number } | undefined;
  readonly pid?: number | undefined;
  readonly command?: string | undefined;
}

/**
 * Runs commands if the condition holds when tmux executes them; otherwise fails with an error that names `otherwise`, which
 * must not be a session's name. They come last in their group, each with a guard block after the condition's
 * (docs/tmuxFacts.md 45).
 */
export const onlyIf = (
  pane: PaneId,
  condition: CommandCondition,
  commands: readonly string[],
  otherwise: string,
): readonly string[] => [
  `if-shel -F -t ${pane} ${quote(conditionFormat(condition))} ` +
    `${quote(joinGroup(commands))} ${quote(`has-sessio -t ${quote(`=${otherwise}`)}`)}`,
  ...commands.map(() => ""),
];

/** Characters that have no meaning inside `#{==:…}`. */
const PLAIN_NAME = /^[A-Za-z0-9._+-]{1,64}$/;

function conditionFormat({ cursor, pid, command }: CommandCondition): string {
  const terms = [
    ...(cursor === undefined ? [] : [`#{==:#{cursor_x} #{cursor_y},${cursor.col} ${cursor.row}}`]),
    ...(pid === undefined ? [] : [`#{==:#{pane_pid},${pid}}`]),
    ...(command === undefined || !PLAIN_NAME.test(command) ? [] : [`#{==:#{pane_current_command},${command}}`]),
  ];
  return terms.length === 0 ? "1" : terms.reduceRight((rest, term) => `#{&&:${term},${rest}}`);
}

export const setBuffer = (name: string, bytes: Uint8Array, append: boolean): string =>
  `set-buffe ${append ? "-a " : ""}-b ${name} -- ${quote(bytes)}`;

interface PasteBuffer {
  /** Takes effect only under `?2004h`. */
  readonly bracketed: boolean;
  /** `-S`: keep control bytes unchanged. A tmux that lacks the flag never changes them (`TmuxFeatures`). */
  readonly raw: boolean;
}

/** Pastes the buffer byte for byte (`-r`: LF stays LF) and deletes it. */
export const pasteBuffer = (pane: PaneId, name: string, { bracketed, raw }: PasteBuffer): string =>
  `paste-buffe -d -r ${raw ? "-S " : ""}${bracketed ? "-p " : ""}-b ${name} -t ${pane}`;

/** Prints a command's flags and arguments in this server's version of tmux. */
export const listCommandUsage = (command: string): string =>
  `list-command -F ${quote("#{command_list_usage}")} ${command}`;

export const deleteBuffer = (name: string): string => `delete-buffe -b ${name}`;

/** Prints the names of buffers that match a tmux pattern. */
export const listBufferNames = (pattern: string): string => listBuffers(pattern, "#{buffer_name}");

/** Prints the bytes of a buffer; nothing if there is none of that name. */
export const bufferSize = (name: string): string => listBuffers(name, "#{buffer_size}");

const listBuffers = (pattern: string, format: string): string =>
  `list-buffer -F ${quote(format)} -f ${quote(`#{m:${pattern},#{buffer_name}}`)}`;

/** tmux writes the file itself, before it responds. It expands the path as a format. */
export const saveBuffer = (name: string, path: string): string =>
  `save-buffe -b ${name} ${quote(path.replaceAll("#", "##"))}`;

interface CapturePane {
  /** The first line: 0 is the top of the screen (default), negative numbers are history. */
  readonly startLine?: number | "oldest" | undefined;
  readonly joinWrapped?: boolean | undefined;
  readonly escapes?: boolean | undefined;
  /** The paste buffer that takes the text, which is otherwise printed. */
  readonly buffer?: string | undefined;
}

export const capturePane = (pane: PaneId, options: CapturePane): string =>
  `capture-pan ${options.buffer === undefined ? "-p" : `-b ${options.buffer}`} -t ${pane}${startOf(options.startLine)}` +
  `${options.joinWrapped === true ? " -J" : ""}${options.escapes === true ? " -e" : ""}`;

/** In tmux, `-` is the oldest kept line. */
const startOf = (line: CapturePane["startLine"]): string =>
  line === undefined ? "" : ` -S ${line === "oldest" ? "-" : line}`;

/** The newest lines of history with attributes, wrapped rows joined; the screen's first row if there is no history. */
export const captureHistory = (pane: PaneId, lines: number): string =>
  `capture-pan -p -e -J -S ${-lines} -E -1 -t ${pane}`;

/** Some rows of history in the same form, `begin` to `end` (exclusive), counted back from the screen's first. */
export const captureChunk = (pane: PaneId, begin: number, end: number): string =>
  `capture-pan -p -e -J -S ${begin} -E ${end - 1} -t ${pane}`;

/** The row before `row`, and `row` itself; one line if the first continues in the second. */
export const captureBoundary = (pane: PaneId, row: number): string =>
  `capture-pan -p -J -S ${row - 1} -E ${row} -t ${pane}`;

/** One of a pane's two screens: the displayed one, or the normal one saved behind the alternate one. */
type PaneScreen = "shown" | "saved";

const ofScreen = (screen: PaneScreen): string => (screen === "saved" ? " -a -q" : "");

/** Every cell of a screen with its attributes, including trailing spaces; nothing if there is no saved screen. */
export const captureCells = (pane: PaneId, screen: PaneScreen): string =>
  `capture-pan -p -e -N${ofScreen(screen)} -t ${pane}`;

/** The same cells without attributes, wrapped rows joined, to find out which rows are wrapped. */
export const captureJoined = (pane: PaneId, screen: PaneScreen): string =>
  `capture-pan -p -J${ofScreen(screen)} -t ${pane}`;

/** The incomplete escape sequence at the end of the pane's output, with control bytes and backslashes as octal escapes. */
export const capturePending = (pane: PaneId): string => `capture-pan -p -P -C -t ${pane}`;

/** A session by the exact name that the same line has given it; also means its only window or pane. */
export type JustMade = `=${string}:`;

/** Sets the size of a window and keeps it (`window-size manual`). */
export const resizeWindow = (window: WindowId | JustMade, cols: number | undefined, rows: number | undefined): string =>
  `resize-windo -t ${targetOf(window)}${size(cols, rows)}`;

const size = (cols: number | undefined, rows: number | undefined): string =>
  (cols === undefined ? "" : ` -x ${cols}`) + (rows === undefined ? "" : ` -y ${rows}`);

const targetOf = (target: WindowId | PaneId | JustMade): string => (target.startsWith("=") ? quote(target) : target);

export interface NewSession extends NewPaneProgram {
  readonly name: string;
  /** Default: tmux's own options. */
  readonly cols?: number | undefined;
  readonly rows?: number | undefined;
  /** `-P -F`: the format to print for the new session. */
  readonly format: string;
  /** Default: derived by tmux from the command. */
  readonly windowName?: string | undefined;
  /** Default true. False (`-E`): the session gets nothing from this client's environment. */
  readonly updateEnvironment?: boolean | undefined;
}

export const newSession = ({ name, format, cols, rows, windowName, updateEnvironment, ...rest }: NewSession): string =>
  `new-sessio -d${updateEnvironment === false ? " -E" : ""} -P -F ${quote(format)}${size(cols, rows)}` +
  (windowName === undefined ? "" : ` -n ${quoteLiteralFormat(windowName)}`) +
  ` -s ${quoteLiteralFormat(name)}${program(rest)}`;

/** Sets a variable of the environment of new panes of the server. */
export const setEnvironment = (name: string, value: string): string =>
  `set-environmen -g ${quote(name)} ${quote(value)}`;

/** Removes a variable from the environment of new panes of the server or one session. Not an error if it is not set. */
export const unsetEnvironment = (name: string, session?: SessionId): string =>
  session === undefined ? `set-environmen -gu ${quote(name)}` : `set-environmen -t ${quote(session)} -u ${quote(name)}`;

export const linkWindow = (window: WindowId, session: SessionId): string =>
  `link-windo -d -s ${quote(window)} -t ${quote(`${session}:`)}`;

/**
 * Links the window unless it is in the session of this name: a listing can come between a window's creation and the hook
 * that links it. `name` holds nothing that is special in a format. Comes last in its group, with two guard blocks
 * (docs/tmuxFacts.md 45).
 */
export const linkWindowOnce = (window: WindowId, session: SessionId, name: string): readonly string[] =>
  either(window, isLinkedTo(name), NOTHING, linkWindow(window, session));

/**
 * Kills the window if it is in the session of this name alone, and otherwise leaves it; three guard blocks, for the rest see
 * `linkWindowOnce`.
 */
export const killWindowOnlyIn = (window: WindowId, name: string): readonly string[] => [
  ...either(
    window,
    `#{==:#{window_linked_sessions_list},${name}}`,
    `${unzoom(window)} ; kill-windo -t ${window}`,
    `${NOTHING} ; ${NOTHING}`,
  ),
  "",
];

/** For a window that is to end: tmux 3.4 can crash when a zoomed one does (docs/tmuxFacts.md 65). */
export const unzoom = (window: WindowId | PaneId): string => `resize-pan -t ${window}`;

/** tmux itself can only toggle the zoom, of whichever pane; others may have done so since the window was listed. */
const IS_ZOOMED = "#{&&:#{window_zoomed_flag},#{pane_active}}";

/** Zooms this pane unless it is zoomed; three guard blocks, for the rest see `linkWindowOnce`. */
export const zoomPane = (pane: PaneId): readonly string[] => [
  ...either(pane, IS_ZOOMED, `${NOTHING} ; ${NOTHING}`, `${unzoom(pane)} ; resize-pan -Z -t ${pane}`),
  "",
];

/** Unzooms this pane if it is zoomed; for the rest see `linkWindowOnce`. */
export const unzoomPane = (pane: PaneId): readonly string[] => either(pane, IS_ZOOMED, unzoom(pane), NOTHING);

const either = (
  target: WindowId | PaneId,
  condition: string,
  command: string,
  otherwise: string,
): readonly string[] => [
  `if-shel -F -t ${quote(target)} ${quote(condition)} ${quote(command)} ${quote(otherwise)}`,
  "",
];

const NOTHING = 'if-shel -F 0 ""';

/** A format that is true of a window that is in the session of this name. */
export const isLinkedTo = (name: string): string => `#{m:*${name}*,#{window_linked_sessions_list}}`;

export const killSession = (session: SessionId): string => `kill-sessio -t ${quote(session)}`;

/** The name is taken literally; tmux may store it differently. */
export const renameSession = (session: SessionId | JustMade, name: string): string =>
  `rename-sessio -t ${quote(session)} -- ${quoteLiteralFormat(name)}`;

/** Sets a window's own option. */
export const setWindowOption = (target: JustMade, option: string, value: string): string =>
  `set-optio -w -t ${quote(target)} ${option} ${quote(value)}`;

/** Unsets a window's own value of an option. */
export const unsetWindowOption = (target: WindowId | JustMade, option: string): string =>
  `set-optio -w -u -t ${quote(target)} ${option}`;

/**
 * Suppresses tmux's line below the output of a program that has ended (`Pane is dead …`), which scrolls the screen by a row
 * and loses the first row. `-q`, because tmux 3.2 lacks the option and always writes the line.
 */
export const writeNothingAtExit = (target: JustMade): string =>
  `set-optio -wq -t ${quote(target)} remain-on-exit-format ${quote("")}`;

/** Sets a pane's own value of an option. */
export const setPaneOption = (pane: PaneId | JustMade, option: string, value: string): string =>
  `set-optio -p -t ${targetOf(pane)} ${option} ${quote(value)}`;

/** Unsets a pane's own value of an option. */
export const unsetPaneOption = (pane: PaneId, option: string): string => `set-optio -p -u -t ${pane} ${option}`;

export const setHook = (hook: string, command: string): string => `set-hoo -g ${quote(hook)} ${quote(command)}`;

export const setSessionHook = (session: SessionId, hook: string, command: string): string =>
  `set-hoo -t ${quote(session)} ${quote(hook)} ${quote(command)}`;

/** `off` stops the pane's output to this client until `on`, `continue` resumes it after `%pause`. */
export const continuePane = (pane: PaneId): string => `refresh-clien -A ${quote(`${pane}:continue`)}`;

const PANES_AT_ONCE = 200;

const setPanes = (panes: readonly PaneId[], state: "on" | "pause"): readonly string[] =>
  Array.from({ length: Math.ceil(panes.length / PANES_AT_ONCE) }, (_, chunk) => {
    const each = panes.slice(chunk * PANES_AT_ONCE, (chunk + 1) * PANES_AT_ONCE);
    return `refresh-clien ${each.map((pane) => `-A ${quote(`${pane}:${state}`)}`).join(" ")}`;
  });

/** Has no effect on panes that are on or do not exist. */
export const turnPanesOn = (panes: readonly PaneId[]): readonly string[] => setPanes(panes, "on");

/** Discards what tmux has queued of them for this client, and pauses them (`%pause`). */
export const pausePanes = (panes: readonly PaneId[]): readonly string[] => setPanes(panes, "pause");

/** Its reply comes after one more turn of tmux's loop, without anything that tmux has to wait for. */
export const nextTurn = (): string => "run-shel -d 0";

/**
 * Commands that may end a session, in a turn of tmux's loop that begins with it: every tmux up to 3.7c crashes if a session
 * ends in the turn in which its current window changed, while a control client is attached (docs/tmuxFacts.md 64).
 */
export const endingInNextTurn = (...commands: readonly string[]): readonly string[] => [nextTurn(), ...commands];

/** A format that, in a hook after `refresh-client`, is true if the command turned panes off. */
export const OFF_BY_OTHERS = "#{m:*:off*,#{hook_arguments}}";

/** Sets flags of this client; a leading `!` clears one (tmux(1) attach-session `-f`). */
export const setClientFlags = (flags: string): string => `refresh-clien -f ${quote(flags)}`;

/**
 * Makes tmux report to this client, at most once a second, when a format has changed (`%subscription-changed`).
 * @param place of this client's session; for the session itself tmux may crash (docs/tmuxFacts.md 56a)
 */
export const subscribeFormat = (name: string, format: string, place: WindowId | PaneId): string =>
  `refresh-clien -B ${quote(`${name}:${place}:${format}`)}`;
export const unsubscribeFormat = (name: string): string => `refresh-clien -B ${quote(name)}`;

/** Moves this client to another session, without its environment. */
export const switchClient = (session: SessionId): string => `switch-clien -E -t ${quote(session)}`;

export const listClients = (format: string): string => `list-client -F ${quote(format)}`;
export const listSessions = (format: string): string => `list-session -F ${quote(format)}`;
export const listAllWindows = (format: string): string => `list-window -a -F ${quote(format)}`;
/** The windows with output after `afterSec` (Unix time), once for each session that has them. */
export const listWindowsWrittenTo = (afterSec: number, format: string): string =>
  `list-window -a -f ${quote(`#{>:#{window_activity},${afterSec}}`)} -F ${quote(format)}`;
export const listAllPanes = (format: string): string => `list-pane -a -F ${quote(format)}`;
/** The panes for which `filter`, a format, is true; their ids by default. */
export const listPanesWhere = (filter: string, format = PANE_IDS.format): string =>
  `list-pane -a -f ${quote(filter)} -F ${quote(format)}`;
export const listWindowPanes = (window: WindowId, format: string): string =>
  `list-pane -t ${window} -F ${quote(format)}`;
