/**
 * Types a command into a shell's pane and returns its output and exit status. A shell that marks its commands (OSC 133) gets
 * the command unchanged; any other shell gets it between our own marks (`shellLine.ts`). The output is read from the stream
 * as it comes, so it need not fit into the ring; output beyond the bound is a reported gap.
 */
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { Gap, Position } from "../../protocol/position.ts";
import { createNonce } from "../connection/framing.ts";
import { cursorComes, type EmptyLine, type LineContext, reachEmptyLine, UNPROBE } from "./emptyLine.ts";
import type { InputPart } from "../tmux/io.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";
import type { Clock } from "../time/clock.ts";
import { MarkScanner, type MarkedOutput } from "./markScanner.ts";
import { ShellReturn } from "./shellReturn.ts";
import type { OutputSource } from "../tmux/outputSource.ts";
import {
  erasingLine,
  isReadWhole,
  marksOf,
  placedLine,
  type PlacedLine,
  requireTypable,
  SHELL_INTEGRATION_MARKS,
  type ShellKind,
  shellLine,
  type ShellMarks,
} from "./shellLine.ts";

/** 58^10 values: cannot be guessed while a command runs, and short enough not to disturb a reader. */
const NONCE_CHARS = 10;

interface RunRequest {
  readonly command: string;
  /** Undefined means no timeout. */
  readonly timeoutMs: number | undefined;
  readonly maxOutputBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** Gets the command's output as it comes. */
  readonly onOutput?: ((bytes: Uint8Array) => void) | undefined;
  /** Called when the command has been typed; from then on it keeps running even if the request fails. */
  readonly onTyped?: (() => void) | undefined;
}

interface RunResult {
  readonly bytes: Uint8Array;
  /** Undefined if the shell's own end mark has no status, or the shell returned to its prompt without an end mark. */
  readonly exitCode: number | undefined;
  readonly from: Position;
  readonly to: Position;
  readonly gaps: readonly Gap[];
  readonly method: "osc133" | "marker";
  readonly elapsedMs: number;
}

interface RunContext {
  readonly server: TmuxServer;
  readonly pane: PaneId;
  readonly clock: Clock;
}

/**
 * Types the command once, on an empty line of a shell. It keeps running if the caller aborts.
 * @throws AppError INCONSISTENT_STATE, WRONG_STATE (`emptyLine.ts`), INVALID_ARGUMENT, NOT_FOUND, TIMEOUT, CONNECTION_LOST
 */
export async function runCommand(context: RunContext, request: RunRequest): Promise<RunResult> {
  const { server, pane, clock } = context;
  requireTypable(request.command);
  const startedMs = clock.nowMs();
  const deadlineMs = startedMs + (request.timeoutMs ?? Infinity);
  const source = server.output(pane);
  const line = { ...context, source, signal: request.signal };
  const empty = await reachEmptyLine(line, deadlineMs);
  const { signs } = empty;
  const plain = plainLine(empty, request.command);
  const isMarked = plain !== undefined && (await isShown(line, empty, plain));
  const nonce = createNonce().slice(0, NONCE_CHARS);
  const marks = isMarked ? SHELL_INTEGRATION_MARKS : marksOf(nonce);
  const unmarked = plain === undefined || isMarked ? empty : await reachEmptyLine(line, deadlineMs);
  const parts = isMarked ? [ENTER] : await markedParts(line, unmarked, { command: request.command, nonce, deadlineMs });
  let isEntered = false;
  const onTyped = (): void => {
    isEntered = true;
    request.onTyped?.();
  };
  const output = await typeAndRead(context, source, {
    request: { ...request, onTyped },
    parts,
    marks,
    deadlineMs,
    returned: new ShellReturn({ ...line, signs }),
  }).catch(async (error: unknown) => {
    // As above: the line has been typed, and its Enter has not.
    if (parts[0] === ENTER && !isEntered) await server.input(pane, [KILL_LINE]).catch(() => undefined);
    throw error;
  });
  signs.ownEndSeq = output.to;
  const { epoch } = source;
  return {
    bytes: output.bytes,
    exitCode: output.status,
    from: { epoch, outputSeq: output.from },
    to: { epoch, outputSeq: output.to },
    gaps: output.gaps,
    method: isMarked ? "osc133" : "marker",
    elapsedMs: clock.nowMs() - startedMs,
  };
}

const encoder = new TextEncoder();
const ENTER: InputPart = { kind: "keys", keys: ["Enter"] };

/** After so many lines in a row that were not shown as expected, lines that remove themselves are no longer tried. */
const MAX_ASTRAY = 2;

const KILL_LINE: InputPart = { kind: "keys", keys: ["C-u"] };

const unprobe = ({ isProbed }: EmptyLine): InputPart[] => (isProbed ? [UNPROBE] : []);

const text = (line: string): InputPart => ({ kind: "text", bytes: encoder.encode(line) });

/** fish edits typed input (pairs, completions), but takes a paste unchanged, except for blanks that it begins with. */
function lineParts(kind: ShellKind, line: string): InputPart[] {
  if (kind !== "fish") return [text(line)];
  const rest = line.trimStart();
  return [text(line.slice(0, -rest.length)), { kind: "paste", bytes: encoder.encode(rest) }];
}

