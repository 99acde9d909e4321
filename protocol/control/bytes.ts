/** Compares and reads the protocol's few ASCII words in place, without creating a string from the line. */
const ZERO = 48;

export function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

export function startsWith(buffer: Uint8Array, from: number, to: number, prefix: Uint8Array): boolean {
  if (to - from < prefix.length) return false;
  for (let index = 0; index < prefix.length; index += 1) {
    if (buffer[from + index] !== prefix[index]) return false;
  }
  return true;
}

export function startsWithText(buffer: Uint8Array, from: number, to: number, prefix: string): boolean {
  if (to - from < prefix.length) return false;
  for (let index = 0; index < prefix.length; index += 1) {
    if (buffer[from + index] !== prefix.charCodeAt(index)) return false;
  }
  return true;
}

/** A decimal number of at most ten digits at `from`; `end` is -1 if there is none. */
export function decimal(
  buffer: Uint8Array,
  from: number,
  to: number,
): { readonly value: number; readonly end: number } {
  let at = from;
  let value = 0;
  while (at < to && at - from < 10) {
    const digit = buffer[at]! - ZERO;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
    at += 1;
  }
  return at === from ? { value: 0, end: -1 } : { value, end: at };
}
