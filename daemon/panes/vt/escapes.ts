/**
 * Where an escape sequence ends: the states of tmux's `input.c`, fed byte by byte and in chunks cut anywhere. It keeps
 * nothing of what is inside but two things that text and prompts depend on: whether the cursor left its row, and the
 * bracketed paste switch. An observer is told of private modes and of what stands in an OSC.
 */

/** Told in the order of the stream. */
export interface EscapeObserver {
  /** `CSI ? mode h` and `l`, once for each parameter. */
  mode(mode: number, on: boolean): void;
  /** A finished OSC, cut to `MAX_OSC_BYTES`. Valid until the call returns. */
  osc(payload: Uint8Array): void;
}

/** What an observer gets of an OSC: marks and titles are shorter, what is cut from a longer one decides nothing. */
export const MAX_OSC_BYTES = 256;

const GROUND = 0;
const ESCAPE = 1;
const ESCAPE_INTERMEDIATE = 2;
const CSI = 3;
/** OSC, APC, title: any ESC ends it. */
const STRING = 4;
/** DCS, SOS, PM: only ESC \ ends it. */
const DEVICE_STRING = 5;
const DEVICE_STRING_ESCAPE = 6;

/** tmux gives up on a string at 1 MiB (`INPUT_BUF_LIMIT`); so that a stray OSC cannot silence a pane for ever, so do we. */
const MAX_STRING_BYTES = 1_048_576;
const BRACKETED_PASTE_MODE = 2004;
/** tmux's own bound (`input.c`, param_list). */
const MAX_PARAMETERS = 24;

const LF = 0x0a;
const CR = 0x0d;
const ESC = 0x1b;

/** CSI finals after which the cursor is on another row: A B E F H d f. */
const LEAVES_ROW = new Set([0x41, 0x42, 0x45, 0x46, 0x48, 0x64, 0x66]);
/** ESC finals that do: D (IND), E (NEL), M (RI), c (RIS). */
const ESCAPE_LEAVES_ROW = new Set([0x44, 0x45, 0x4d, 0x63]);

export class EscapeSkipper {
  /** The cursor goes to another row, or the screen is emptied. */
  readonly #onLeaveRow: (source: number) => void;
  readonly #observer: EscapeObserver | undefined;
  /** What has come of an OSC; only for an observer. */
  readonly #osc: Uint8Array | undefined;
  #isOsc = false;
  #state = GROUND;
  #stringLength = 0;
  /** CSI so far: `?` seen, the parameter being read, whether 2004 was among them. */
  #isPrivate = false;
  #parameter = 0;
  #has2004 = false;
  /** The parameters that came, for an observer. */
  #parameters: number[] = [];
  #bracketedPaste: boolean | undefined;
  #bracketedPasteAt = -1;

  constructor(onLeaveRow: (source: number) => void, observer?: EscapeObserver) {
    this.#onLeaveRow = onLeaveRow;
    this.#observer = observer;
    this.#osc = observer === undefined ? undefined : new Uint8Array(MAX_OSC_BYTES);
  }

  get isInside(): boolean {
    return this.#state !== GROUND;
  }

  /** The last `?2004h` or `?2004l`; undefined when none was seen. */
  get bracketedPaste(): boolean | undefined {
    return this.#bracketedPaste;
  }

  /** Source offset behind that sequence. */
  get bracketedPasteAt(): number {
    return this.#bracketedPasteAt;
  }

  /** An ESC was read. */
  begin(): void {
    this.#state = ESCAPE;
  }

  /** Forgets an unfinished sequence. */
  reset(): void {
    this.#state = GROUND;
  }

