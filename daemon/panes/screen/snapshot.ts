/**
 * Snapshots: a pane's whole screen as bytes that rebuild it in a terminal emulator, exact in the stream. Cells, wraps,
 * the unfinished sequence and the modes are requested in one write; they show one moment of the pane when none of its
 * output came between the replies. What tmux does not report is read from the retained output (`streamModes.ts`).
 *
 * Not rebuilt, because neither source has it: the position saved by DECSC, the character that REP would repeat or a
 * combining mark would join, and what was set before the retained output began. Up to tmux 3.3a a capture ends each row
 * at its last written cell, so a background that was only erased into the end of a row is missing there; programs that
 * trust tmux's terminfo write blanks instead.
 */
import { captureCells, captureHistory, captureJoined, capturePending } from "../../../protocol/command/build.ts";
import {
  field,
  flag,
  lines,
  number,
  paneId,
  type RowOf,
  rowFormat,
  word,
} from "../../../protocol/command/rowFormat.ts";
import { decodeOctal } from "../../../protocol/control/octal.ts";
import { sequenceLength } from "../../../protocol/text/utf8.ts";
import type { Snapshot, SnapshotOptions } from "../../tmux/io.ts";
import { askPane, type CaptureContext, requireRow } from "../askPane.ts";
import { HISTORY_CHUNK_ROWS, paintChunks } from "./historyChunks.ts";
import { HistoryPainter } from "./historyPaint.ts";
import { type OutputSource, slicesOf } from "../../tmux/outputSource.ts";
import { paintScreen, type CapturedScreen, type ScreenFlags } from "./screenPaint.ts";
import { modesAt } from "../vt/streamModes.ts";
import { decodeTabs } from "./tabCells.ts";

/** While two panes flood, one try in ten is exact; a stream that continues from a snapshot needs an exact one. */
const MAX_SNAPSHOT_TRIES = 20;
/** Newest output to read: an unfinished character is shorter. */
const CHARACTER_BYTES = 4;

/** A mode that is set in the emulator when it is on. */
const mode = (format: string, name: string) => field(format, (text) => (text === "1" ? [name] : []));

const FLAGS = rowFormat({
  pane: paneId,
  cols: number("#{pane_width}"),
  rows: number("#{pane_height}"),
  cursorCol: number("#{cursor_x}"),
  cursorRow: number("#{cursor_y}"),
  alternateScreen: flag("#{alternate_on}"),
  savedCol: number("#{alternate_saved_x}"),
  savedRow: number("#{alternate_saved_y}"),
  regionTop: number("#{scroll_region_upper}"),
  regionBottom: number("#{scroll_region_lower}"),
  cursorVisible: flag("#{cursor_flag}"),
  insert: mode("#{insert_flag}", "4"),
  cursorKeys: mode("#{keypad_cursor_flag}", "?1"),
  applicationKeypad: flag("#{keypad_flag}"),
  wraps: flag("#{wrap_flag}"),
  originMode: flag("#{origin_flag}"),
  mouseClicks: mode("#{mouse_standard_flag}", "?1000"),
  mouseDrags: mode("#{mouse_button_flag}", "?1002"),
  mouseMoves: mode("#{mouse_all_flag}", "?1003"),
  mouseUtf8: mode("#{mouse_utf8_flag}", "?1005"),
  mouseSgr: mode("#{mouse_sgr_flag}", "?1006"),
  historyRows: number("#{history_size}"),
  historyLimit: number("#{history_limit}"),
  tabs: word("#{pane_tabs}"),
});

/** tmux's "nothing saved" (UINT_MAX). */
const NOT_SAVED = 4_294_967_295;

/** Cells and joined rows of the screen, the same of the saved one, the unfinished sequence, the newest history. */
type Bodies = readonly [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array?];

interface RawSnapshot {
  readonly bodies: readonly Uint8Array[];
  readonly flags: ScreenFlags;
  /** Rows that tmux keeps above the screen. */
  readonly historyRows: number;
  readonly historyLimit: number;
  readonly outputSeq: number;
  readonly exact: boolean;
}

/**
 * @param chunkRows of history captured together with the screen, and of each earlier chunk
 * @throws AppError NOT_FOUND, RESOURCE_LIMIT, CONNECTION_LOST
 */
