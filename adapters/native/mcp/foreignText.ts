/**
 * Prepares a program's text for a model: makes invisible characters visible, keeps only the newest part up to a bound, and
 * puts it between marks with a nonce, so that nothing in the text can pass for our own words.
 */
import { randomBytes } from "node:crypto";

/** The bound on one text unless the model asks for another. */
export const DEFAULT_TEXT_BYTES = 16_384;

/** Control and format characters (bidi, zero width, tags), line separators, and everything else that is not visible. */
const UNSEEN =
  /(?!(?<=\p{Extended_Pictographic})\uFE0F)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;

/** Replaces each invisible character by its code (`<U+200B>`); newlines and tabs stay. */
export const visible = (text: string): string => text.replace(UNSEEN, shown);

const shown = (character: string): string =>
  character === "\n" || character === "\t"
    ? character
    : `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`;

/** The same for every string in a JSON value, member names included. */
export function visibleJson(value: unknown): unknown {
  if (typeof value === "string") return visible(value);
  if (Array.isArray(value)) return value.map(visibleJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [visible(name), visibleJson(member)]));
}

interface BoundedText {
  readonly text: string;
  /** Bytes cut off before the text. */
  readonly cutBytes: number;
}

/** The newest part of a text, starting at the beginning of a line if possible. */
export function newest(text: string, maxBytes: number): BoundedText {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return { text, cutBytes: 0 };
  let from = bytes.length - maxBytes;
  while (from < bytes.length && (bytes[from]! & 0xc0) === 0x80) from += 1;
  const lineEnd = bytes.indexOf(0x0a, from - 1);
  if (lineEnd >= 0 && lineEnd + 1 < bytes.length) from = lineEnd + 1;
  return { text: bytes.toString("utf8", from), cutBytes: from };
}

/** The text between marks with a nonce that is new for this result. */
export function framed(text: string): string {
  const word = `untrusted-${randomBytes(6).toString("hex")}`;
  return `<${word}>\n${text}${text === "" || text.endsWith("\n") ? "" : "\n"}</${word}>`;
}

interface Shortened {
  readonly text: string;
  /** Members for the structured result. */
  readonly cut: { readonly cutBytes?: number; readonly cut?: string };
  /** Follows the first sentence of a result. */
  readonly note: string;
}

/** A text for a result. @param how to get the part that was left out */
export function shortened(foreign: string, maxBytes: number, how: string): Shortened {
  const { text, cutBytes } = newest(visible(foreign), maxBytes);
  if (cutBytes === 0) return { text, cut: {}, note: "" };
  return { text, cut: { cutBytes, cut: how }, note: ` ${cutBytes} bytes before it were left out: ${how}.` };
}
