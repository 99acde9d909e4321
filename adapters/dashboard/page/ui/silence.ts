/**
 * A screen that only shows. The pane's own tmux answers what programs ask their terminal; a second answer from here would be
 * typed into the program, so every question is taken out before it can be answered. Works on xterm's headless twin as well.
 */
import type { IParser } from "@xterm/headless";

/** Final bytes of the questions, with what stands before them. */
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
  // window operations, name and version
  { final: "t" },
  { prefix: ">", final: "q" },
] as const;

/** Palette, foreground, background, cursor and selection colours: setting them is shown, asking is not answered. */
const COLOURS = [4, 5, 10, 11, 12, 13, 14, 17, 19];

export function silence(parser: IParser): void {
  for (const question of QUESTIONS) parser.registerCsiHandler(question, () => true);
  // DECRQSS, and XTGETTCAP which xterm does not know today
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, () => true);
  parser.registerDcsHandler({ intermediates: "+", final: "q" }, () => true);
  for (const colour of COLOURS) parser.registerOscHandler(colour, (data) => data.split(";").includes("?"));
  // The clipboard is the person's.
  parser.registerOscHandler(52, () => true);
  // DECID, the oldest question
  parser.registerEscHandler({ final: "Z" }, () => true);
}

/** Reports of focus, which xterm sends like input: the person looks at a page, nobody has entered the pane. */
export const isFocusReport = (data: string): boolean => data === "\u001b[I" || data === "\u001b[O";
