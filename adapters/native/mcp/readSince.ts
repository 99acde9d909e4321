/** What a pane has printed after a position, as plain text, from what the daemon keeps. */
import { AnsiStripper, stripRoom } from "../../../daemon/panes/vt/ansi.ts";
import { headOf, type OutputSource } from "../../../daemon/tmux/outputSource.ts";
import type { NativeGap } from "../../../protocol/api/nativeResponses.ts";
import { formatGap, formatPosition, gapWithin, parsePosition } from "../../../protocol/position.ts";

interface OutputSince {
  readonly output: string;
  /** The end of the text. */
  readonly position: string;
  readonly gaps: readonly NativeGap[];
}

/** @throws AppError INVALID_ARGUMENT */
export function readSince(source: OutputSource, since: string): OutputSince {
  const { epoch, outputSeq } = parsePosition(since);
  const gaps: NativeGap[] = [];
  const kept: Buffer[] = [];
  const stripper = new AnsiStripper();
  // From another connection: all output of this one is newer, and what came between is unknown.
  const isPast = epoch !== source.epoch;
  if (isPast) gaps.push({ from: since, to: formatPosition({ epoch: source.epoch, outputSeq: 0 }), reason: "epoch" });
  let at = isPast ? 0 : outputSeq;
  for (let slice = source.read(at); slice.kind !== "end"; slice = source.read(at)) {
    if (slice.kind === "gap") {
      gaps.push(formatGap(gapWithin(source.epoch, slice.gap)));
      at = slice.gap.to;
      continue;
    }
    const out = Buffer.allocUnsafe(stripRoom(slice.bytes.length));
    kept.push(out.subarray(0, stripper.strip(slice.bytes, out, 0, 0, { mark: () => undefined })));
    at = slice.to;
  }
  return { output: Buffer.concat(kept).toString("utf8"), position: formatPosition(headOf(source)), gaps };
}
