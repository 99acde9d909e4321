/**
 * Makes sure, before a command is typed, that a shell waits at its prompt and its line is empty. No shell reports where its
 * prompt ends, so two things are trusted: a row that looks exactly as it did when the line was known to be empty, and a
 * probe. The probe is a space, C-u and two spaces, which no shell executes in any mode. On an empty line it moves the cursor
 * by two columns and changes nothing else, which no part of it does alone. Any other effect means that the line was not
 * empty, and what C-u killed is given back. (The space comes first because readline rings the bell when there is nothing to
 * kill.)
 *
 * What cannot be known: what somebody types at the same moment (`docs/contracts/native.md` §5).
 */
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { Capture, InputPart } from "../tmux/io.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";
import type { Clock } from "../time/clock.ts";
import { columnsOf, splitAtColumn } from "../panes/columns.ts";
import type { OutputSource } from "../tmux/outputSource.ts";
import { PromptSigns } from "../panes/vt/promptSigns.ts";
import { SHELL_PROFILE } from "../readiness/profiles.ts";
import { isContinuation, type LinePlace, shellKind, type ShellKind, shellName } from "./shellLine.ts";

/** Enough for start-up files that use the network, on a busy machine. */
const PROMPT_MS = 10_000;
/** Even on an overloaded machine, a new pane starts its program within this time. */
const START_MS = 3_000;
/** A prompt is drawn at once; one that runs git in the background continues later. */
const SETTLED_MS = 30;
/** If nothing shows that a line editor reads, a row that looks like a prompt for this long is one. */
const SILENT_MS = 150;
/** A row that does not look like a prompt may be output of the start-up files, with more to come, or a custom prompt. */
const ODD_PROMPT_MS = 4_000;
/** The foreground program can change without any output. */
const PROBE_AGAIN_MS = 200;
/** What a shell has just been given may be over at once. */
const PASSING_MS = 200;
/** How long an editor may pause while it draws a line that was typed at once. */
const DRAWN_MS = 400;
/** Even on an overloaded machine, a shell responds to a key within this time. */
const PROBE_MS = 2_000;

const encoder = new TextEncoder();
const BLANKS = "  ";
export const PROBE: InputPart = { kind: "text", bytes: encoder.encode(` \u0015${BLANKS}`) };
/** Deletes the probe's spaces. */
export const UNPROBE: InputPart = { kind: "keys", keys: Array.from(BLANKS, () => "BSpace") };
/** zsh's undo: both blanks, C-u and the space. */
const UNDO_PROBE: readonly InputPart[] = [{ kind: "keys", keys: ["C-_", "C-_", "C-_", "C-_"] }];

/** readline's history search, whose row is not the command line. */
export const SEARCH = /^\((?:failed )?(?:reverse-)?i-search\)/;

/** A question that one key answers, and the probe is keys: readline's, or of a script that runs in the shell's name. */
const YES_OR_NO = /[[(]y(?:es)?(?:\/| or )n(?:o)?[^\])]{0,24}[\])]\s?[?:]?\s*$/i;

export interface LineContext {
  readonly server: TmuxServer;
  readonly pane: PaneId;
  readonly clock: Clock;
  readonly source: OutputSource;
  readonly signal?: AbortSignal | undefined;
}

export interface EmptyLine {
  readonly kind: ShellKind;
  /** The shell's name. */
  readonly shell: string;
  /** Where the line begins, and the size of the screen. */
  readonly place: LinePlace & { readonly row: number };
  readonly signs: PromptSigns;
  /** The probe's spaces are on the line; `UNPROBE` deletes them. */
  readonly isProbed: boolean;
}

export interface Row {
  /** The row up to the cursor, including spaces. */
  readonly before: string;
  readonly after: string;
}

const SIGNS = new WeakMap<OutputSource, PromptSigns>();

/** What is known of the source's prompt, up to now. */
export function signsOf(source: OutputSource): PromptSigns {
  const signs = SIGNS.get(source) ?? new PromptSigns(source);
  SIGNS.set(source, signs);
  signs.readOn();
  return signs;
}

/**
 * Waits for the prompt until `deadlineMs`, at most `PROMPT_MS`.
 * @throws AppError INCONSISTENT_STATE if a program runs (`details.program`) or the line is not empty (`details.line`, or
 * `details.row` as displayed); WRONG_STATE if no prompt comes; NOT_FOUND, CONNECTION_LOST. Nothing has been executed then.
 */
