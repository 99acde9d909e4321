/**
 * History in lots: a capture of thousands of lines keeps tmux and its pty busy for tens of milliseconds, in which
 * nobody else is served, so history is captured a few hundred rows at a time, with other commands and output in
 * between.
 *
 * A row of history does not change, but its number in tmux does. Each reply says how many rows there were at that
 * moment: when there are more than the lot's numbers assumed, it is captured again; when there are fewer, or enough was
 * printed meanwhile for the oldest rows to have been dropped, all numbers may mean other rows, and the history has
 * moved.
 */
import { captureLot, captureSeam } from "../../protocol/command/build.ts";
import { number, paneId, rowFormat } from "../../protocol/command/rowFormat.ts";
import { linesOf } from "./bodyLines.ts";
import type { CaptureContext } from "./capture.ts";
import type { HistoryPainter } from "./historyPaint.ts";
import { paneGone, targetError } from "./paneGone.ts";
import { mostScrolledRows } from "./scrolledRows.ts";
import type { TabLayout } from "./tabCells.ts";

/** Rows of one lot: some twenty kilobytes, a few milliseconds on a busy machine. */
export const HISTORY_LOT_ROWS = 400;
/** Repeats for one history: past this, output comes too fast for lots. */
const MAX_LOTS_AGAIN = 20;

const PLACE = rowFormat({
  pane: paneId,
  cols: number("#{pane_width}"),
  historyRows: number("#{history_size}"),
});

/** The exact moment that the lots belong to. */
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
export async function paintLots(
  context: CaptureContext,
  moment: HistoryMoment,
  { from, to, lotRows }: { readonly from: number; readonly to: number; readonly lotRows: number },
  painter: HistoryPainter,
): Promise<boolean> {
  let { historyRows } = moment;
  let again = 0;
  for (let begin = from; begin < to;) {
    const end = Math.min(begin + lotRows, to);
    const lot = await askLot(context, { begin: begin - historyRows, end: end - historyRows });
    const isHere = lot.moments.every((now) => now.cols === moment.screen.cols && now.historyRows >= moment.historyRows);
    if (!isHere || mayHaveMoved(context, moment)) return false;
    const now = lot.moments.at(-1)!.historyRows;
    if (lot.moments.every((one) => one.historyRows === historyRows)) {
      painter.add(linesOf(lot.rows), lot.goesOn, moment.screen);
      begin = end;
    } else if ((again += 1) > MAX_LOTS_AGAIN) return false;
    historyRows = now;
  }
  return true;
}

/** tmux drops the oldest tenth when the limit is reached, and all of it on request: then there are fewer rows. */
function mayHaveMoved({ stream }: CaptureContext, moment: HistoryMoment): boolean {
  const most = mostScrolledRows(stream, { from: moment.outputSeq, to: stream.outputSeq }, moment.screen);
  return most === undefined || most >= Math.min(Math.floor(moment.historyLimit / 10), moment.historyRows);
}

interface Lot {
  readonly rows: Uint8Array;
  /** Its last row continues in the next. */
  readonly goesOn: boolean;
  /** One per reply. */
  readonly moments: readonly { readonly cols: number; readonly historyRows: number }[];
}

/** Rows counted back from the screen's first, which is 0. */
function askLot(
  { pane, connection }: CaptureContext,
  { begin, end }: { readonly begin: number; readonly end: number },
): Promise<Lot> {
  const bodies: Uint8Array[] = [];
  const moments: Lot["moments"][number][] = [];
  return new Promise((resolve, reject) => {
    for (const command of [captureLot(pane, begin, end), captureSeam(pane, end)]) {
      connection.sendForeign(
        () => command,
        { format: PLACE.format, target: pane },
        (outcome) => {
          if ("error" in outcome) {
            reject(targetError(pane, outcome.error));
            return;
          }
          const { body, trailer } = outcome.replies[0]!;
          const place = PLACE.decodeLine(trailer);
          if (place?.pane !== pane) {
            reject(paneGone(pane));
            return;
          }
          bodies.push(body);
          moments.push(place);
          const [rows, seam] = bodies;
          if (rows !== undefined && seam !== undefined) resolve({ rows, goesOn: linesOf(seam).length === 1, moments });
        },
      );
    }
  });
}
