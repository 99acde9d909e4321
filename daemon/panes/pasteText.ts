/**
 * What may be pasted: text. Inside a paste line ends and tabs are text; any other control character is a key to a program
 * that has not asked for brackets, and in brackets ESC or CSI (in 7 bits, in 8 bits, or as U+009B) ends the paste early
 * and leaves the rest to be typed. This holds for every paste of every client; what is to arrive as keys is not a paste.
 */
import { AppError } from "../../protocol/errors.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Control characters of C0 and C1 besides line ends and tabs. */
export const holdsKeys = (text: string): boolean => /[^\P{Cc}\n\r\t]/u.test(text);

/** @throws AppError INVALID_ARGUMENT */
export function requirePasteText(bytes: Uint8Array): void {
  // 0xFF is in no text but Latin-1's, and tmux's parser cannot carry it: it would go between two pastes.
  if (!bytes.includes(0xff) && !holdsKeys(charactersOf(bytes))) return;
  throw new AppError(
    "INVALID_ARGUMENT",
    "a paste holds control characters, which could end it early and be taken for keys; leave them out, or send a text part",
  );
}

/** What is not UTF-8 is in another encoding: each of its bytes by itself. */
function charactersOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  }
}