export async function reachEmptyLine(context: LineContext, deadlineMs: number): Promise<EmptyLine> {
  const { clock, source } = context;
  const startedMs = clock.nowMs();
  const untilMs = Math.min(deadlineMs, startedMs + PROMPT_MS);
  const signs = signsOf(source);
  for (;;) {
    signs.readOn();
    // The prompt may come after the query for the foreground program.
    const wasFresh = signs.isFresh;
    const { capture, command, seq } = await captureLine(context);
    signs.readOn();
    const kind = shellKind(command);
    const row = rowOf(capture);
    if (kind === undefined) {
      const startMs = Math.max(PASSING_MS, wasFresh ? await startTime(context) : 0);
      if (clock.nowMs() >= Math.min(startedMs + startMs, untilMs)) throw notAShell(context.pane, command);
      if (source.outputSeq === seq)
        await outputWithin(context, Math.min(startedMs + startMs, untilMs, clock.nowMs() + PROBE_AGAIN_MS));
      continue;
    }
    if (capture.alternateScreen) throw notAShell(context.pane, command);
    const isInk = row.before.trim() !== "";
    if (signs.isEditing !== false && isInk) {
      const below = textBelow(kind, capture, signs);
      if (below !== "") throw notEmpty(context.pane, { row: below });
      refuseScreen(context.pane, shellName(command), capture, row, signs);
      const isKnown = signs.emptyRow === textOf(row);
      // In an editor's command mode, a plain command would be read as keys; the line with our marks is safe there.
      if (isKnown && !signs.isAtMarkedPrompt)
        return { kind, shell: shellName(command), place: placeOf(capture), signs, isProbed: false };
      const stillUntilMs = isKnown ? 0 : clock.nowMs() + stillMs(row, signs);
      if (stillUntilMs > untilMs) await outputWithin(context, untilMs);
      else if (source.outputSeq === seq && (isKnown || !(await outputWithin(context, stillUntilMs)))) {
        const isProbed = await probe(context, kind, capture);
        // The line is known to be empty, but its editor is in its command mode.
        if (!isProbed && !isKnown) throw takesNothing(context.pane);
        signs.emptyRow = textOf(row);
        return { kind, shell: shellName(command), place: placeOf(capture), signs, isProbed };
      }
    } else if (source.outputSeq === seq) {
      // A shell that has printed nothing may be about to `exec` the pane's program, which need not print anything.
      await outputWithin(context, wasFresh ? Math.min(untilMs, clock.nowMs() + PROBE_AGAIN_MS) : untilMs);
    }
    if (clock.nowMs() >= untilMs) throw noPrompt(context.pane, Math.round(clock.nowMs() - startedMs));
  }
}

const placeOf = ({ cursor, cols, rows }: Capture): EmptyLine["place"] => ({ ...cursor, cols, rows });

interface Expected {
  /** One of these places. A row that is undefined: any. */
  readonly at: readonly { readonly row: number | undefined; readonly col: number }[];
  /** The stream's length before what moves it was typed. */
  readonly from: number;
}

/** Whether the cursor comes to a place. False: its output has ended and it is elsewhere. */
export async function cursorComes(context: LineContext, { at, from }: Expected): Promise<boolean> {
  const { clock, source } = context;
  const untilMs = clock.nowMs() + PROBE_MS;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one look after the other
    const { capture, seq } = await captureLine(context);
    const { cursor } = capture;
    if (at.some(({ row, col }) => (row ?? cursor.row) === cursor.row && col === cursor.col)) return true;
    if (source.outputSeq !== seq) continue;
    const quietMs = source.outputSeq === from ? untilMs : clock.nowMs() + DRAWN_MS;
    // oxlint-disable-next-line no-await-in-loop -- until it has been drawn
    if (!(await outputWithin(context, Math.min(quietMs, untilMs)))) return false;
  }
}

/** How long a prompt must stay unchanged before it is trusted. */
function stillMs(row: Row, signs: PromptSigns): number {
  if (!signs.isFresh) return SETTLED_MS;
  return SHELL_PROFILE.screen.cursor?.prompt.test(row.before) === true ? SILENT_MS : ODD_PROMPT_MS;
}

/** How long another program may be in the foreground before the first prompt, because a shell's start-up files run some. */
async function startTime({ server, pane, source }: LineContext): Promise<number> {
  const pid = server.findPane(pane)?.pid;
  const name = pid === undefined ? undefined : (await server.processes.stat(pid))?.name;
  if (name !== undefined && shellKind(name) !== undefined) return PROMPT_MS;
  return source.outputSeq === 0 ? START_MS : 0;
}

export async function captureLine({ server, pane, source, signal }: LineContext) {
  signal?.throwIfAborted();
  const seq = source.outputSeq;
  const [capture, { command }] = await Promise.all([server.capture(pane, { signal }), server.describePane(pane)]);
  return { capture, command, seq };
}

