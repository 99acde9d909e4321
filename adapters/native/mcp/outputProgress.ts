/** A command's output as progress: plain text, batched, only the newest of a flood. */
import { AnsiStripper, stripRoom } from "../../../daemon/panes/vt/ansi.ts";
import type { Timer } from "../../../daemon/time/clock.ts";
import { newest, visible } from "./foreignText.ts";
import type { ToolCall } from "./mcpTool.ts";

/** Between two notifications: fast enough for a person, and a flood is ten messages a second. */
const PROGRESS_EVERY_MS = 100;
const PROGRESS_BYTES = 4_096;
/** Buffered until the next one, escape sequences included. */
const GATHERED_CHARS = 4 * PROGRESS_BYTES;

interface OutputProgress extends Disposable {
  /** Absent: not requested. */
  readonly onOutput: ((bytes: Uint8Array) => void) | undefined;
}

export function outputProgress({ progress, context: { clock } }: ToolCall): OutputProgress {
  if (progress === undefined) return { onOutput: undefined, [Symbol.dispose]: () => undefined };
  const stripper = new AnsiStripper();
  let bytesSeen = 0;
  let gathered = "";
  let timer: Timer | undefined;
  const tell = (): void => {
    timer = undefined;
    progress({ bytes: bytesSeen, text: newest(visible(gathered), PROGRESS_BYTES).text });
    gathered = "";
  };
  return {
    onOutput: (bytes) => {
      bytesSeen += bytes.length;
      const out = Buffer.allocUnsafe(stripRoom(bytes.length));
      gathered = (
        gathered + out.toString("utf8", 0, stripper.strip(bytes, out, 0, 0, { mark: () => undefined }))
      ).slice(-GATHERED_CHARS);
      timer ??= clock.callAt(clock.nowMs() + PROGRESS_EVERY_MS, tell);
    },
    [Symbol.dispose]: () => timer?.cancel(),
  };
}
