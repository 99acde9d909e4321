/**
 * Queries from programs that xterm.js would answer by itself. A program that gets two answers takes the second for typing:
 * where another terminal answers, tmux or another page's, this one is silent. Works with headless xterm too.
 */
import type { IParser } from "@xterm/headless";

export interface QueryOptions {
  /** Another terminal answers. */
  readonly isSilent: () => boolean;
  /** Text that a program wants on the clipboard. */
  readonly onClipboard?: (text: string) => void;
}

/** Final bytes of the queries, with their prefix and intermediate bytes. */
const QUESTIONS = [
  // device attributes
  { final: "c" },
  { prefix: ">", final: "c" },
  { prefix: "=", final: "c" },
  // status and cursor position
  { final: "n" },
  { prefix: "?", final: "n" },
  // modes
  { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" },
  // name and version
  { prefix: ">", final: "q" },
] as const;
/** Palette, foreground, background, cursor and selection colours: setting them works, only queries are silenced. */
const COLOURS = [4, 5, 10, 11, 12, 13, 14, 17, 19];
/** More than anybody copies by hand. */
const MAX_CLIPBOARD_CHARS = 1_048_576;

export function muteQueries(parser: IParser, { isSilent, onClipboard }: QueryOptions): void {
  for (const question of QUESTIONS) parser.registerCsiHandler(question, isSilent);
  // DECRQSS, and XTGETTCAP, which xterm does not support today
  for (const intermediates of ["$", "+"]) parser.registerDcsHandler({ intermediates, final: "q" }, isSilent);
  for (const colour of COLOURS) {
    parser.registerOscHandler(colour, (data) => isSilent() && data.split(";").includes("?"));
  }
  // DECID, the oldest query
  parser.registerEscHandler({ final: "Z" }, isSilent);
  // Window operations could move and read the window.
  parser.registerCsiHandler({ final: "t" }, () => true);
  // The clipboard is the person's: a program asks to fill it, and never reads it.
  parser.registerOscHandler(52, (data) => {
    const text = clipboardText(data);
    if (text !== undefined && !isSilent()) onClipboard?.(text);
    return true;
  });
}

/** The text of an OSC 52; undefined for a query, invalid base64 or an empty text. */
function clipboardText(data: string): string | undefined {
  const encoded = data.slice(data.indexOf(";") + 1);
  if (encoded === "?" || encoded === "" || encoded.length > MAX_CLIPBOARD_CHARS) return undefined;
  try {
    const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Reports of focus, which xterm sends like input: focusing the page is not focusing the pane. */
export const isFocusReport = (data: string): boolean => data === "\u001b[I" || data === "\u001b[O";
