/** Input and captures of a terminal, by tmux's own commands. */
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { CaptureOptions, InputPart } from "../../../daemon/tmux/io.ts";
import type { TerminalCaptureResponse, terminalCaptureSchema } from "../../../protocol/api/freshell/freshellHttp.ts";
import { keyTokenParts } from "../../../protocol/api/freshell/keyTokens.ts";
import { AppError } from "../../../protocol/errors.ts";
import { encodeUtf8 } from "../../../protocol/text/utf8.ts";
import type { InferOutput } from "valibot";
import { requireRunning, type Terminal } from "./terminal.ts";
import { retainedLines } from "./retainedLines.ts";

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
