/**
 * Screen text with its position in the stream. The capture and its numbers (cursor, size, history) come from one step
 * in tmux: the nonce's command prints them. The position is exact when nothing of this pane arrived while tmux was
 * asked, or nothing of any other pane did (docs/tmuxFacts.md 36); otherwise the capture is repeated.
 */
import { capturePane } from "../../../protocol/command/build.ts";
import { flag, lines, number, paneId, rowFormat, word } from "../../../protocol/command/rowFormat.ts";
import { invalidArgument } from "../../../protocol/errors.ts";
import { MAX_CAPTURE_LINES, MAX_CAPTURE_TRIES } from "../../../protocol/limits.ts";
import type { Capture, CaptureOptions } from "../../tmux/io.ts";
import { askPane, type CaptureContext, requireRow } from "../askPane.ts";
import { penAfter, sgrOf } from "../pen.ts";
import { decodeTabs, expandTabs } from "./tabCells.ts";

/** From so many lines of history on, a file is faster than a reply (bench/http.ts). */
const MIN_FILE_LINES = 500;

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

/** @throws AppError INVALID_ARGUMENT, NOT_FOUND, RESOURCE_LIMIT, CONNECTION_LOST */
export async function captureScreen(context: CaptureContext, options: CaptureOptions): Promise<Capture> {
  const { lines: wanted } = options;
  if (wanted !== undefined && !(Number.isInteger(wanted) && wanted >= 1 && wanted <= MAX_CAPTURE_LINES)) {
    throw invalidArgument(`lines must be between 1 and ${MAX_CAPTURE_LINES}.`);
  }
  const ansi = options.ansi === true;
  const whole = options.whole === true || options.start !== undefined;
  let historyLines = wanted;
  for (let tries = 1; ; tries += 1) {
    options.signal?.throwIfAborted();
    const start = options.start ?? (historyLines === undefined ? undefined : -historyLines);
    const raw = await captureOnce(context, options, start);
    const rows = !whole ? decodeRows(raw, ansi) : ansi ? colouredRows(raw) : printedRows(raw);
    const enough = whole || wanted === undefined || rows.length >= wanted || (historyLines ?? 0) >= raw.historyLines;
    if (!enough) {
      // Joining left fewer rows than were asked for: reach further back, as far as there is history.
      historyLines = Math.min(raw.historyLines, Math.max(historyLines ?? 0, 1) * 4);
      tries -= 1;
      continue;
    }
    if (!raw.exact && tries < MAX_CAPTURE_TRIES) continue;
    return {
      lines: whole || wanted === undefined ? rows : lastRows(rows, wanted, ansi),
      position: { epoch: context.stream.epoch, outputSeq: raw.outputSeq },
      exact: raw.exact,
      cols: raw.cols,
      rows: raw.rows,
      cursor: { col: raw.col, row: raw.row },
      alternateScreen: raw.alternateScreen,
      historyLines: raw.historyLines,
      historyLimit: raw.historyLimit,
    };
  }
}

async function captureOnce(
  context: CaptureContext,
  { joinWrapped, ansi: escapes }: CaptureOptions,
  startLine: CaptureOptions["start"],
) {
  const { pane, connection, files } = context;
  const ask = (buffer?: string) =>
    askPane(context, capturePane(pane, { startLine, joinWrapped, escapes, buffer }), TRAILER.format);
  const isLong = startLine === "oldest" || (startLine !== undefined && startLine <= -MIN_FILE_LINES);
  const reply = (isLong ? await files?.take(connection, ask) : undefined) ?? (await ask());
  const screen = requireRow(pane, TRAILER, reply.trailer);
  return { ...reply, ...screen, tabs: decodeTabs(screen.tabs, screen.cols) };
}

const utf8 = new TextDecoder();

type RawRows = Pick<Awaited<ReturnType<typeof captureOnce>>, "body" | "cols" | "tabs">;

/** Rows of a reply, blank rows at the end dropped; plain rows lose trailing blanks and any control character. */
function decodeRows(raw: RawRows, ansi: boolean): string[] {
  const rows = ansi ? colouredRows(raw) : printedRows(raw).map((row) => row.trimEnd());
  while (rows.length > 0 && rows.at(-1)!.trim() === "") rows.pop();
  return rows;
}

const colouredRows = (raw: RawRows): string[] => lines(raw.body).map((row) => expandTabs(row, raw));

/** Plain rows as tmux prints them, with trailing blanks removed. */
function printedRows(raw: RawRows): string[] {
  const rows = utf8.decode(raw.body).replace(CONTROL_CHARACTERS, "").split("\n").slice(0, -1);
  // tmux stops trimming blanks at a TAB, so a row may end in blanks and a TAB.
  return rows.map((row) => (row.includes("\t") ? expandTabs(row, raw).replace(/ +$/, "") : row));
}

/**
 * The last `count` rows. tmux writes an attribute where it changes: what was set in earlier rows still applies to the
 * first.
 */
function lastRows(rows: readonly string[], count: number, ansi: boolean): string[] {
  const last = rows.slice(-count);
  if (!ansi || last.length === rows.length) return last;
  const pen = penAfter(rows.slice(0, -count).join(""));
  if (pen.size > 0) last[0] = `${sgrOf(pen)}${last[0] ?? ""}`;
  return last;
}

/** All but the line feed, which ends a row, and the TAB, which means blanks. */
// oxlint-disable-next-line no-control-regex -- control characters are what it removes
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
