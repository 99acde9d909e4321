/**
 * History in chunks: a capture of thousands of lines keeps tmux and its pty busy for tens of milliseconds, in which
 * nobody else is served, so history is captured a few hundred rows at a time, with other commands and output in
 * between.
 *
 * A row of history does not change, but its number in tmux does. Each reply says how many rows there were at that
 * moment: when there are more than the chunk's numbers assumed, it is captured again; when there are fewer, or enough was
 * printed meanwhile for the oldest rows to have been dropped, all numbers may mean other rows, and the history has
 * moved.
 */
import { captureChunk, captureBoundary } from "../../../protocol/command/build.ts";
import { lines, number, paneId, rowFormat } from "../../../protocol/command/rowFormat.ts";
import { askPane, type CaptureContext, requireRow } from "../askPane.ts";
import type { HistoryPainter } from "./historyPaint.ts";
import { mostScrolledRows } from "./scrolledRows.ts";
import type { TabLayout } from "./tabCells.ts";

/** Rows of one chunk: some twenty kilobytes, a few milliseconds on a busy machine. */
export const HISTORY_CHUNK_ROWS = 400;
/** Repeats for one history: past this, output comes too fast for chunks. */
const MAX_CHUNKS_AGAIN = 20;

const PLACE = rowFormat({
  pane: paneId,
  cols: number("#{pane_width}"),
  historyRows: number("#{history_size}"),
});

/** The exact moment that the chunks belong to. */
interface HistoryMoment {
  readonly outputSeq: number;
  readonly historyRows: number;
  readonly historyLimit: number;
  readonly screen: TabLayout & { readonly rows: number };
}

/**
 * Paints the rows `from` to `to` (exclusive), counted from the oldest at that moment. False: the history has
 * moved, and what was painted is useless.
 * @throws AppError NOT_FOUND, RESOURCE_LIMIT, CONNECTION_LOST
 */
export async function paintChunks(
  context: CaptureContext,
  moment: HistoryMoment,
  { from, to, chunkRows }: { readonly from: number; readonly to: number; readonly chunkRows: number },
  painter: HistoryPainter,
): Promise<boolean> {
  let { historyRows } = moment;
  let again = 0;
  for (let begin = from; begin < to;) {
    const end = Math.min(begin + chunkRows, to);
    const chunk = await askChunk(context, { begin: begin - historyRows, end: end - historyRows });
    const isHere = chunk.moments.every(
      (now) => now.cols === moment.screen.cols && now.historyRows >= moment.historyRows,
    );
    if (!isHere || mayHaveMoved(context, moment)) return false;
    const now = chunk.moments.at(-1)!.historyRows;
    if (chunk.moments.every((one) => one.historyRows === historyRows)) {
      painter.add(lines(chunk.rows), chunk.goesOn, moment.screen);
      begin = end;
    } else if ((again += 1) > MAX_CHUNKS_AGAIN) return false;
    historyRows = now;
  }
  return true;
}

/** tmux drops the oldest tenth when the limit is reached, and all of it on request: then there are fewer rows. */
function mayHaveMoved({ stream }: CaptureContext, moment: HistoryMoment): boolean {
  const most = mostScrolledRows(stream, { from: moment.outputSeq, to: stream.outputSeq }, moment.screen);
  return most === undefined || most >= Math.min(Math.floor(moment.historyLimit / 10), moment.historyRows);
}

/** Rows counted back from the screen's first, which is 0. */
async function askChunk(context: CaptureContext, { begin, end }: { readonly begin: number; readonly end: number }) {
  const { pane } = context;
  const [chunk, boundary] = await Promise.all([
    askPane(context, captureChunk(pane, begin, end), PLACE.format),
    askPane(context, captureBoundary(pane, end), PLACE.format),
  ]);
  return {
    rows: chunk.body,
    /** Its last row continues in the next. */
    goesOn: lines(boundary.body).length === 1,
    /** One per reply. */
    moments: [chunk, boundary].map(({ trailer }) => requireRow(pane, PLACE, trailer)),
  };
}
