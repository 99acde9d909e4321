/**
 * Makes panes' output safe for a person's terminal. Only an allow-list passes: text, and sequences that draw, each
 * regenerated from what the parser understood, so that no byte of a sequence is copied. Everything else is dropped, known
 * or not: queries, whose replies the terminal would type into the shell, the clipboard, titles, printing, mouse and paste
 * reports, and changes of the keys or the encoding.
 */
import { VtParser } from "../../daemon/panes/vt/vtParser.ts";

/** BEL, BS, TAB, LF, VT, FF, CR, SO, SI. */
const CONTROLS = new Set([0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f]);

/** CSI finals, with the most numbers each takes: moving, erasing, inserting, scrolling, tab stops, repeating. */
const COUNTS: ReadonlyMap<string, number> = new Map([
  ...Array.from("@ABCDEFGIJKLMPSTXZ`abdeg", (final) => [final, 1] as const),
  // The cursor's position, and the scroll region.
  ...Array.from("Hfr", (final) => [final, 2] as const),
  // Saving and restoring the cursor.
  ...Array.from("su", (final) => [final, 0] as const),
]);
/** Larger than any screen, and small enough that repeating or scrolling does not keep a terminal busy. */
const MAX_NUMBER = 9_999;
/** The parser cuts longer parameters. */
const MAX_PARAMETER_CHARS = 255;
/** Reverse video, origin, wrap, the cursor's blinking and showing, the alternate screens. */
const MODES = new Set([5, 6, 7, 12, 25, 47, 1047, 1048, 1049]);
const INSERT_MODE = "4";

/** Save and restore the cursor, IND, NEL, HTS, RI, a full reset; ASCII and line drawing; the alignment pattern. */
const ESCAPES = new Set(["7", "8", "D", "E", "H", "M", "c", "(B", "(0", ")B", ")0", "#8"]);

/** Hyperlinks: only to the web, and only printable characters. */
const LINK = /^8;[!-:<-~]*;https?:\/\/[!-~]+$/;
const MAX_LINK_CHARS = 255;
const LINK_END = "8;;";

const ESC = 0x1b;
const C1_LEAD = 0xc2;

export class QuietOutput {
  readonly #parser = new VtParser({
    csi: (parameters, final) => this.#csi(parameters, String.fromCharCode(final)),
    escape: (intermediate, final) => this.#escape(intermediate, final),
    osc: (payload) => this.#osc(payload),
    control: (byte) => this.#control(byte),
  });
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #passed: Uint8Array[] = [];

  /** Takes output in pieces, cut anywhere. An incomplete sequence or character is held until it is complete. */
  pass(data: string | Uint8Array): Buffer {
    this.#passed = [];
    // Invalid UTF-8 becomes U+FFFD here, so that the parser sees whole characters.
    const bytes = Buffer.from(typeof data === "string" ? data : this.#decoder.decode(data, { stream: true }));
    for (let at = 0; at < bytes.length;) {
      if (this.#parser.isInside) at = this.#parser.skip(bytes, at, 0);
      else at = this.#ground(bytes, at);
    }
    return Buffer.concat(this.#passed);
  }

  /** Call when the next output does not continue the previous. */
  reset(): void {
    this.#parser.reset();
    this.#decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  }

  /** Writes text up to a control character and that character; returns the offset reached. */
  #ground(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length && bytes[at]! >= 0x20 && bytes[at] !== 0x7f && !isC1(bytes, at)) at += 1;
    if (at > from) this.#passed.push(bytes.subarray(from, at));
    const byte = bytes[at];
    if (byte === ESC) this.#parser.begin(at);
    else if (byte === C1_LEAD) return at + 2;
    else if (byte !== undefined) this.#control(byte);
    return at + 1;
  }

  #control(byte: number): void {
    if (CONTROLS.has(byte)) this.#passed.push(Buffer.of(byte));
  }

  #escape(intermediate: number, final: number): void {
    const name = (intermediate === 0 ? "" : String.fromCharCode(intermediate)) + String.fromCharCode(final);
    if (ESCAPES.has(name)) this.#write(name);
  }

  #csi(given: string, final: string): void {
    if (given.length > MAX_PARAMETER_CHARS) return;
    const parameters = given.replace(/\d+/g, (digits) => String(Math.min(Number(digits), MAX_NUMBER)));
    const allowed = allowedParameters(parameters, final);
    if (allowed !== undefined) this.#write(`[${allowed}${final}`);
  }

  #osc(payload: Uint8Array): void {
    const text = Buffer.from(payload).toString("latin1");
    // A link that is not allowed still ends the one before it.
    if (text.startsWith("8;"))
      this.#write(`]${payload.length <= MAX_LINK_CHARS && LINK.test(text) ? text : LINK_END}\u001b\\`);
  }

  #write(sequence: string): void {
    this.#passed.push(Buffer.from(`\u001b${sequence}`));
  }
}

/** Whether it is a C1 control, which begins a sequence or ends a string in some terminals. */
const isC1 = (bytes: Buffer, at: number): boolean =>
  bytes[at] === C1_LEAD && bytes[at + 1]! >= 0x80 && bytes[at + 1]! <= 0x9f;

/** Undefined for a sequence that is not on the allow-list. */
function allowedParameters(parameters: string, final: string): string | undefined {
  switch (final) {
    case "m":
      return /^[\d;:]*$/.test(parameters) ? parameters : undefined;
    case "h":
    case "l": {
      if (parameters === INSERT_MODE) return parameters;
      const modes = /^\?[\d;]*$/.test(parameters) ? parameters.slice(1).split(";") : [];
      const drawing = modes.filter((mode) => MODES.has(Number(mode)));
      return drawing.length > 0 ? `?${drawing.join(";")}` : undefined;
    }
    case "q":
      // The cursor's shape.
      return /^[0-6]? $/.test(parameters) ? parameters : undefined;
    case "p":
      // A soft reset.
      return parameters === "!" ? parameters : undefined;
    default: {
      const most = COUNTS.get(final);
      if (most === undefined || !/^[\d;]*$/.test(parameters)) return undefined;
      return parameters === "" || parameters.split(";").length <= most ? parameters : undefined;
    }
  }
}

/** Resets everything that the allow-list can set, before a shell gets the terminal back. */
export const TERMINAL_AT_REST =
  "\u001b[0m\u001b]8;;\u001b\\\u001b[?1049l\u001b[?5;6l\u001b[r\u001b[?7;25h\u001b[4l\u001b[0 q\u001b(B\u000f";
