/** What a search has seen of output through a mask, each character with its place. */
import { EchoMask } from "../../../../../daemon/waits/echo/echoMask.ts";

/** Where typing begins. */
const START = 10;
/** A sequence or a character, its bytes as latin1. */
const PIECE = new RegExp(String.raw`\u001b\[[^@-~]*[@-~]|[\u00c0-\u00ff][\u0080-\u00bf]*|[^]`, "g");

export type Typing = Omit<ConstructorParameters<typeof EchoMask>[0], "start">;

interface Seen {
  /** Without blanks and sequences. */
  readonly text: readonly string[];
  readonly isOver: boolean;
  readonly isHolding: boolean;
}

export function seenText(typing: Typing, chunks: readonly Uint8Array[]): Seen {
  const mask = new EchoMask({ ...typing, start: START });
  const places = new Set<number>();
  const add = (from: number, to: number): void => {
    for (let place = from; place < to; place++) places.add(place);
  };
  let end = START;
  for (const chunk of chunks) {
    mask.feed(chunk, end);
    const from = end;
    end += chunk.length;
    add(Math.max(from, mask.hiddenTo), Math.min(end, mask.visibleTo));
    for (const range of mask.takeShown(end)) add(range.from, range.to);
  }
  const text = shownText(Buffer.concat(chunks), (place) => places.has(START + place));
  return { text, isOver: mask.isOver, isHolding: mask.visibleTo < end };
}

/** The characters of which the last byte is shown: nothing matches half a character. */
export const shownText = (bytes: Buffer, isShown: (place: number) => boolean): readonly string[] =>
  Array.from(bytes.toString("latin1").matchAll(PIECE))
    .map(({ 0: piece, index }) => ({ piece, last: index + piece.length - 1 }))
    .filter(({ piece, last }) => /^[!-\u00ff]/.test(piece) && isShown(last))
    .map(({ piece, last }) => `${last}${piece}`);
