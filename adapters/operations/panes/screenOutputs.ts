/** A pane's screen and its typed input, in the form that all responses and streams use. */
import type { TypedText } from "../../../daemon/panes/subscription.ts";
import type { Capture, Snapshot } from "../../../daemon/tmux/io.ts";
import type { NativeSnapshot } from "../../../protocol/api/native/nativeResponses.ts";
import type { StreamInput } from "../../../protocol/api/native/nativeStream.ts";
import { formatPosition } from "../../../protocol/position.ts";

export const nativeSnapshot = (snapshot: Snapshot): NativeSnapshot => ({
  ...screenFields(snapshot),
  data: Buffer.from(snapshot.data.buffer, snapshot.data.byteOffset, snapshot.data.byteLength).toString("base64"),
});

export const streamInput = ({ position, bytes, missedBytes }: TypedText): StreamInput => ({
  position: formatPosition(position),
  data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
  ...(missedBytes > 0 ? { missedBytes } : {}),
});

export const screenFields = ({ position, exact, cols, rows, alternateScreen }: Capture | Snapshot) => ({
  position: formatPosition(position),
  exact,
  cols,
  rows,
  alternateScreen,
});