/** The command as it is, for a shell that marks its commands. Undefined where it may be read as something else. */
function plainLine({ kind, place, signs, isProbed }: EmptyLine, command: string): PlacedLine | undefined {
  if (!signs.isAtMarkedPrompt || !isProbed || signs.shownAstray >= MAX_ASTRAY || !isReadWhole(kind, command))
    return undefined;
  return placedLine(command, place);
}

/**
 * What is to be typed so that the command runs between our marks. A line that removes itself is typed here, all but its Enter,
 * because what it will erase depends on how the shell's editor shows it: the cursor must be where it has to be.
 */
async function markedParts(
  context: LineContext,
  empty: EmptyLine,
  { command, nonce, deadlineMs }: { readonly command: string; readonly nonce: string; readonly deadlineMs: number },
): Promise<InputPart[]> {
  const { kind, shell, place, signs } = empty;
  const erasing = signs.shownAstray < MAX_ASTRAY ? erasingLine(shell, command, nonce, place) : undefined;
  if (erasing === undefined) return [...unprobe(empty), ...lineParts(kind, shellLine(kind, command, nonce)), ENTER];
  if (await isShown(context, empty, erasing)) return [ENTER];
  return markedParts(context, await reachEmptyLine(context, deadlineMs), { command, nonce, deadlineMs });
}

/** Types a line without its Enter. If it is not shown where it has to be, it is deleted. */
async function isShown(context: LineContext, empty: EmptyLine, { line, places }: PlacedLine): Promise<boolean> {
  const { server, pane, source, signal } = context;
  const { kind, place, signs } = empty;
  const from = source.outputSeq;
  try {
    await server.input(pane, [...unprobe(empty), ...lineParts(kind, line)], { signal });
    // Once the last row is reached, the screen scrolls.
    const rowOf = (rowsBelow: number): number => Math.min(place.row + rowsBelow, place.rows - 1);
    if (
      await cursorComes(context, { at: places.map(({ rowsBelow, col }) => ({ row: rowOf(rowsBelow), col })), from })
    ) {
      signs.shownAstray = 0;
      return true;
    }
  } catch (error) {
    // Otherwise the next Enter that somebody presses would run it.
    await server.input(pane, [KILL_LINE]).catch(() => undefined);
    throw error;
  }
  // An editor that scrolls the line sideways or was in its command mode, or somebody else who types.
  signs.shownAstray += 1;
  const killed = source.outputSeq;
  await server.input(pane, [KILL_LINE]);
  await cursorComes(context, { at: [{ row: undefined, col: place.col }], from: killed });
  return false;
}

interface Reading {
  readonly request: RunRequest;
  readonly parts: readonly InputPart[];
  readonly marks: ShellMarks;
  readonly deadlineMs: number;
  readonly returned: ShellReturn | undefined;
}

function typeAndRead(context: RunContext, source: OutputSource, reading: Reading): Promise<MarkedOutput> {
  const { server, pane, clock } = context;
  const { signal, timeoutMs, maxOutputBytes, onOutput, onTyped } = reading.request;
  const { returned, deadlineMs } = reading;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    if (timeoutMs !== undefined && clock.nowMs() >= deadlineMs) throw timedOut(timeoutMs, false);
    let scanner: MarkScanner | undefined;
    let at = 0;
    const settle = (act: () => void): void => {
      timer?.cancel();
      returned?.close();
      unsubscribe();
      signal?.removeEventListener("abort", onAbort);
      act();
    };
    const fail = (error: unknown): void => settle(() => reject(error));
    const readOn = (): void => {
      if (scanner === undefined) return;
      for (let slice = source.read(at); slice.kind !== "end"; slice = source.read(at)) {
        at = slice.kind === "bytes" ? slice.to : slice.gap.to;
        if (slice.kind === "gap") {
          scanner.gap(slice.gap);
          continue;
        }
        if (scanner.hasStarted) returned?.read(slice.bytes);
        const output = scanner.push(slice.bytes);
        if (output === undefined) continue;
        scanner = undefined;
        settle(() => resolve(output));
        return;
      }
      if (scanner.hasStarted) returned?.moved(end);
    };
    const end = (): void => {
      const output = scanner?.giveUp();
      scanner = undefined;
      if (output !== undefined) settle(() => resolve(output));
    };
    const onAbort = (): void => fail(signal?.reason);
    const unsubscribe = source.subscribe({
      advanced: readOn,
      gap: readOn,
      exited: () => fail(shellEnded(pane)),
      closed: (error) => fail(error.code === "NOT_FOUND" ? shellEnded(pane) : error),
    });
    const timer =
      timeoutMs === undefined
        ? undefined
        : clock.callAt(deadlineMs, () => fail(timedOut(timeoutMs, scanner?.hasStarted === true)));
    signal?.addEventListener("abort", onAbort, { once: true });
    const beforeWrite = (): void => {
      at = source.outputSeq;
      scanner = new MarkScanner(reading.marks, at, maxOutputBytes, onOutput);
      onTyped?.();
    };
    server.input(pane, reading.parts, { beforeWrite, signal }).catch(fail);
  });
}

const shellEnded = (pane: PaneId): AppError =>
  new AppError("NOT_FOUND", `the shell in pane ${pane} exited during the command`);

const timedOut = (timeoutMs: number, hasStarted: boolean): AppError =>
  new AppError(
    "TIMEOUT",
    hasStarted
      ? `timed out after ${timeoutMs} ms, but the command keeps running; read the pane, or send C-c to stop it`
      : `timed out after ${timeoutMs} ms, and the shell has not started the command; read the pane before you type again`,
  );
