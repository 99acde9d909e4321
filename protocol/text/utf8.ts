/**
 * UTF-8 helpers for streams: how long a character is, whether its bytes are valid, where one begins.
 */

/** U+FFFD in UTF-8. */
export const REPLACEMENT_BYTES: readonly [number, number, number] = [0xef, 0xbf, 0xbd];

/** The length in bytes of a character that begins with this byte; 0 if none does. */
export function sequenceLength(lead: number): 0 | 1 | 2 | 3 | 4 {
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;
  if (lead < 0xe0) return 2;
  if (lead < 0xf0) return 3;
  return lead < 0xf5 ? 4 : 0;
}

/** Whether `byte` may follow `lead` directly: no overlong forms, no surrogates, nothing above U+10FFFF. */
export function isSecondByte(lead: number, byte: number): boolean {
  if (lead === 0xe0) return byte >= 0xa0 && byte <= 0xbf;
  if (lead === 0xed) return byte >= 0x80 && byte <= 0x9f;
  if (lead === 0xf0) return byte >= 0x90 && byte <= 0xbf;
  if (lead === 0xf4) return byte >= 0x80 && byte <= 0x8f;
  return byte >= 0x80 && byte <= 0xbf;
}

export const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** The first index at or after `index` at which a character of valid UTF-8 begins. */
export function nextBoundary(bytes: Uint8Array, index: number): number {
  let at = index;
  while (at < bytes.length && isContinuation(bytes[at] ?? 0)) at++;
  return at;
}

/** Encodes any string as valid UTF-8; a lone surrogate becomes U+FFFD. */
export const encodeUtf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Decodes any bytes to a string. A byte order mark is kept as text. */
export const decodeUtf8 = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
