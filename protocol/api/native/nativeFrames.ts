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
/** The most that one grant may be. */
export const STREAM_MAX_CREDIT_BYTES = 1_073_741_824;

/**
 * Binary frame, big-endian: u8 type (1 = output) · u8 0 · u16 0 · u32 channel · u64 outputSeq of the first byte · bytes.
 * The epoch is that of the channel's last `subscribed` or `snapshot`. Every subscriber of a pane has the same channel
 * number, so that one frame serves all of them.
 */
const STREAM_FRAME_HEADER_BYTES = 16;
const STREAM_FRAME_OUTPUT = 1;

export function encodeStreamFrame(channelNumber: number, outputSeq: number, bytes: Uint8Array): Uint8Array {
  const frame = new Uint8Array(STREAM_FRAME_HEADER_BYTES + bytes.length);
  const view = new DataView(frame.buffer);
  view.setUint8(0, STREAM_FRAME_OUTPUT);
  view.setUint32(4, channelNumber);
  view.setBigUint64(8, BigInt(outputSeq));
  frame.set(bytes, STREAM_FRAME_HEADER_BYTES);
  return frame;
}

export interface StreamFrame {
  readonly channel: number;
  readonly outputSeq: number;
  /** A view into the frame. */
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
