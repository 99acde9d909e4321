/**
 * Regexes that are plain text, perhaps with `^` before or `$` after it, as most that people wait for are. They need no
 * RE2: a search for bytes gives the same result on this thread, where the worker's two wake-ups take half a millisecond.
 */
import { nextBoundary } from "../../../protocol/text/utf8.ts";
import type { RegexFlags } from "../../../protocol/text/regexSyntax.ts";

export interface PlainRegex {
  readonly text: string;
  readonly bytes: Buffer;
  /** Matches at the start, the end of a line only. */
  readonly atStart: boolean;
  readonly atEnd: boolean;
}

interface PlainMatch {
  /** In characters (code points) of the text, as RE2 counts. */
  readonly index: number;
  readonly text: string;
}

const LINE_FEED = 0x0a;
/** Text of printable characters; those that mean something to RE2 are escaped. */
const PLAIN = /^(\^?)((?:[^\\^$.|?*+()[\]{}\p{C}]|\\[\\^$.|?*+()[\]{}/-])+)(\$?)$/u;
const ESCAPE = /\\(.)/gu;

/** @returns undefined when only RE2 can tell. */
export function plainRegex(pattern: string, flags: RegexFlags): PlainRegex | undefined {
  const [, start, escaped, end] = PLAIN.exec(pattern) ?? [];
  if (escaped === undefined || flags.ignoreCase) return undefined;
  // Without `m` they mean the text's own ends, which a stretch of a stream does not have.
  if ((start !== "" || end !== "") && !flags.multiline) return undefined;
  const text = escaped.replace(ESCAPE, "$1");
  return { text, bytes: Buffer.from(text, "utf8"), atStart: start !== "", atEnd: end !== "" };
}

/** The first match in UTF-8 that begins after `skip` characters. Linear in the text, whatever it holds. */
export function findPlain(plain: PlainRegex, utf8: Uint8Array, skip: number): PlainMatch | undefined {
  const text = Buffer.from(utf8.buffer, utf8.byteOffset, utf8.length);
  let from = 0;
  for (let left = skip; left > 0 && from < text.length; left--) from = nextBoundary(text, from + 1);
  const at = plain.atStart || plain.atEnd ? findInLines(plain, text, from) : text.indexOf(plain.bytes, from);
  return at < 0 ? undefined : { index: charactersBefore(text, at), text: plain.text };
}

/** Compares once per line, at its start or its end; -1 when no line matches. */
function findInLines({ bytes, atStart, atEnd }: PlainRegex, text: Uint8Array, from: number): number {
  for (let begin = 0, end = 0; begin <= text.length; begin = end += 1) {
    while (end < text.length && text[end] !== LINE_FEED) end += 1;
    const at = atStart ? begin : end - bytes.length;
    const to = at + bytes.length;
    const isInLine = at >= begin && to <= end && (!atEnd || to === end);
    if (isInLine && at >= from && isAt(text, at, bytes)) return at;
  }
  return -1;
}

function isAt(text: Uint8Array, at: number, bytes: Uint8Array): boolean {
  for (let index = 0; index < bytes.length; index += 1) if (text[at + index] !== bytes[index]) return false;
  return true;
}

function charactersBefore(text: Uint8Array, offset: number): number {
  let count = 0;
  for (let at = 0; at < offset; at++) if ((text[at]! & 0xc0) !== 0x80) count++;
  return count;
}