export async function takeSnapshot(
  context: CaptureContext,
  { historyLines = 0 }: SnapshotOptions = {},
  chunkRows = HISTORY_CHUNK_ROWS,
): Promise<Snapshot> {
  // History that moves too fast for chunks is captured with the screen, however long that takes.
  let together = Math.min(historyLines, chunkRows);
  for (let tries = 1; ; tries += 1) {
    const raw = await snapshotOnce(context, together);
    if (!raw.exact && tries < MAX_SNAPSHOT_TRIES) continue;
    const { flags, outputSeq } = raw;
    const [cells, joined, savedCells, savedJoined, pendingBody] = raw.bodies as Bodies;
    // Before more output comes.
    const stream = modesAt(context.stream, outputSeq);
    const pending = pendingOf(pendingBody, retainedBefore(context.stream, outputSeq));
    const history = await historyOf(context, raw, { historyLines, together, chunkRows });
    if (history === "moved") {
      together = historyLines;
      continue;
    }
    const [shown, saved] = [screenOf(cells, joined), screenOf(savedCells, savedJoined)];
    const data = paintScreen({ flags, shown, saved, stream, pending, history });
    return {
      position: { epoch: context.stream.epoch, outputSeq },
      exact: raw.exact,
      cols: flags.cols,
      rows: flags.rows,
      alternateScreen: flags.alternateScreen,
      data,
      pendingBytes: pending.length,
    };
  }
}

/** The history, painted; undefined when there is none. */
async function historyOf(
  context: CaptureContext,
  raw: RawSnapshot,
  asked: { readonly historyLines: number; readonly together: number; readonly chunkRows: number },
): Promise<{ readonly rows: number; readonly text: string } | undefined | "moved"> {
  const rows = Math.min(asked.historyLines, raw.historyRows);
  const newest = (raw.bodies as Bodies)[5];
  if (newest === undefined || rows === 0) return undefined;
  const painter = new HistoryPainter();
  const older = { from: raw.historyRows - rows, to: raw.historyRows - asked.together, chunkRows: asked.chunkRows };
  const { outputSeq, historyRows, historyLimit, flags } = raw;
  const moment = { outputSeq, historyRows, historyLimit, screen: flags };
  if (older.from < older.to && !(await paintChunks(context, moment, older, painter))) return "moved";
  painter.add(lines(newest), false, flags);
  return { rows, text: painter.text };
}

async function snapshotOnce(context: CaptureContext, historyLines: number): Promise<RawSnapshot> {
  const { pane } = context;
  const commands = [
    captureCells(pane, "shown"),
    captureJoined(pane, "shown"),
    captureCells(pane, "saved"),
    captureJoined(pane, "saved"),
    capturePending(pane),
    ...(historyLines === 0 ? [] : [captureHistory(pane, historyLines)]),
  ];
  const asked = commands.map((command, index) =>
    askPane(context, command, index === commands.length - 1 ? FLAGS.format : undefined),
  );
  const replies = await Promise.all(asked);
  const { trailer, outputSeq, exact } = replies.at(-1)!;
  const row = requireRow(pane, FLAGS, trailer);
  return {
    bodies: replies.map(({ body }) => body),
    flags: flagsOf(row),
    historyRows: row.historyRows,
    historyLimit: row.historyLimit,
    outputSeq,
    exact: exact && outputSeq === replies[0]!.outputSeq,
  };
}

function flagsOf(row: RowOf<typeof FLAGS>): ScreenFlags {
  const { savedCol, savedRow } = row;
  const isSaved = savedCol !== NOT_SAVED && savedRow !== NOT_SAVED;
  const mouse = [row.mouseClicks, row.mouseDrags, row.mouseMoves, row.mouseUtf8, row.mouseSgr];
  return {
    ...row,
    savedCursor: isSaved ? { col: savedCol, row: savedRow } : undefined,
    modes: [row.insert, row.cursorKeys, ...mouse].flat(),
    tabs: decodeTabs(row.tabs, row.cols),
  };
}

const screenOf = (cells: Uint8Array, joined: Uint8Array): CapturedScreen => ({
  rows: lines(cells),
  joined: lines(joined),
});

/** The newest retained bytes before a position; holes are skipped. */
function retainedBefore(source: OutputSource, outputSeq: number): Uint8Array {
  const slices = slicesOf(source, Math.max(source.tailSeq, outputSeq - CHARACTER_BYTES), outputSeq);
  return Buffer.concat([...slices].flatMap((slice) => (slice.kind === "bytes" ? [slice.bytes] : [])));
}

/** tmux's unfinished sequence; that does not include an unfinished character, which is read from the output. */
function pendingOf(body: Uint8Array, retained: Uint8Array): Uint8Array {
  const escaped = body.at(-1) === 10 ? body.length - 1 : body.length;
  if (escaped === 0) return unfinishedCharacter(retained);
  const out = new Uint8Array(escaped);
  return out.subarray(0, decodeOctal(body, 0, escaped, out, 0));
}

function unfinishedCharacter(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? bytes.slice(-back) : new Uint8Array(0);
  }
  return new Uint8Array(0);
}
