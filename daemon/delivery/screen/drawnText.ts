/** Whether a text has been drawn since: for a text that was on the screen already, where the screen alone cannot show it. */
import { AnsiStripper, stripRoom } from "../../panes/vt/ansi.ts";
import type { OutputSource } from "../../tmux/outputSource.ts";
import { type EchoProbe, significant } from "./promptEcho.ts";

/** A frame is far smaller; what is older than this has been drawn over. */
const MAX_BYTES = 262_144;

export function drawnSince(source: OutputSource, from: number, { needles, keepsFrames }: EchoProbe): boolean {
  const start = Math.max(from, source.tailSeq, source.outputSeq - MAX_BYTES);
  const slice = source.read(start, MAX_BYTES);
  if (slice.kind !== "bytes") return false;
  const out = Buffer.allocUnsafe(stripRoom(slice.bytes.length));
  const length = new AnsiStripper().strip(slice.bytes, out, 0, 0, { mark: () => undefined });
  const [needle = ""] = needles;
  return needle !== "" && significant(out.toString("utf8", 0, length), keepsFrames).includes(needle);
}
