/**
 * Output as a line editor means it: characters put at a cursor, moves within the row, and the moves that leave it. Just
 * enough of a terminal to see what a row says after readline, zle or a kernel tty has echoed into it (ECMA-48; `input.c`
 * for what ends what). Fed in chunks cut anywhere; every event carries the source position of its first byte.
 */
import { isSecondByte, sequenceLength } from "../../../protocol/text/utf8.ts";

export interface EchoEvents {
  put(character: string, at: number, end: number): void;
  /** Within the row, by columns to the right (negative: left). */
  move(columns: number, at: number): void;
  /** To a column counted from 0; CR is column 0. */
  column(column: number, at: number): void;
  /** EL: 0 to the right, 1 to the left, 2 all. */
  erase(which: number, at: number): void;
  /** DCH and ICH: characters are taken out or room is made at the cursor. */
  shift(columns: number, at: number): void;
  /** SGR: what follows looks different. */
  style(at: number): void;
  lineFeed(at: number, end: number): void;
  /** To another row without ending this one, or the screen was cleared. */
  leave(at: number, end: number): void;
  /** `?2004h` or `?2004l`: a line editor begins or ends. */
  editor(isOn: boolean, end: number): void;
}

type State = "ground" | "escape" | "intermediate" | "csi" | "string" | "device" | "deviceEscape";

const ESC = 0x1b;

export class EchoScreen {
  readonly #events: EchoEvents;
  #state: State = "ground";
  #begin = 0;
  #parameters = "";
  readonly #character: number[] = [];
  #characterAt = 0;

  constructor(events: EchoEvents) {
    this.#events = events;
  }

  reset(): void {
    this.#state = "ground";
    this.#character.length = 0;
  }

  feed(bytes: Uint8Array, source: number): void {
    for (const [index, byte] of bytes.entries()) this.#byte(byte, source + index);
  }

  #byte(byte: number, at: number): void {
    if (this.#state === "ground") {
      this.#ground(byte, at);
    } else if (byte === 0x18 || byte === 0x1a) {
      this.#state = "ground";
    } else if (this.#state === "device" || this.#state === "deviceEscape") {
      if (this.#state === "deviceEscape" && byte === 0x5c) this.#state = "ground";
      else this.#state = byte === ESC ? "deviceEscape" : "device";
    } else if (byte === ESC) {
      this.#state = "escape";
      this.#begin = at;
    } else if (this.#state === "string") {
      if (byte === 0x07) this.#state = "ground";
    } else if (byte < 0x20) {
      this.#control(byte, at);
    } else if (this.#state === "csi") {
      if (byte < 0x40) this.#parameters += String.fromCharCode(byte);
      else this.#csi(byte, at);
    } else {
      this.#escape(byte, at);
    }
  }

  #ground(byte: number, at: number): void {
    if (this.#character.length > 0) {
      if (this.#goOn(byte, at)) return;
    }
    if (byte === ESC) {
      this.#state = "escape";
      this.#begin = at;
    } else if (byte < 0x20 || byte === 0x7f) {
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

  /** The next byte of a character; false when it is none and begins something else. */
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
    if (byte === 0x08) this.#events.move(-1, at);
    else if (byte === 0x09) this.#events.put("\t", at, at + 1);
    else if (byte === 0x0d) this.#events.column(0, at);
    else if (byte >= 0x0a && byte <= 0x0c) this.#events.lineFeed(at, at + 1);
  }

  #escape(byte: number, at: number): void {
    const isPlain = this.#state === "escape";
    this.#state = "ground";
    if (byte < 0x30) this.#state = "intermediate";
    else if (!isPlain) return;
    else if (byte === 0x5b) {
      this.#state = "csi";
      this.#parameters = "";
    } else if (byte === 0x5d || byte === 0x5f || byte === 0x6b) this.#state = "string";
    else if (byte === 0x50 || byte === 0x58 || byte === 0x5e) this.#state = "device";
    // IND, NEL, RI, RIS.
    else if (byte === 0x44 || byte === 0x45 || byte === 0x4d || byte === 0x63) this.#events.leave(this.#begin, at + 1);
  }

  #csi(final: number, at: number): void {
    this.#state = "ground";
    const parameters = this.#parameters;
    const count = Math.min(Number.parseInt(parameters, 10) || 0, 10_000);
    const begin = this.#begin;
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
        return count === 0 ? this.#events.erase(0, begin) : this.#events.leave(begin, at + 1);
      case "A":
      case "B":
      case "E":
      case "F":
      case "H":
      case "d":
      case "f":
        return this.#events.leave(begin, at + 1);
      case "m":
        return this.#events.style(begin);
      case "h":
      case "l":
        return this.#mode(parameters, final === 0x68, at + 1);
      default:
        return undefined;
    }
  }

  #mode(parameters: string, isOn: boolean, end: number): void {
    if (!parameters.startsWith("?")) return;
    const modes = parameters.slice(1).split(";");
    if (modes.includes("2004")) this.#events.editor(isOn, end);
    if (modes.includes("1049") || modes.includes("47")) this.#events.leave(this.#begin, end);
  }
}
