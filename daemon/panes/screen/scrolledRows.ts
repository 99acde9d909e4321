/**
 * The most rows that a piece of output can have moved from the screen into history: judged by its bytes, not by its
 * effect. Sequences whose effect is not examined count as a whole screen.
 */
import type { OutputSource } from "../../tmux/outputSource.ts";
import { VtParser } from "../vt/vtParser.ts";

const ESC = 0x1b;
/** TAB may lead to the last column, LF, VT and FF to the next row. */
const MOVES = new Set([0x09, 0x0a, 0x0b, 0x0c]);
const [COLOURS, ERASES] = [0x6d, 0x4b];
const [SETS, RESETS] = [0x68, 0x6c];
/** These scroll nothing, and programs send them all the time. */
const QUIET_MODES = /^\?(?:1|7|12|25|100\d|1049|2004|2026)$/;
/** A device control string, perhaps a picture. */
const DCS = Buffer.from("\u001bP");
/** A B C D G H d f: the next character may be the last of its row. */
const GOES = new Set([0x41, 0x42, 0x43, 0x44, 0x47, 0x48, 0x64, 0x66]);

/** Undefined when some of that output is not retained, or may have drawn pictures. */
export function mostScrolledRows(
  source: OutputSource,
  range: { readonly from: number; readonly to: number },
  { cols, rows }: { readonly cols: number; readonly rows: number },
): number | undefined {
  if (range.from === range.to) return 0;
  // A sequence may have been under way.
  let [most, text] = [rows, 0];
  const control = (byte: number): void => {
    if (MOVES.has(byte)) most += 1;
  };
  const parser = new VtParser({
    csi: (parameters, final) => {
      if (final === COLOURS || final === ERASES) return;
      if ((final === SETS || final === RESETS) && QUIET_MODES.test(parameters)) return;
      most += GOES.has(final) ? 1 : rows;
    },
    escape: (intermediate) => {
      if (intermediate === 0) most += rows;
    },
    control,
  });
  for (let at = range.from; at < range.to;) {
    const slice = source.read(at, range.to - at);
    if (
      slice.kind !== "bytes" ||
      Buffer.from(slice.bytes.buffer, slice.bytes.byteOffset, slice.bytes.length).includes(DCS)
    ) {
      return undefined;
    }
    for (let next = 0; next < slice.bytes.length;) {
      if (parser.isInside) next = parser.skip(slice.bytes, next, 0);
      else {
        const byte = slice.bytes[next]!;
        if (byte === ESC) parser.begin(0);
        else if (byte < 0x20) control(byte);
        else text += 1;
        next += 1;
      }
    }
    at = slice.to;
  }
  // A wide character leaves a column empty.
  return most + Math.ceil(text / Math.max(1, cols - 1));
}
