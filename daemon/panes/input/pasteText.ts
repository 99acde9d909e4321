/**
 * What may be pasted: text. Inside a paste line ends and tabs are text; any other control character is a key to a
 * program without bracketed paste, and in brackets ESC or CSI (in 7 bits, in 8 bits, or as U+009B) ends the paste early
 * and leaves the rest to be typed. This holds for every paste of every client; what should arrive as keys is not a
 * paste.
 */
import { invalidArgument } from "../../../protocol/errors.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Control characters of C0 and C1 other than line ends and tabs. */
export const holdsKeys = (text: string): boolean => /[^\P{Cc}\n\r\t]/u.test(text);

/** @throws AppError INVALID_ARGUMENT */
export function requirePasteText(bytes: Uint8Array): void {
  // 0xFF occurs only in Latin-1 text, and tmux's parser cannot carry it: it would be sent between two pastes.
  if (!bytes.includes(0xff) && !holdsKeys(charactersOf(bytes))) return;
  throw invalidArgument(
    "a paste contains control characters, which could end it early and be taken for keys; leave them out, or send a text part",
  );
}

/** Text that is not UTF-8 is taken byte by byte, as Latin-1. */
function charactersOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  }
}