  /** Goes on until the sequence ends or the chunk does; returns how far it came. `source` is that of `bytes[0]`. */
  skip(bytes: Uint8Array, from: number, source: number): number {
    let at = from;
    while (at < bytes.length && this.#state !== GROUND) {
      const byte = bytes[at] ?? 0;
      at++;
      if (byte === 0x18 || byte === 0x1a) this.#state = GROUND;
      else if (this.#state === DEVICE_STRING || this.#state === DEVICE_STRING_ESCAPE) this.#deviceString(byte);
      else if (byte === ESC) {
        if (this.#state === STRING) this.#endString();
        this.#state = ESCAPE;
      } else if (this.#state === STRING) this.#string(byte);
      else if (byte < 0x20) {
        // Controls inside a sequence act at once (input.c): CR and line ends count, the sequence goes on.
        if (byte >= LF && byte <= CR) this.#onLeaveRow(source + at - 1);
      } else if (byte > 0x7e) {
        this.#state = GROUND;
        if (byte > 0x7f) return at - 1;
      } else if (this.#state === CSI) this.#csi(byte, source + at);
      else this.#escape(byte, source + at);
    }
    return at;
  }

  #escape(byte: number, sourceOffset: number): void {
    if (byte < 0x30) {
      this.#state = ESCAPE_INTERMEDIATE;
      return;
    }
    const isPlain = this.#state === ESCAPE;
    this.#state = GROUND;
    if (!isPlain) return;
    this.#stringLength = 0;
    if (byte === 0x5b) {
      this.#state = CSI;
      this.#isPrivate = false;
      this.#parameter = 0;
      this.#has2004 = false;
      this.#parameters.length = 0;
    } else if (byte === 0x5d || byte === 0x5f || byte === 0x6b) {
      this.#state = STRING;
      this.#isOsc = byte === 0x5d;
    } else if (byte === 0x50 || byte === 0x58 || byte === 0x5e) {
      this.#state = DEVICE_STRING;
    } else if (ESCAPE_LEAVES_ROW.has(byte)) {
      this.#onLeaveRow(sourceOffset);
    }
  }

  #csi(byte: number, sourceOffset: number): void {
    if (byte >= 0x30 && byte <= 0x39) {
      // Capped: more digits than any parameter has must not leave the range of exact integers.
      this.#parameter = Math.min(this.#parameter * 10 + byte - 0x30, 1_000_000);
    } else if (byte === 0x3b || byte === 0x3a) {
      this.#endParameter();
    } else if (byte === 0x3f) {
      this.#isPrivate = true;
    } else if (byte >= 0x40) {
      this.#endCsi(byte, sourceOffset);
    }
  }

  #endParameter(): void {
    if (this.#parameter === BRACKETED_PASTE_MODE) this.#has2004 = true;
    if (this.#observer !== undefined && this.#parameters.length < MAX_PARAMETERS)
      this.#parameters.push(this.#parameter);
    this.#parameter = 0;
  }

  #endCsi(final: number, sourceOffset: number): void {
    const last = this.#parameter;
    this.#endParameter();
    this.#state = GROUND;
    const isMode = this.#isPrivate && (final === 0x68 || final === 0x6c);
    if (isMode && this.#has2004) {
      this.#bracketedPaste = final === 0x68;
      this.#bracketedPasteAt = sourceOffset;
    }
    if (isMode) for (const mode of this.#parameters) this.#observer?.mode(mode, final === 0x68);
    // ED 2 and 3 empty the screen; 1049 and 47 are another screen.
    const clears = final === 0x4a && last >= 2;
    const switches = isMode && (last === 1049 || last === 1047 || last === 47);
    if (clears || switches || LEAVES_ROW.has(final)) this.#onLeaveRow(sourceOffset);
  }

  #string(byte: number): void {
    if (byte === 0x07) {
      this.#endString();
      this.#state = GROUND;
      return;
    }
    if (this.#osc !== undefined && this.#stringLength < MAX_OSC_BYTES) this.#osc[this.#stringLength] = byte;
    if (++this.#stringLength > MAX_STRING_BYTES) this.#state = GROUND;
  }

  #endString(): void {
    if (this.#osc === undefined || !this.#isOsc) return;
    this.#observer?.osc(this.#osc.subarray(0, Math.min(this.#stringLength, MAX_OSC_BYTES)));
  }

  #deviceString(byte: number): void {
    if (this.#state === DEVICE_STRING_ESCAPE && byte === 0x5c) this.#state = GROUND;
    else this.#state = byte === ESC ? DEVICE_STRING_ESCAPE : DEVICE_STRING;
    if (++this.#stringLength > MAX_STRING_BYTES) this.#state = GROUND;
  }
}
