/**
 * The one parser of escape sequences: the states of tmux's `input.c`, fed in chunks cut anywhere. It handles what is
 * inside a sequence; text between sequences is up to its owner, which calls `begin` at an ESC and `skip` while
 * `isInside`. Of a sequence it keeps only what a handler needs.
 */

/** Called in the order of the stream. Positions are the source's: `begin` of the ESC, `end` after the last byte. */
interface VtHandlers {
  /** The cursor moves to another row, or the screen is cleared. */
  readonly leaveRow?: ((at: number) => void) | undefined;
  /** `CSI ? mode h` and `l`, once for each parameter; a reset (RIS) that ends bracketed paste, as its `l`. */
  readonly mode?: ((mode: number, on: boolean, end: number) => void) | undefined;
  /** Every CSI; `parameters` are all bytes before its final one, including prefix and intermediates. */
  readonly csi?: ((parameters: string, final: number, begin: number, end: number) => void) | undefined;
  /** An escape of two or three bytes that begins neither a CSI nor a string; `intermediate` is 0 where there is none. */
  readonly escape?: ((intermediate: number, final: number, begin: number, end: number) => void) | undefined;
  /** A finished OSC, cut to `MAX_OSC_BYTES`. Valid until the call returns. An ESC that ends it is at `end`. */
  readonly osc?: ((payload: Uint8Array, begin: number, end: number) => void) | undefined;
  /** A control character inside a sequence, which acts at once. */
  readonly control?: ((byte: number, at: number) => void) | undefined;
}

/** How much of an OSC a handler gets: marks and titles are shorter, and the rest of a longer one does not matter. */
const MAX_OSC_BYTES = 256;

/** How much of a CSI's parameters it gets: no terminal takes so many. */
const MAX_PARAMETER_BYTES = 256;

const GROUND = 0;
const ESCAPE = 1;
const ESCAPE_INTERMEDIATE = 2;
const CSI = 3;
/** OSC, APC, title: any ESC ends it. */
const STRING = 4;
/** DCS, SOS, PM: only ESC \ ends it. */
const DEVICE_STRING = 5;
const DEVICE_STRING_ESCAPE = 6;

/**
 * tmux gives up on a string at 1 MiB (`INPUT_BUF_LIMIT`); so do we, so that a stray OSC cannot silence a pane for ever.
 */
const MAX_STRING_BYTES = 1_048_576;
const BRACKETED_PASTE_MODE = 2004;
/** tmux's own limit (`input.c`, param_list). */
const MAX_PARAMETERS = 24;

const LF = 0x0a;
const CR = 0x0d;
const ESC = 0x1b;

/** CSI finals after which the cursor is on another row: A B E F H d f. */
const LEAVES_ROW = new Set([0x41, 0x42, 0x45, 0x46, 0x48, 0x64, 0x66]);
const RIS = 0x63;
/** ESC finals with that effect: D (IND), E (NEL), M (RI), c (RIS). */
const ESCAPE_LEAVES_ROW = new Set([0x44, 0x45, 0x4d, RIS]);

export class VtParser {
  readonly #handlers: VtHandlers;
  readonly #onMode: VtHandlers["mode"];
  readonly #onCsi: VtHandlers["csi"];
  /** The OSC so far; only for a handler. */
  readonly #osc: Uint8Array | undefined;
  #isOsc = false;
  #state = GROUND;
  #begin = 0;
  #stringLength = 0;
  #intermediate = 0;
  /** CSI so far: `?` seen, the parameter being read, whether 2004 was among them. */
  #isPrivate = false;
  #parameter = 0;
  #has2004 = false;
  /** The parameters that came, for a handler. */
  readonly #parameters: number[] = [];
  #parameterBytes = "";
  #bracketedPaste: boolean | undefined;
  #bracketedPasteAt = -1;

  constructor(handlers: VtHandlers) {
    this.#handlers = handlers;
    this.#onMode = handlers.mode;
    this.#onCsi = handlers.csi;
    this.#osc = handlers.osc === undefined ? undefined : new Uint8Array(MAX_OSC_BYTES);
  }

  get isInside(): boolean {
    return this.#state !== GROUND;
  }

  /** The last `?2004h` or `?2004l`, or a reset after it; undefined when none was seen. */
  get bracketedPaste(): boolean | undefined {
    return this.#bracketedPaste;
  }

  /** Source offset after that sequence. */
  get bracketedPasteAt(): number {
    return this.#bracketedPasteAt;
  }

  /** An ESC was read at `source`. */
  begin(source: number): void {
    this.#state = ESCAPE;
    this.#intermediate = 0;
    this.#begin = source;
  }

