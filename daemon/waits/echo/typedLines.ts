/** What was typed, as lines that an echo can show. */
import { AnsiStripper, stripRoom } from "../../panes/vt/ansi.ts";

export interface TypedLine {
  readonly characters: readonly string[];
  /** Enter follows: the echo ends with the row. */
  readonly hasEnter: boolean;
}

/** A letter or digit: it continues a word, and no prompt ends in one. */
export const isWord = (character: string): boolean => /[\p{L}\p{N}]/u.test(character);

/** What the echo of each line shows: control characters do not show, or not as themselves. */
export function typedLines(typed: Uint8Array): TypedLine[] {
  const plain = new Uint8Array(stripRoom(typed.length));
  // A CR typed is Enter; the stripper would join it to what follows.
  const enters = typed.map((byte) => (byte === 0x0d ? 0x0a : byte));
  const length = new AnsiStripper().strip(enters, plain, 0);
  const parts = Buffer.from(plain.buffer, 0, length).toString("utf8").split("\n");
  return parts
    .map((text, index) => ({ characters: Array.from(text), hasEnter: index < parts.length - 1 }))
    .filter(({ characters }) => characters.some((character) => character !== " "));
}