export const rowOf = ({ lines, cursor }: Capture): Row => {
  const { before, after } = splitAtColumn(lines[cursor.row] ?? "", cursor.col);
  return { before, after: after.trimEnd() };
};

export const textOf = ({ before, after }: Row): string => `${before}\n${after}`;

/**
 * Whether what is behind the cursor is a right prompt: it ends at the screen's edge, apart from the cursor. Text behind the
 * cursor may have one behind it.
 */
export const isRightPrompt = ({ before, after }: Row, cols: number): boolean =>
  /^ (?!\S.* {2})/.test(after) && columnsOf(before + after) >= cols - 2;

/** Whether the shell's own line editor reads; fish need not ask for brackets. */
export const isEdited = (kind: ShellKind, { isEditing }: PromptSigns): boolean =>
  kind === "fish" ? isEditing !== false : isEditing === true;

/**
 * What stands below the cursor's row, "" for nothing that is the line's: one of several lines may go on there. fish puts its
 * other rows behind the prompt's width; elsewhere, without a line feed since the prompt, it is older than the line.
 */
export function textBelow(kind: ShellKind, { lines, cursor }: Capture, signs: PromptSigns): string {
  const below = lines.slice(cursor.row + 1).find((line) => line.trim() !== "");
  if (below === undefined || !isEdited(kind, signs)) return "";
  const isLine = kind === "fish" ? below.slice(0, cursor.col).trim() === "" : signs.isFeedBehindPrompt;
  return isLine ? below.trim() : "";
}

/** Refuses screens on which the line cannot be empty. */
function refuseScreen(pane: PaneId, shell: string, { cols }: Capture, row: Row, signs: PromptSigns): void {
  if (SEARCH.test(row.before)) throw notEmpty(pane, { row: row.before + row.after });
  if (YES_OR_NO.test(row.before)) throw isAsked(pane);
  if (row.after !== "" && !isRightPrompt(row, cols)) throw notEmpty(pane, { row: row.before + row.after });
  if (!isContinuation(shell, row.before) || signs.isFirstRow) return;
  throw new AppError(
    "INCONSISTENT_STATE",
    `the shell in pane ${pane} is waiting for the rest of an incomplete command; complete it or press C-c, then try again`,
  );
}

/** Whether typed text appears. @throws AppError INCONSISTENT_STATE if the line is not empty */
async function probe(context: LineContext, kind: ShellKind, before: Capture): Promise<boolean> {
  const { server, pane, source, signal } = context;
  const from = source.outputSeq;
  await server.input(pane, [PROBE], { signal });
  const killed = await killedByProbe(context, { kind, before, from });
  if (killed === undefined) return false;
  if (killed.text === "") return true;
  await server.input(pane, killed.back);
  throw notEmpty(pane, { line: killed.text.trimEnd() });
}

interface Killed {
  /** As far as the screen shows it. */
  readonly text: string;
  /** Makes the line what it was before the probe. */
  readonly back: readonly InputPart[];
}

interface Probed {
  readonly kind: ShellKind;
  /** The screen before the probe, and the stream's length. */
  readonly before: Capture;
  readonly from: number;
}

/**
 * After the probe was typed: what it has taken off the line, which is empty now; undefined if the screen does not show it.
 */
export async function killedByProbe(context: LineContext, { kind, before, from }: Probed): Promise<Killed | undefined> {
  const { clock, source } = context;
  const row = rowOf(before);
  const signs = signsOf(source);
  const untilMs = clock.nowMs() + PROBE_MS;
  for (;;) {
    const { capture, seq } = await captureLine({ ...context, signal: undefined });
    const now = rowOf(capture);
    const isSameRow = capture.cursor.row === before.cursor.row;
    if (isSameRow && now.before === row.before + BLANKS && now.after === row.after.slice(BLANKS.length))
      return { text: "", back: [UNPROBE] };
    if (source.outputSeq !== seq) continue;
    // Without output the shell has not reacted yet; once it has, wait for its output to end.
    const quietMs = source.outputSeq === from ? untilMs : clock.nowMs() + SILENT_MS;
    const hasMore = await outputWithin({ ...context, signal: undefined }, Math.min(quietMs, untilMs));
    if (hasMore && clock.nowMs() < untilMs) continue;
    const screens = { kind, before, after: capture, signs };
    const text = killedText(screens);
    return text === undefined ? undefined : { text, back: givenBack(text, screens) };
  }
}

interface Screens {
  readonly kind: ShellKind;
  readonly before: Capture;
  readonly after: Capture;
  readonly signs: PromptSigns;
}

