import { AnsiStripper, stripRoom } from "../../../daemon/panes/vt/ansi.ts";

/** The plain text of whole output, as bytes. */
export function stripAnsi(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(stripRoom(bytes.length));
  return out.subarray(0, new AnsiStripper().strip(bytes, out, 0));
}
