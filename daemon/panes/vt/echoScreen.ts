/**
 * Output as a line editor means it: characters put at a cursor, moves within the row, and the moves that leave it. Just
 * enough of a terminal to read a row after readline, zle or a kernel tty has echoed into it (ECMA-48; sequences end as
 * in `input.c`). Fed in chunks cut anywhere; every event carries the source position of its first byte.
 */
import { isSecondByte, sequenceLength } from "../../../protocol/text/utf8.ts";
import { VtParser } from "./vtParser.ts";

interface EchoEvents {
  put(character: string, at: number, end: number): void;
  /** Within the row, by columns to the right (negative: left). */
  move(columns: number, at: number): void;
  /** To a column counted from 0; CR is column 0. */
  column(column: number, at: number): void;
  /** EL: 0 to the right, 1 to the left, 2 all. */
  erase(which: number, at: number): void;
  /** DCH and ICH: characters are deleted or room is made at the cursor. */
  shift(columns: number, at: number): void;
  /** SGR: what follows looks different. */
  style(at: number): void;
  lineFeed(at: number, end: number): void;
  /** To another row without ending this one, or the screen was cleared. */
  leave(at: number, end: number): void;
  /** `?2004h` or `?2004l`: a line editor begins or ends. */
  editor(isOn: boolean, end: number): void;
}

const ESC = 0x1b;

export class EchoScreen {
  /** Only the start and the end of a line editor matter: all else is skipped. */
  isDormant = false;
  readonly #events: EchoEvents;
  readonly #parser = new VtParser({
    csi: (parameters, final, begin, end) => this.#csi(parameters, final, begin, end),
    escape: (intermediate, final, begin, end) => this.#escape(intermediate, final, begin, end),
    control: (byte, at) => this.#control(byte, at),
  });
  readonly #character: number[] = [];
  #characterAt = 0;

  constructor(events: EchoEvents) {
    this.#events = events;
  }

  reset(): void {
    this.#parser.reset();
    this.#character.length = 0;
  }

  feed(bytes: Uint8Array, source: number): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#parser.isInside) at = this.#parser.skip(bytes, at, source);
      else if (this.isDormant) at = this.#pass(bytes, at, source);
      else {
        this.#ground(bytes[at] ?? 0, source + at);
        at += 1;
      }
    }
  }

  /** Skips to the next sequence; returns the offset it reached. */
  #pass(bytes: Uint8Array, from: number, source: number): number {
    this.#character.length = 0;
    const escape = bytes.indexOf(ESC, from);
    if (escape < 0) return bytes.length;
    this.#parser.begin(source + escape);
    return escape + 1;
  }

  #ground(byte: number, at: number): void {
    if (this.#character.length > 0) {
      if (this.#goOn(byte, at)) return;
    }
    if (byte === ESC) this.#parser.begin(at);
    else if (byte < 0x20 || byte === 0x7f) {
      this.#control(byte, at);
    } else if (byte < 0x80) {
      this.#events.put(String.fromCharCode(byte), at, at + 1);
    } else if (sequenceLength(byte) === 0) {
      this.#events.put("\ufffd", at, at + 1);
    } else {
      this.#character.push(byte);
      this.#characterAt = at;
    }
  }

  /** Takes the next byte of a character; false when it belongs to something else. */
  #goOn(byte: number, at: number): boolean {
    const [lead = 0] = this.#character;
    const fits = this.#character.length === 1 ? isSecondByte(lead, byte) : (byte & 0xc0) === 0x80;
    if (!fits) {
      this.#character.length = 0;
      this.#events.put("\ufffd", this.#characterAt, at);
      return false;
    }
    this.#character.push(byte);
    if (this.#character.length === sequenceLength(lead)) {
      const text = Buffer.from(this.#character).toString("utf8");
      this.#character.length = 0;
      this.#events.put(text, this.#characterAt, at + 1);
    }
    return true;
  }

  #control(byte: number, at: number): void {
    if (this.isDormant) return;
    if (byte === 0x08) this.#events.move(-1, at);
    else if (byte === 0x09) this.#events.put("\t", at, at + 1);
    else if (byte === 0x0d) this.#events.column(0, at);
    else if (byte >= 0x0a && byte <= 0x0c) this.#events.lineFeed(at, at + 1);
  }

  #escape(intermediate: number, final: number, begin: number, end: number): void {
    // IND, NEL, RI, RIS.
    const leaves = final === 0x44 || final === 0x45 || final === 0x4d || final === 0x63;
    if (leaves && intermediate === 0 && !this.isDormant) this.#events.leave(begin, end);
  }

  #csi(parameters: string, final: number, begin: number, end: number): void {
    const isMode = final === 0x68 || final === 0x6c;
    if (isMode) this.#mode(parameters, final === 0x68, begin, end);
    if (isMode || this.isDormant) return undefined;
    const count = Math.min(Number.parseInt(parameters, 10) || 0, 10_000);
    switch (String.fromCharCode(final)) {
      case "C":
        return this.#events.move(Math.max(1, count), begin);
      case "D":
        return this.#events.move(-Math.max(1, count), begin);
      case "G":
      case "`":
        return this.#events.column(Math.max(0, count - 1), begin);
      case "K":
        return this.#events.erase(count, begin);
      case "P":
        return this.#events.shift(-Math.max(1, count), begin);
      case "@":
        return this.#events.shift(Math.max(1, count), begin);
      case "J":
        // ED 0 empties what is right of and below the cursor: line editors send it for EL.
        return count === 0 ? this.#events.erase(0, begin) : this.#events.leave(begin, end);
      case "A":
      case "B":
      case "E":
      case "F":
      case "H":
      case "d":
      case "f":
        return this.#events.leave(begin, end);
      case "m":
        return this.#events.style(begin);
      default:
        return undefined;
    }
  }

  #mode(parameters: string, isOn: boolean, begin: number, end: number): void {
    if (!parameters.startsWith("?")) return;
    const modes = parameters.slice(1).split(";");
    if (modes.includes("2004")) this.#events.editor(isOn, end);
    if (!this.isDormant && (modes.includes("1049") || modes.includes("47"))) this.#events.leave(begin, end);
  }
}
