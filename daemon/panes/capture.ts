/**
 * Screen text with its position in the stream. The capture and its numbers (cursor, size, history) come from one step
 * in tmux: the nonce's command prints them. The position is exact when nothing of this pane arrived while tmux was
 * asked, or nothing of any other pane did (docs/tmuxFacts.md 36); otherwise the capture is repeated.
 */
import { capturePane } from "../../protocol/command/build.ts";
import { flag, number, paneId, rowFormat, word } from "../../protocol/command/rowFormat.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { MAX_CAPTURE_LINES, MAX_CAPTURE_TRIES } from "../../protocol/limits.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import type { Capture, CaptureOptions } from "../tmux/io.ts";
import { paneGone, targetError } from "./paneGone.ts";
import type { PaneStream } from "./paneStream.ts";
import { applySgr, DEFAULT_PEN, sgrOf } from "./pen.ts";
import { decodeTabs, expandTabs } from "./tabCells.ts";

const TRAILER = rowFormat({
  pane: paneId,
  col: number("#{cursor_x}"),
  row: number("#{cursor_y}"),
  cols: number("#{pane_width}"),
  rows: number("#{pane_height}"),
  alternateScreen: flag("#{alternate_on}"),
  historyLines: number("#{history_size}"),
  historyLimit: number("#{history_limit}"),
  tabs: word("#{pane_tabs}"),
});

export interface CaptureContext {
  readonly pane: PaneId;
  readonly connection: ControlConnection;
  readonly stream: PaneStream;
  /** Output bytes of all panes on this connection so far. */
  readonly totalOutputBytes: () => number;
}

interface RawCapture {
  readonly body: Uint8Array;
  readonly outputSeq: number;
  readonly exact: boolean;
  readonly cursor: { readonly col: number; readonly row: number };
  readonly cols: number;
  readonly rows: number;
  readonly alternateScreen: boolean;
  readonly historyLines: number;
  readonly historyLimit: number;
  readonly tabs: readonly number[] | undefined;
}

/** @throws AppError INVALID_ARGUMENT, NOT_FOUND, RESOURCE_LIMIT, CONNECTION_LOST */
export async function captureScreen(context: CaptureContext, options: CaptureOptions): Promise<Capture> {
  const { lines } = options;
  if (lines !== undefined && !(Number.isInteger(lines) && lines >= 1 && lines <= MAX_CAPTURE_LINES)) {
    throw new AppError("INVALID_ARGUMENT", `lines must be between 1 and ${MAX_CAPTURE_LINES}.`);
  }
  const ansi = options.ansi === true;
  const whole = options.whole === true || options.start !== undefined;
  let historyLines = lines;
  for (let tries = 1; ; tries += 1) {
    options.signal?.throwIfAborted();
    const start = options.start ?? (historyLines === undefined ? undefined : -historyLines);
    const raw = await captureOnce(context, options, start);
    const rows = !whole ? decodeRows(raw, ansi) : ansi ? colouredRows(raw) : printedRows(raw);
    const enough = whole || lines === undefined || rows.length >= lines || (historyLines ?? 0) >= raw.historyLines;
    if (!enough) {
      // Joining left fewer rows than were asked for: reach further back, as far as there is history.
      historyLines = Math.min(raw.historyLines, Math.max(historyLines ?? 0, 1) * 4);
      tries -= 1;
      continue;
    }
    if (!raw.exact && tries < MAX_CAPTURE_TRIES) continue;
    return {
      lines: whole || lines === undefined ? rows : lastRows(rows, lines, ansi),
      position: { epoch: context.stream.epoch, outputSeq: raw.outputSeq },
      exact: raw.exact,
      cols: raw.cols,
      rows: raw.rows,
      cursor: raw.cursor,
      alternateScreen: raw.alternateScreen,
      historyLines: raw.historyLines,
      historyLimit: raw.historyLimit,
    };
  }
}

function captureOnce(
  context: CaptureContext,
  options: CaptureOptions,
  startLine: CaptureOptions["start"],
): Promise<RawCapture> {
  const { pane, stream, totalOutputBytes } = context;
  const own = stream.outputSeq;
  const total = totalOutputBytes();
  return new Promise((resolve, reject) => {
    context.connection.sendForeign(
      () =>
        capturePane(pane, {
          startLine,
          joinWrapped: options.joinWrapped,
          escapes: options.ansi,
        }),
      { format: TRAILER.format, target: pane },
      (outcome) => {
        if ("error" in outcome) {
          reject(targetError(pane, outcome.error));
          return;
        }
        const { body, trailer } = outcome.replies[0]!;
        const screen = TRAILER.decodeLine(trailer);
        if (screen?.pane !== pane) {
          reject(paneGone(pane));
          return;
        }
        const ownBytes = stream.outputSeq - own;
        resolve({
          body,
          outputSeq: stream.outputSeq,
          exact: ownBytes === 0 || totalOutputBytes() - total === ownBytes,
          cursor: { col: screen.col, row: screen.row },
          cols: screen.cols,
          rows: screen.rows,
          alternateScreen: screen.alternateScreen,
          historyLines: screen.historyLines,
          historyLimit: screen.historyLimit,
          tabs: decodeTabs(screen.tabs, screen.cols),
        });
      },
    );
  });
}

const utf8 = new TextDecoder();

type RawRows = Pick<RawCapture, "body" | "cols" | "tabs">;

/** Rows of a reply, blank rows at the end dropped; plain rows lose trailing blanks and any control character. */
function decodeRows(raw: RawRows, ansi: boolean): string[] {
  const rows = ansi ? colouredRows(raw) : printedRows(raw).map((row) => row.trimEnd());
  while (rows.length > 0 && rows.at(-1)!.trim() === "") rows.pop();
  return rows;
}

const colouredRows = (raw: RawRows): string[] => rowsOf(utf8.decode(raw.body)).map((row) => expandTabs(row, raw));

/** Plain rows as tmux prints them, with trailing blanks removed. */
function printedRows(raw: RawRows): string[] {
  const rows = rowsOf(utf8.decode(raw.body).replace(CONTROL_CHARACTERS, ""));
  // tmux stops trimming blanks at a TAB, so a row may end in blanks and a TAB.
  return rows.map((row) => (row.includes("\t") ? expandTabs(row, raw).replace(/ +$/, "") : row));
}

function rowsOf(text: string): string[] {
  const rows = text.split("\n");
  rows.pop();
  return rows;
}

/**
 * The last `count` rows. tmux writes an attribute where it changes: what was set in earlier rows still applies to the
 * first.
 */
function lastRows(rows: readonly string[], count: number, ansi: boolean): string[] {
  const last = rows.slice(-count);
  if (!ansi || last.length === rows.length) return last;
  const before = rows.slice(0, -count).join("");
  let pen = DEFAULT_PEN;
  for (const [, parameters = ""] of before.matchAll(SGR)) pen = applySgr(pen, parameters);
  if (pen.size > 0) last[0] = `${sgrOf(pen)}${last[0] ?? ""}`;
  return last;
}

// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const SGR = /\u001b\[([\d;:]*)m/g;

/** All but the line feed, which ends a row, and the TAB, which means blanks. */
// oxlint-disable-next-line no-control-regex -- control characters are what it removes
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