/** readline's C-u has taken more than a row, and C-y gives that back. */
const isYankable = ({ kind, before, after, signs }: Screens): boolean =>
  kind === "ansi" && signs.isEditing === true && after.cursor.row < before.cursor.row;

/** A row does not tell whether a line ends with it, but a shell's editor knows what it has killed. */
function givenBack(text: string, screens: Screens): readonly InputPart[] {
  const { kind, before, after } = screens;
  // The probe's space is behind it.
  if (isYankable(screens)) return [UNPROBE, { kind: "keys", keys: ["C-y", "BSpace"] }];
  // zsh has taken the line's end, too: the next one stands behind the cursor now.
  const next = rowOf(after).after;
  if (kind === "zsh" && next !== rowOf(before).after && next === before.lines[after.cursor.row + 1]?.trimEnd())
    return UNDO_PROBE;
  return [UNPROBE, { kind: kind === "fish" ? "paste" : "text", bytes: encoder.encode(text) }];
}

/** The text that was between the end of the prompt and the cursor; undefined if the screen does not show it. */
function killedText(screens: Screens): string | undefined {
  const { before, after, signs } = screens;
  const { row, col } = after.cursor;
  const now = rowOf(after).before;
  if (!now.endsWith(BLANKS) || row > before.cursor.row || col < BLANKS.length) return undefined;
  // A blank at the edge does not show.
  const isLine = (line: string): boolean => isYankable(screens) && columnsOf(line) < before.cols - 1;
  const rows = before.lines
    .slice(row, before.cursor.row)
    .map((line) => (isLine(line) ? `${line}\n` : splitAtColumn(line, before.cols).before))
    .concat(rowOf(before).before);
  const text = rows.join("");
  const left = now.slice(0, -BLANKS.length);
  const prompt = signs.emptyRow?.split("\n")[0];
  const isPrompt = left === prompt || SHELL_PROFILE.screen.cursor?.prompt.test(left) === true;
  if (signs.isEditing !== true && !isPrompt && columnsOf(text) > text.length) {
    // Without a line editor the terminal erases one column per character, also of those that take two.
    const erased = (before.cursor.row - row) * before.cols + before.cursor.col - (col - BLANKS.length);
    return erased > 0 ? Array.from(text).slice(-erased).join("") : undefined;
  }
  // The prompt of a text that is taller than the screen is not seen.
  if (!text.startsWith(left) && isYankable(screens)) return text;
  if (!text.startsWith(left) || text.length <= left.length) return undefined;
  // A shell without a line editor prompts after text that was typed ahead; the terminal erases as many columns.
  const isAhead = prompt !== undefined && left !== prompt && left.length === prompt.length && text.endsWith(prompt);
  return isAhead ? text.slice(0, -prompt.length) : text.slice(left.length);
}

/** Resolves with true if output came or the stream ended. */
function outputWithin({ clock, source, signal }: LineContext, untilMs: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    // The caller may have left since the capture.
    signal?.throwIfAborted();
    const settle = (act: () => void): void => {
      timer.cancel();
      unsubscribe();
      signal?.removeEventListener("abort", onAbort);
      act();
    };
    const came = (): void => settle(() => resolve(true));
    const onAbort = (): void => settle(() => reject(signal?.reason as Error));
    const unsubscribe = source.subscribe({
      advanced: came,
      gap: came,
      exited: came,
      closed: (error) => settle(() => reject(error)),
    });
    const timer = clock.callAt(untilMs, () => settle(() => resolve(false)));
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

const notAShell = (pane: PaneId, program: string): AppError =>
  new AppError(
    "INCONSISTENT_STATE",
    `run needs a shell at its prompt, but another program is in the foreground of pane ${pane}; wait for it or end it`,
    { details: { program } },
  );

const notEmpty = (pane: PaneId, details: { line: string } | { row: string }): AppError =>
  new AppError(
    "INCONSISTENT_STATE",
    `the command line in pane ${pane} is not empty, so nothing was run; send or clear it (C-c), then try again`,
    { details },
  );

const isAsked = (pane: PaneId): AppError =>
  new AppError(
    "INCONSISTENT_STATE",
    `a question is open in pane ${pane}, and keys would answer it, so nothing was typed; answer it, then try again`,
  );

const takesNothing = (pane: PaneId): AppError =>
  new AppError(
    "INCONSISTENT_STATE",
    `typed text does not appear after the prompt in pane ${pane} (an editor's command mode, or a program that reads input); leave it, then try again`,
  );

const noPrompt = (pane: PaneId, waitedMs: number): AppError =>
  new AppError(
    "WRONG_STATE",
    `the shell in pane ${pane} showed no prompt within ${waitedMs} ms, so nothing was typed; wait for it, then try again`,
    { details: { state: "busy" } },
  );
