/**
 * What a program writes to a terminal that is more than text for its screen. Questions that the server's tmux leaves open are
 * answered by one page, the device's; another page that shows the same terminal keeps silent, or the program would read the
 * answer twice. The clipboard is the person's: a program asks, and it is never read.
 */
import type { IParser } from "@xterm/headless";

interface TerminalQueriesOptions {
  readonly isSilent: () => boolean;
  /** Text for the clipboard. */
  readonly onClipboard: (text: string) => void;
}

/** Final bytes of the questions, with what stands before them. */
const QUESTIONS = [
  { final: "c" },
  { prefix: ">", final: "c" },
  { prefix: "=", final: "c" },
  { final: "n" },
  { prefix: "?", final: "n" },
  { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" },
  { prefix: ">", final: "q" },
] as const;
/** Colours: setting them is shown by all. */
const COLOURS = [4, 5, 10, 11, 12, 13, 14, 17, 19];
/** More than anybody copies by hand. */
const MAX_CLIPBOARD_CHARS = 1_048_576;

export function answerQueries(parser: IParser, { isSilent, onClipboard }: TerminalQueriesOptions): void {
  for (const question of QUESTIONS) parser.registerCsiHandler(question, isSilent);
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, isSilent);
  for (const colour of COLOURS) {
    parser.registerOscHandler(colour, (data) => isSilent() && data.split(";").includes("?"));
  }
  parser.registerEscHandler({ final: "Z" }, isSilent);
  // Window operations could move and read the window.
  parser.registerCsiHandler({ final: "t" }, () => true);
  parser.registerOscHandler(52, (data) => {
    const text = clipboardText(data);
    if (text !== undefined && !isSilent()) onClipboard(text);
    return true;
  });
}

/** Of OSC 52; undefined for a question, for what is no base64, and for nothing. */
export function clipboardText(data: string): string | undefined {
  const encoded = data.slice(data.indexOf(";") + 1);
  if (encoded === "?" || encoded === "" || encoded.length > MAX_CLIPBOARD_CHARS) return undefined;
  try {
    const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
