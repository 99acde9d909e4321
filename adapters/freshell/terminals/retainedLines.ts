/**
 * The lines of a terminal whose pane is gone: its screen is gone too, and the retained output gives plain text without
 * rows. All of it can be returned; captures that need rows, wraps or colours cannot.
 */
import { AnsiStripper, stripRoom } from "../../../daemon/panes/vt/ansi.ts";
import type { OutputSource } from "../../../daemon/tmux/outputSource.ts";
import { AppError } from "../../../protocol/errors.ts";

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
export function retainedLines(source: OutputSource, { start, joinWrapped, ansi }: RetainedOptions): readonly string[] {
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
