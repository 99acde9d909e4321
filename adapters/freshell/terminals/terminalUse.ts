/** Input and captures of a terminal, by tmux's own commands. */
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { CaptureOptions, InputPart } from "../../../daemon/tmux/io.ts";
import type { TerminalCaptureResponse, terminalCaptureSchema } from "../../../protocol/api/freshell/freshellHttp.ts";
import { keyTokenParts } from "../../../protocol/api/freshell/keyTokens.ts";
import { AppError } from "../../../protocol/errors.ts";
import { encodeUtf8 } from "../../../protocol/text/utf8.ts";
import type { InferOutput } from "valibot";
import { requireRunning, type Terminal } from "./terminal.ts";
import { AnsiStripper, stripRoom } from "../../../daemon/panes/vt/ansi.ts";
import type { OutputSource } from "../../../daemon/tmux/outputSource.ts";

/** One job: no other sender's input comes between. */
export const textParts = (text: string): readonly InputPart[] => [textPart(text)];

export const tokenParts = (tokens: readonly string[], literal: boolean): readonly InputPart[] =>
  keyTokenParts(tokens, literal).map((part): InputPart => (part.kind === "keys" ? part : textPart(part.text)));

const textPart = (text: string): InputPart => ({ kind: "text", bytes: encodeUtf8(text) });

/** Returns the position after which the input takes effect. @throws AppError INVALID_TARGET, RESOURCE_LIMIT, CONNECTION_LOST */
export async function typeInto(server: TmuxServer, terminal: Terminal, parts: readonly InputPart[]): Promise<number> {
  const pane = requireRunning(terminal);
  const { source } = terminal;
  if (parts.length === 0) return source.outputSeq;
  const { position } = await server.input(pane, parts);
  return source.seqOf(position.epoch, position.outputSeq) ?? source.outputSeq;
}

/** @throws AppError UNSUPPORTED_CAPTURE_MODE, CONNECTION_LOST */
export async function captureOf(
  server: TmuxServer,
  terminal: Terminal,
  { S: start, J: joinWrapped, e: ansi }: InferOutput<typeof terminalCaptureSchema>,
): Promise<TerminalCaptureResponse> {
  const { pane, source } = terminal;
  const status = terminal.isRunning ? "running" : "exited";
  if (pane === undefined) {
    const lines = retainedLines(source, { start, joinWrapped, ansi });
    return { lines, outputSeq: source.outputSeq, exact: true, ...terminal.size, status };
  }
  const options: CaptureOptions = { start: start ?? 0, joinWrapped, ansi };
  const { lines, historyLines, historyLimit, position, exact, cols, rows } = await server.capture(pane, options);
  if (typeof start === "number" && -start > historyLines) requireWhole(historyLines, historyLimit);
  const outputSeq = source.seqOf(position.epoch, position.outputSeq) ?? source.outputSeq;
  return { lines, outputSeq, exact, cols, rows, status };
}

/**
 * A start before everything that is kept is the first line, as in tmux, unless tmux has dropped lines. tmux does not
 * report that: at the limit it drops a tenth, so with less than nine tenths nothing was dropped.
 */
function requireWhole(historyLines: number, limit: number | undefined): void {
  if (limit === undefined || historyLines < Math.floor(limit * 0.9)) return;
  throw new AppError(
    "UNSUPPORTED_CAPTURE_MODE",
    `the terminal keeps ${historyLines} lines of history and may have dropped older ones: ask for -S -${historyLines} at most, or for all that is kept with -S -`,
    { details: { historyLines } },
  );
}

/**
 * The lines of a terminal whose pane is gone: its screen is gone too, and the retained output gives plain text without
 * rows. All of it can be returned; captures that need rows, wraps or colours cannot.
 */

/** All output that can still be read, in views that are valid until the turn ends. */
export function* retainedBytes(source: OutputSource): Generator<Uint8Array> {
  for (let at = source.tailSeq; at < source.outputSeq;) {
    const slice = source.read(at);
    if (slice.kind === "end") return;
    if (slice.kind === "bytes") yield slice.bytes;
    at = slice.kind === "bytes" ? slice.to : slice.gap.to;
  }
}

interface RetainedOptions {
  readonly start: number | "oldest" | undefined;
  readonly joinWrapped: boolean;
  readonly ansi: boolean;
}

/** @throws AppError UNSUPPORTED_CAPTURE_MODE */
function retainedLines(source: OutputSource, { start, joinWrapped, ansi }: RetainedOptions): readonly string[] {
  if (start !== "oldest" || joinWrapped || ansi) {
    throw new AppError(
      "UNSUPPORTED_CAPTURE_MODE",
      "the terminal's pane is gone, and its screen with it: only the plain text that is retained can be told, with -S - and without -J and -e",
    );
  }
  const stripper = new AnsiStripper();
  const pieces = Array.from(retainedBytes(source), (bytes) => {
    const out = Buffer.allocUnsafe(stripRoom(bytes.length));
    return out.subarray(0, stripper.strip(bytes, out, 0, 0, { mark: () => undefined }));
  });
  const lines = Buffer.concat(pieces).toString("utf8").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
