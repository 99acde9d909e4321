/**
 * What a program has set that tmux does not report: the pen, character sets, bracketed paste, focus reports, cursor
 * style. Read from the retained output when a snapshot needs it. A sequence that has left the ring counts as never
 * sent; a reader that has followed the pane from its start misses none.
 */
import { type OutputSource, slicesOf } from "../../tmux/outputSource.ts";
import { applySgr, DEFAULT_PEN, type Pen } from "../pen.ts";
import { VtParser } from "./vtParser.ts";

export interface StreamModes {
  readonly pen: Pen;
  /** The pen that leaving the alternate screen restores. */
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

type Saved = Pick<StreamModes, "pen" | "g0" | "g1" | "shifted">;

const ESC = 0x1b;
const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
/** CSI s and u save and restore like ESC 7 and 8. */
const SAVES = 0x73;
const RESTORES = 0x75;
const SETS_PEN = 0x6d;
const SETS_CURSOR = 0x71;
const PLAIN = /^[\d:;]*$/;

/** How far back a first reading goes: programs set their pen far more often. */
const MAX_READ_BYTES = 262_144;
const READERS = new WeakMap<OutputSource, ModesReader>();

/** As of a position; what was read for an earlier one is not read again. Holes are skipped. */
export function modesAt(source: OutputSource, outputSeq: number): StreamModes {
  let reader = READERS.get(source);
  const oldest = Math.max(source.tailSeq, outputSeq - MAX_READ_BYTES);
  if (reader === undefined || reader.seq > outputSeq || reader.seq < oldest) {
    reader = new ModesReader(oldest);
    READERS.set(source, reader);
  }
  for (const slice of slicesOf(source, reader.seq, outputSeq)) if (slice.kind === "bytes") reader.read(slice.bytes);
  reader.seq = outputSeq;
  return reader.modes;
}

/** Folds the bytes of a pane's output, oldest first. */
class ModesReader {
  /** The next position to read. */
  seq: number;
  readonly #fold = new ModesFold();
  readonly #parser = new VtParser({
    mode: (mode, on) => this.#fold.mode(mode, on),
    csi: (parameters, final) => this.#fold.csi(parameters, final),
    escape: (intermediate, final) => this.#fold.escape(intermediate, final),
    control: (byte) => this.#fold.control(byte),
  });

  constructor(seq: number) {
    this.seq = seq;
  }

  get modes(): StreamModes {
    return { ...this.#fold.modes };
  }

  read(bytes: Uint8Array): void {
    const [fold, parser] = [this.#fold, this.#parser];
    for (let at = 0; at < bytes.length;) {
      if (parser.isInside) at = parser.skip(bytes, at, 0);
      else {
        // The hot loop: text.
        while (at < bytes.length && bytes[at]! >= 0x20) at += 1;
        const byte = bytes[at];
        if (byte === ESC) parser.begin(at);
        else if (byte !== undefined) fold.control(byte);
        at += 1;
      }
    }
  }
}

type Changing = { -readonly [Key in keyof StreamModes]: StreamModes[Key] };

class ModesFold {
  modes: Changing = { ...NO_MODES };
  #isAlternate = false;
  #saved: Saved = NO_MODES;

  mode(mode: number, on: boolean): void {
    if (mode === 2004) this.#set({ bracketedPaste: on });
    if (mode === 1004) this.#set({ focusReports: on });
    // tmux's alternate screen saves and restores the pen (screen_alternate_on, screen_alternate_off).
    if (mode === 1049) this.#alternate(on);
    if (mode === 1049 || mode === 1047 || mode === 47) this.#isAlternate = on;
  }

  csi(parameters: string, final: number): void {
    switch (final) {
      case SETS_PEN:
        if (PLAIN.test(parameters)) this.modes.pen = applySgr(this.modes.pen, parameters);
        return;
      case SETS_CURSOR:
        if (/^\d* $/.test(parameters)) this.modes.cursorStyle = Number(parameters);
        return;
      case SAVES:
        if (PLAIN.test(parameters)) this.#save();
        return;
      case RESTORES:
        if (PLAIN.test(parameters)) this.#set(this.#saved);
    }
  }

  escape(intermediate: number, final: number): void {
    const set = String.fromCharCode(final);
    if (intermediate !== 0) this.#designate(intermediate, set);
    else if (set === "7") this.#save();
    else if (set === "8") this.#set(this.#saved);
    else if (set === "c") this.#reset();
  }

  /** tmux knows two sets and leaves what it has at any other. */
  #designate(intermediate: number, set: string): void {
    if (set !== "0" && set !== "B") return;
    if (intermediate === 0x28) this.#set({ g0: set });
    else if (intermediate === 0x29) this.#set({ g1: set });
  }

  /** In tmux (`input_reset_cell`, `screen_write_reset`) the cursor's style and what leaving the alternate screen restores stay. */
  #reset(): void {
    const { savedPen, cursorStyle } = this.modes;
    this.modes = { ...NO_MODES, savedPen, cursorStyle };
    this.#saved = NO_MODES;
  }

  control(byte: number): void {
    if (byte === SHIFT_OUT) this.modes.shifted = true;
    else if (byte === SHIFT_IN) this.modes.shifted = false;
  }

  #set(changed: Partial<StreamModes>): void {
    Object.assign(this.modes, changed);
  }

  #save(): void {
    const { pen, g0, g1, shifted } = this.modes;
    this.#saved = { pen, g0, g1, shifted };
  }

  /** Saves the pen on entering the alternate screen, unless already there; restores it on every exit. */
  #alternate(on: boolean): void {
    const { modes } = this;
    if (!on) modes.pen = modes.savedPen ?? modes.pen;
    else if (!this.#isAlternate) modes.savedPen = modes.pen;
  }
}
