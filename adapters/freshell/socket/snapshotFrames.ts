/** A snapshot as frames: one, or chunks for a client that asked for them, none of which cuts a character. */
import type { ServerMessage } from "../../../protocol/api/freshell/freshellWire.ts";
import { decodeUtf8 } from "../../../protocol/text/utf8.ts";
import type { Snapshot } from "../../../daemon/tmux/io.ts";

interface SnapshotText {
  readonly text: string;
  /** To be completed by the following output, as `OutputFrame.unfinished`. */
  readonly unfinished: Uint8Array;
  /** After `text`. */
  readonly outputSeq: number;
}

export function snapshotText({ data, pendingBytes = 0, position }: Snapshot): SnapshotText {
  const end = data.length - pendingBytes;
  return {
    text: decodeUtf8(data.subarray(0, end)),
    unfinished: data.slice(end),
    outputSeq: position.outputSeq - pendingBytes,
  };
}

/** Undefined: it fits into one frame. */
export function chunkedFrames(
  terminalId: string,
  { text, outputSeq }: SnapshotText,
  maxBytes: number,
): readonly ServerMessage[] | undefined {
  const chunkFrame = (chunk: string): ServerMessage => ({ type: "terminal.attached.chunk", terminalId, chunk });
  const sizeOf = (chunk: string): number => Buffer.byteLength(JSON.stringify(chunkFrame(chunk)));
  // JSON only makes text longer: less than that certainly fits.
  if (text.length * 6 + 256 <= maxBytes || sizeOf(text) <= maxBytes) return undefined;
  const chunks: string[] = [];
  for (let at = 0; at < text.length;) {
    let length = Math.min(text.length - at, maxBytes);
    for (;;) {
      const chunk = text.slice(at, wholeEnd(text, at, at + length));
      const size = sizeOf(chunk);
      if (size <= maxBytes) {
        chunks.push(chunk);
        at += chunk.length;
        break;
      }
      length = Math.max(2, Math.floor((length * maxBytes * 0.97) / size));
    }
  }
  const totals = { terminalId, totalCodeUnits: text.length, totalChunks: chunks.length, outputSeq };
  return [
    { type: "terminal.attached.start", ...totals },
    ...chunks.map(chunkFrame),
    { type: "terminal.attached.end", ...totals },
  ];
}

/** Does not cut a surrogate pair, unless nothing else would be left. */
function wholeEnd(text: string, begin: number, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff && end < text.length && end - 1 > begin ? end - 1 : end;
}