  /** Output is missing: forgets an unfinished sequence, and a switch that may have been thrown since. */
  reset(): void {
    this.#state = GROUND;
    this.#bracketedPaste = undefined;
  }

  /**
   * Continues until the sequence or the chunk ends; returns the offset it reached. `source` is the position of
   * `bytes[0]`.
   */
  skip(bytes: Uint8Array, from: number, source: number): number {
    let at = from;
    while (at < bytes.length && this.#state !== GROUND) {
      const byte = bytes[at] ?? 0;
      at++;
      if (byte === 0x18 || byte === 0x1a) this.#state = GROUND;
      else if (this.#state === DEVICE_STRING || this.#state === DEVICE_STRING_ESCAPE) this.#deviceString(byte);
      else if (byte === ESC) {
        if (this.#state === STRING) this.#endString(source + at - 1);
        this.begin(source + at - 1);
      } else if (this.#state === STRING) this.#string(byte, source + at);
      else if (byte < 0x20) {
        // Controls inside a sequence act at once (input.c): CR and line ends count, and the sequence continues.
        if (byte >= LF && byte <= CR) this.#handlers.leaveRow?.(source + at - 1);
        this.#handlers.control?.(byte, source + at - 1);
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
      this.#intermediate = byte;
      return;
    }
    const isPlain = this.#state === ESCAPE;
    this.#state = GROUND;
    if (!isPlain) {
      this.#handlers.escape?.(this.#intermediate, byte, this.#begin, sourceOffset);
      return;
    }
    this.#stringLength = 0;
    if (byte === 0x5b) {
      this.#state = CSI;
      this.#isPrivate = false;
      this.#parameter = 0;
      this.#has2004 = false;
      if (this.#parameters.length > 0) this.#parameters.length = 0;
      if (this.#onCsi !== undefined) this.#parameterBytes = "";
    } else if (byte === 0x5d || byte === 0x5f || byte === 0x6b) {
      this.#state = STRING;
      this.#isOsc = byte === 0x5d;
    } else if (byte === 0x50 || byte === 0x58 || byte === 0x5e) {
      this.#state = DEVICE_STRING;
    } else {
      if (ESCAPE_LEAVES_ROW.has(byte)) this.#handlers.leaveRow?.(sourceOffset);
      if (byte === RIS && this.#bracketedPaste === true) this.#endPasteMode(sourceOffset);
      this.#handlers.escape?.(0, byte, this.#begin, sourceOffset);
    }
  }

  /** A reset switches it off without saying so. */
  #endPasteMode(sourceOffset: number): void {
    this.#bracketedPaste = false;
    this.#bracketedPasteAt = sourceOffset;
    this.#onMode?.(BRACKETED_PASTE_MODE, false, sourceOffset);
  }

  #csi(byte: number, sourceOffset: number): void {
    if (this.#onCsi !== undefined && byte < 0x40 && this.#parameterBytes.length < MAX_PARAMETER_BYTES) {
      this.#parameterBytes += String.fromCharCode(byte);
    }
    if (byte >= 0x30 && byte <= 0x39) {
      // Capped: overlong digits must not leave the range of exact integers.
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
    if (this.#isPrivate && this.#onMode !== undefined && this.#parameters.length < MAX_PARAMETERS)
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
    if (isMode) for (const mode of this.#parameters) this.#onMode?.(mode, final === 0x68, sourceOffset);
    // ED 2 and 3 clear the screen; 1049, 1047 and 47 switch it.
    const clears = final === 0x4a && last >= 2;
    const switches = isMode && (last === 1049 || last === 1047 || last === 47);
    if (clears || switches || LEAVES_ROW.has(final)) this.#handlers.leaveRow?.(sourceOffset);
    this.#onCsi?.(this.#parameterBytes, final, this.#begin, sourceOffset);
  }

  #string(byte: number, end: number): void {
    if (byte === 0x07) {
      this.#endString(end);
      this.#state = GROUND;
      return;
    }
    if (this.#osc !== undefined && this.#stringLength < MAX_OSC_BYTES) this.#osc[this.#stringLength] = byte;
    if (++this.#stringLength > MAX_STRING_BYTES) this.#state = GROUND;
  }

  #endString(end: number): void {
    if (this.#osc === undefined || !this.#isOsc) return;
    const payload = this.#osc.subarray(0, Math.min(this.#stringLength, MAX_OSC_BYTES));
    this.#handlers.osc?.(payload, this.#begin, end);
  }

  #deviceString(byte: number): void {
    if (this.#state === DEVICE_STRING_ESCAPE && byte === 0x5c) this.#state = GROUND;
    else this.#state = byte === ESC ? DEVICE_STRING_ESCAPE : DEVICE_STRING;
    if (++this.#stringLength > MAX_STRING_BYTES) this.#state = GROUND;
  }
}
