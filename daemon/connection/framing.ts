/**
 * Nonce framing for replies that a program in a pane can influence (docs/tmuxFacts.md 18, 19). The nonce is fresh for
 * each command and cannot be guessed, so nothing a pane printed earlier can end the reply or forge a row in it.
 */
import { randomFillSync } from "node:crypto";
import { displayMessage } from "../../protocol/command/build.ts";
import { closingWord } from "../../protocol/control/parser.ts";
import type { PaneId } from "../../protocol/ids.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz012345";
/** 26 characters of an alphabet of 58: 152 bits. */
const NONCE_CHARS = 26;
const POOL_BYTES = 4_096;

let pool = new Uint8Array(0);
let used = 0;

/** Letters and digits, at least 128 bits of randomness. */
export function createNonce(): string {
  let nonce = "";
  while (nonce.length < NONCE_CHARS) {
    if (used === pool.length) {
      pool = randomFillSync(new Uint8Array(POOL_BYTES));
      used = 0;
    }
    // 232 = 4 × 58, so all characters are equally likely.
    const byte = pool[used++]!;
    if (byte < 232) nonce += ALPHABET[byte % 58]!;
  }
  return nonce;
}

/** The command that follows a foreign one in the same write: prints the nonce, a space and the expanded `trailerFormat`. */
export const nonceCommand = (nonce: string, trailerFormat: string, target?: PaneId): string =>
  displayMessage(`${closingWord(nonce)} ${trailerFormat}`, target);
