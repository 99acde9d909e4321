/**
 * Snapshots: a pane's whole screen as bytes that rebuild it in a terminal emulator, exact in the stream. Cells, wraps, the
 * unfinished sequence and the modes are asked for in one write; they are one moment of the pane when none of its output
 * came between their answers. What tmux does not tell is read from the retained output (`streamModes.ts`).
 *
 * Not rebuilt, because neither tells it: the position saved by DECSC, the character that REP would repeat or a combining
 * mark would join, and what was set before the retained output began. Up to tmux 3.3a a capture ends each row at its last written cell, so a background
 * that was only erased into the end of a row is missing there; programs that trust tmux's terminfo write blanks instead.
 */
import { captureCells, captureJoined, capturePending } from "../../protocol/command/build.ts";
import { decodeOctal } from "../../protocol/control/octal.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { sequenceLength } from "../../protocol/text/utf8.ts";
import type { Snapshot } from "../tmux/io.ts";
import type { CaptureContext } from "./capture.ts";
import type { OutputSource } from "../tmux/outputSource.ts";
import { paneGone, targetError } from "./paneGone.ts";
import { paintScreen, type CapturedScreen, type ScreenFlags } from "./screenPaint.ts";
import { readStreamModes } from "./vt/streamModes.ts";
import { decodeTabs } from "./tabCells.ts";

/** While two panes flood, one try in ten is exact; a stream that goes on from a snapshot needs an exact one. */
const MAX_SNAPSHOT_TRIES = 20;
/** Retained output read for what tmux does not tell: programs set their pen far more often. */
const MAX_MODES_BYTES = 262_144;

const FLAGS =
  "#{pane_id} #{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{alternate_on} #{alternate_saved_x}" +
  " #{alternate_saved_y} #{scroll_region_upper} #{scroll_region_lower} #{cursor_flag} #{insert_flag}" +
  " #{keypad_cursor_flag} #{keypad_flag} #{wrap_flag} #{origin_flag} #{mouse_standard_flag} #{mouse_button_flag}" +
  " #{mouse_all_flag} #{mouse_utf8_flag} #{mouse_sgr_flag} #{pane_tabs}";

/** tmux's "nothing saved" (UINT_MAX). */
const NOT_SAVED = 4_294_967_295;

interface RawSnapshot {
  readonly bodies: readonly Uint8Array[];
  readonly flags: ScreenFlags;
  readonly outputSeq: number;
  readonly exact: boolean;
}

/** @throws AppError NOT_FOUND, RESOURCE_LIMIT, CONNECTION_LOST */
export async function takeSnapshot(context: CaptureContext): Promise<Snapshot> {
  for (let tries = 1; ; tries += 1) {
    const raw = await snapshotOnce(context);
    if (!raw.exact && tries < MAX_SNAPSHOT_TRIES) continue;
    const { flags, outputSeq } = raw;
    const [cells, joined, savedCells, savedJoined, pendingBody] = raw.bodies as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    const retained = retainedBefore(context.stream, outputSeq);
    const data = paintScreen({
      flags,
      shown: screenOf(cells, joined),
      saved: screenOf(savedCells, savedJoined),
      stream: readStreamModes(retained),
      pending: pendingOf(pendingBody, retained),
    });
    return {
      position: { epoch: context.stream.epoch, outputSeq },
      exact: raw.exact,
      cols: flags.cols,
      rows: flags.rows,
      alternateScreen: flags.alternateScreen,
      data,
    };
  }
}

function snapshotOnce(context: CaptureContext): Promise<RawSnapshot> {
  const { pane, stream, connection, totalOutputBytes } = context;
  const own = stream.outputSeq;
  const total = totalOutputBytes();
  const commands = [
    captureCells(pane, "shown"),
    captureJoined(pane, "shown"),
    captureCells(pane, "saved"),
    captureJoined(pane, "saved"),
    capturePending(pane),
  ];
  const bodies: Uint8Array[] = [];
  let first = own;
  return new Promise((resolve, reject) => {
    commands.forEach((command, index) => {
      const isLast = index === commands.length - 1;
      const trailer = isLast ? { format: FLAGS, target: pane } : undefined;
      connection.sendForeign(
        () => command,
        trailer,
        (outcome) => {
          if ("error" in outcome) {
            reject(targetError(pane, outcome.error));
            return;
          }
          const reply = outcome.replies[0]!;
          bodies.push(reply.body);
          if (index === 0) first = stream.outputSeq;
          if (!isLast) return;
          const flags = decodeFlags(pane, reply.trailer);
          if (flags === undefined) {
            reject(paneGone(pane));
            return;
          }
          const ownBytes = stream.outputSeq - own;
          const alone = totalOutputBytes() - total === ownBytes;
          const exact = ownBytes === 0 || (alone && stream.outputSeq === first);
          resolve({ bodies, flags, outputSeq: stream.outputSeq, exact });
        },
      );
    });
  });
}

function decodeFlags(pane: PaneId, trailer: string): ScreenFlags | undefined {
  const [id, ...fields] = trailer.split(" ");
  if (id !== pane) return undefined;
  const numbers = fields.slice(0, 20).map(Number);
  const at = (index: number): number => numbers[index] ?? 0;
  const isOn = (index: number): boolean => at(index) === 1;
  const cols = at(0);
  const isSaved = at(5) !== NOT_SAVED && at(6) !== NOT_SAVED;
  const modes: readonly (readonly [number, string])[] = [
    [10, "4"],
    [11, "?1"],
    [15, "?1000"],
    [16, "?1002"],
    [17, "?1003"],
    [18, "?1005"],
    [19, "?1006"],
  ];
  return {
    cols,
    rows: at(1),
    cursorCol: at(2),
    cursorRow: at(3),
    alternateScreen: isOn(4),
    savedCursor: isSaved ? { col: at(5), row: at(6) } : undefined,
    regionTop: at(7),
    regionBottom: at(8),
    cursorVisible: isOn(9),
    modes: modes.flatMap(([index, mode]) => (isOn(index) ? [mode] : [])),
    applicationKeypad: isOn(12),
    wraps: isOn(13),
    originMode: isOn(14),
    tabs: decodeTabs(fields[20] ?? "", cols),
  };
}

const utf8 = new TextDecoder();

const screenOf = (cells: Uint8Array, joined: Uint8Array): CapturedScreen => ({
  rows: linesOf(cells),
  joined: linesOf(joined),
});

function linesOf(body: Uint8Array): string[] {
  const lines = utf8.decode(body).split("\n");
  lines.pop();
  return lines;
}

/** The newest retained bytes before a position; holes are passed over. */
function retainedBefore(source: OutputSource, outputSeq: number): Uint8Array {
  const pieces: Uint8Array[] = [];
  let at = Math.max(source.tailSeq, outputSeq - MAX_MODES_BYTES);
  while (at < outputSeq) {
    const slice = source.read(at, outputSeq - at);
    if (slice.kind === "end") break;
    if (slice.kind === "bytes") pieces.push(slice.bytes);
    at = slice.kind === "bytes" ? slice.to : slice.gap.to;
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

/** tmux's unfinished sequence; it does not count an unfinished character as one, so that is read from the output. */
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
