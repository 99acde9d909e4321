/**
 * What a program has set that tmux tells nobody: the pen, character sets, bracketed paste, focus reports, cursor style.
 * Read from the retained output when a snapshot needs it. A sequence that has left the ring is not known and counts as
 * never sent, so a pane that the daemon has followed from its start is always right.
 */
import { applySgr, DEFAULT_PEN, type Pen } from "../pen.ts";

export interface StreamModes {
  readonly pen: Pen;
  /** What the alternate screen will give back when it is left. */
  readonly savedPen: Pen | undefined;
  /** Final bytes of the designations: `B` ASCII, `0` line drawing. */
  readonly g0: string;
  readonly g1: string;
  /** SO is in force: G1 is used. */
  readonly shifted: boolean;
  readonly bracketedPaste: boolean;
  readonly focusReports: boolean;
  /** DECSCUSR parameter; 0 when never set. */
  readonly cursorStyle: number;
}

const NO_MODES: StreamModes = {
  pen: DEFAULT_PEN,
  savedPen: undefined,
  g0: "B",
  g1: "B",
  shifted: false,
  bracketedPaste: false,
  focusReports: false,
  cursorStyle: 0,
};

/**
 * Sequences that matter, and strings (OSC, DCS, APC, PM, SOS) whole, so that nothing inside one is taken for a sequence.
 * DCS ends at ST only, the others at BEL too.
 */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  /\u001b\[([?]?)([0-9;:]*)( ?[a-zA-Z@`])|\u001b([()])([0-9A-Z])|\u001b([78c])|[\u000e\u000f]|\u001bP[^]*?\u001b\\|\u001b[\]_^X][^\u0007\u001b]*/g;

/** Folds the bytes of a pane's output, oldest first. */
export function readStreamModes(bytes: Uint8Array): StreamModes {
  let modes = NO_MODES;
  let isAlternate = false;
  let saved: Pick<StreamModes, "pen" | "g0" | "g1" | "shifted"> = NO_MODES;
  // Every byte is one character: positions do not matter, and what is looked for is ASCII.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const save = (): void => {
    const { pen, g0, g1, shifted } = modes;
    saved = { pen, g0, g1, shifted };
  };
  for (const match of text.matchAll(SEQUENCES)) {
    const [all, mark, parameters = "", final, set, charset, escape] = match;
    if (final === "m" && mark === "") modes = { ...modes, pen: applySgr(modes.pen, parameters) };
    else if (final === " q") modes = { ...modes, cursorStyle: Number(parameters) };
    else if ((final === "h" || final === "l") && mark === "?") {
      for (const parameter of parameters.split(";")) {
        const on = final === "h";
        if (parameter === "2004") modes = { ...modes, bracketedPaste: on };
        if (parameter === "1004") modes = { ...modes, focusReports: on };
        // tmux's alternate screen saves and restores the pen (screen_alternate_on, screen_alternate_off).
        if (parameter === "1049") modes = alternate(modes, isAlternate, on);
        if (parameter === "1049" || parameter === "1047" || parameter === "47") isAlternate = on;
      }
    } else if (set === "(" && charset !== undefined) modes = { ...modes, g0: charset };
    else if (set === ")" && charset !== undefined) modes = { ...modes, g1: charset };
    else if (escape === "7" || (final === "s" && mark === "")) save();
    else if (escape === "8" || (final === "u" && mark === "")) modes = { ...modes, ...saved };
    else if (escape === "c") modes = NO_MODES;
    else if (all === "\u000e") modes = { ...modes, shifted: true };
    else if (all === "\u000f") modes = { ...modes, shifted: false };
  }
  return modes;
}

/** The pen is kept when the alternate screen is entered, not when it is entered again; it comes back at every leaving. */
function alternate(modes: StreamModes, isAlternate: boolean, on: boolean): StreamModes {
  if (on) return isAlternate ? modes : { ...modes, savedPen: modes.pen };
  return modes.savedPen === undefined ? modes : { ...modes, pen: modes.savedPen };
}
