/**
 * A WebSocket message as the one frame that carries it (RFC 6455 §5.2). A server's frames are not masked and ours are not
 * compressed, so the same bytes are for everyone who gets the message: it is framed once, and written as it is
 * (`SocketWriter.frame`).
 */
const FIN = 0x80;
const OPCODES = { text: 0x1, binary: 0x2 } as const;
/** The longest payload whose length fits into the second byte; above it, these say that two or eight bytes follow. */
const MAX_SHORT_BYTES = 125;
const LENGTH_IN_TWO_BYTES = 126;
const LENGTH_IN_EIGHT_BYTES = 127;
const MAX_TWO_BYTES = 65_535;

interface EmptyFrame {
  readonly frame: Buffer;
  /** Where the payload begins. */
  readonly at: number;
}

/** A frame with its head; all `payloadBytes` bytes from `at` on are to be written by the caller. */
export function emptyFrame(kind: keyof typeof OPCODES, payloadBytes: number): EmptyFrame {
  const at = payloadBytes <= MAX_SHORT_BYTES ? 2 : payloadBytes <= MAX_TWO_BYTES ? 4 : 10;
  const frame = Buffer.allocUnsafe(at + payloadBytes);
  frame[0] = FIN | OPCODES[kind];
  if (at === 2) frame[1] = payloadBytes;
  else if (at === 4) {
    frame[1] = LENGTH_IN_TWO_BYTES;
    frame.writeUInt16BE(payloadBytes, 2);
  } else {
    frame[1] = LENGTH_IN_EIGHT_BYTES;
    frame.writeBigUInt64BE(BigInt(payloadBytes), 2);
  }
  return { frame, at };
}
