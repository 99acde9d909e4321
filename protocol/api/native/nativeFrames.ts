/**
 * Shared by both ends of a stream at run time: names, bounds, the binary frame (docs/contracts/native.md, "Streams"). The
 * client loads it in browsers, so it uses neither `Buffer` nor the schema library.
 */

/** The subprotocol to offer, and the prefix of the entry that carries the token: browsers cannot set headers. */
export const STREAM_PROTOCOL = "tmuxwire.v1";
export const STREAM_BEARER_PREFIX = "tmuxwire.bearer.";
/** Longest text message a client may send: an input of 1 MiB in base64. */
export const STREAM_MAX_MESSAGE_BYTES = 2_097_152;
/** Output bytes sent on a channel before its client must grant credit. */
export const STREAM_INITIAL_CREDIT_BYTES = 1_048_576;

/**
 * Binary frame, big-endian: u8 type (1 = output) · u8 0 · u16 0 · u32 channel · u64 outputSeq of the first byte · bytes.
 * The epoch is that of the channel's last `subscribed` or `snapshot`. Every subscriber of a pane has the same channel
 * number, so that one frame serves all of them.
 */
export const STREAM_FRAME_HEADER_BYTES = 16;
const STREAM_FRAME_OUTPUT = 1;

/** Writes the frame into `into` from `at` on: the head and `bytes`. */
export function writeStreamFrame(into: Uint8Array, at: number, { channel, outputSeq, bytes }: StreamFrame): void {
  const view = new DataView(into.buffer, into.byteOffset + at, STREAM_FRAME_HEADER_BYTES);
  view.setUint32(0, STREAM_FRAME_OUTPUT << 24);
  view.setUint32(4, channel);
  view.setBigUint64(8, BigInt(outputSeq));
  into.set(bytes, at + STREAM_FRAME_HEADER_BYTES);
}

export interface StreamFrame {
  readonly channel: number;
  readonly outputSeq: number;
  /** Decoded, a view into the frame. */
  readonly bytes: Uint8Array;
}

/** Undefined for a frame type unknown to this version. */
export function decodeStreamFrame(frame: Uint8Array): StreamFrame | undefined {
  if (frame.length < STREAM_FRAME_HEADER_BYTES || frame[0] !== STREAM_FRAME_OUTPUT) return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  return {
    channel: view.getUint32(4),
    outputSeq: Number(view.getBigUint64(8)),
    bytes: frame.subarray(STREAM_FRAME_HEADER_BYTES),
  };
}
