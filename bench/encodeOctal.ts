/** The inverse of `decodeOctal`, as tmux does it (control.c `control_append_data`): for whatever plays tmux. */
const BACKSLASH = 92;
const ZERO = 48;

export function encodeOctal(bytes: Uint8Array): Uint8Array {
  const out: number[] = [];
  for (const byte of bytes) {
    if (byte < 0x20 || byte === BACKSLASH) {
      out.push(BACKSLASH, ZERO + (byte >> 6), ZERO + ((byte >> 3) & 7), ZERO + (byte & 7));
    } else {
      out.push(byte);
    }
  }
  return Uint8Array.from(out);
}
