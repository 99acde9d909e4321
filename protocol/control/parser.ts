/**
 * Parses control-mode bytes into events (tmux(1) CONTROL MODE, control.c). Pure: bytes in, synchronous calls out; any
 * chunking gives the same calls. Three rules keep a pane from forging tmux's messages (docs/tmuxFacts.md 14, 17, 18):
 *
 *  - inside a guard block nothing is a notification, except in a block whose command can have no body;
 *  - a block ends at the guard line that repeats its own time, number and flags;
 *  - a block whose body a program can influence ("foreign") ends only where a second command, written with it, prints
 * the closing word of a nonce: body, `%end`, `%begin`, WORD, `%end`. The last `%end` before that `%begin` is the true
 * one; the lines between the two are notifications, held back until then.
 */
import { AppError } from "../errors.ts";
import { MAX_LINE_BYTES, MAX_REPLY_BYTES } from "../limits.ts";
import { LineSplitter } from "./lines.ts";
import { parseNotification, type Notification } from "./notifications.ts";

/** What the body of a command's reply may contain; each command declares it. */
export type ReplyShape =
  /** nothing: a line that begins with `%` is a notification (docs/tmuxFacts.md 14) */
  | { readonly kind: "none" }
  /** ids and numbers only: plain guard matching is enough */
  | { readonly kind: "ours" }
  /** text that a program can influence: `closingWord(nonce)`, printed by a command in the same write, ends it */
  | { readonly kind: "foreign"; readonly nonce: string };

/**
 * The word that ends a foreign reply: the nonce reversed. Rows of a reply begin with the nonce itself, and a path that ends
 * in guessed guard lines can come right before one, so the two must differ.
 */
export const closingWord = (nonce: string): string => Array.from(nonce).toReversed().join("");

export interface GuardBlock {
  readonly number: number;
  /** The number of its last command: a foreign reply is two commands. */
  readonly lastNumber: number;
  /** True if the block replies to one of our commands (flags & 1); false for hooks and the attach itself. */
  readonly client: boolean;
  readonly ok: boolean;
  /** A copy, with an LF after every line. Empty if there was no line, or if `overflowed`. */
  readonly body: Uint8Array;
  /** The reply was longer than `MAX_REPLY_BYTES` and was dropped. */
  readonly overflowed: boolean;
  /** Foreign replies only: the text that `display-message` printed after the closing word and one space. */
  readonly trailer: string;
}

export interface ControlHandler {
  /** `%output` and `%extended-output`: the escaped bytes are `line[from, to)`, a view valid during the call. */
  output(paneNumber: number, line: Uint8Array, from: number, to: number): void;
  /** Called at the start of each block that replies to a command: the shape of the oldest command without a reply. */
  expect(): ReplyShape | undefined;
  block(block: GuardBlock): void;
  notification(notification: Notification): void;
}

const CR = 13;
const LF = 10;
const SPACE = 32;
const PERCENT = 37;
const COLON = 58;
/** `ESC P 1 0 0 0 p`, the wrapper of `-CC`: lines then end CR LF (client.c). */
const DCS = Uint8Array.of(27, 80, 49, 48, 48, 48, 112);
const OUTPUT = ascii("%output %");
const EXTENDED_OUTPUT = ascii("%extended-output %");

/** Most replies have no body; an empty array is immutable, so all of them share it. */
const NOTHING = new Uint8Array(0);

interface OpenBlock {
  readonly begin: Guard;
  readonly client: boolean;
  readonly shape: ReplyShape;
  /** Foreign: where the body would end and the rest would begin, according to the last matching guard line. */
  candidate: { readonly bodyEnd: number; readonly next: number; readonly ok: boolean } | undefined;
  /** Foreign: the first word that the nonce's command prints. */
  readonly closing: Uint8Array;
  /** Foreign: the `%begin` line just seen, which the closing word must follow. */
  second: { readonly begin: Guard; readonly from: number } | undefined;
  /** Foreign: set once the closing word has been seen; only its block's own end may follow. */
  trailer: string | undefined;
  overflowed: boolean;
}

export class ControlParser {
  readonly #handler: ControlHandler;
  readonly #lines = new LineSplitter(
    (buffer, from, to) => this.#line(buffer, from, to),
    () => this.#tooLong(),
  );
  readonly #utf8 = new TextDecoder();
  #started = false;
  #crlf = false;
  #exited = false;
  #block: OpenBlock | undefined;
  #body = new Uint8Array(16_384);
  #bodyLength = 0;

  constructor(handler: ControlHandler) {
    this.#handler = handler;
  }

  /** Bytes held for an incomplete line or block. */
  get heldBytes(): number {
    return this.#lines.carriedBytes + this.#bodyLength;
  }

  /** @throws AppError PROTOCOL_ERROR if the stream is not tmux's; the parser must not be used afterwards. */
  push(chunk: Uint8Array): void {
    this.#lines.push(chunk);
  }

  /** Passes on nothing more, not even of the chunk that it is at. */
  end(): void {
    this.#exited = true;
  }

  #line(buffer: Uint8Array, start: number, end: number): void {
    let from = start;
    let to = end;
    if (!this.#started) {
      this.#started = true;
      if (startsWith(buffer, from, to, DCS)) {
        from += DCS.length;
        this.#crlf = true;
      }
    }
    if (this.#crlf) {
      // The pty inserts a CR before every LF until its output processing is off; after that, a CR is tmux's own.
      if (to > from && buffer[to - 1] === CR) to -= 1;
      else this.#crlf = false;
    }
    this.#dispatch(buffer, from, to);
  }

  #dispatch(buffer: Uint8Array, from: number, to: number): void {
    if (this.#exited) return;
    const block = this.#block;
    if (block === undefined) this.#topLevel(buffer, from, to);
    else if (block.shape.kind === "foreign") this.#inForeign(block, buffer, from, to);
    else this.#inBlock(block, buffer, from, to);
  }

  #topLevel(buffer: Uint8Array, from: number, to: number): void {
    if (this.#output(buffer, from, to)) return;
    const guard = readGuard(buffer, from, to);
    if (guard?.keyword === "begin") this.#open(guard);
    else this.#notify(buffer, from, to);
  }

  #open(guard: Guard): void {
    const client = (guard.flags & 1) === 1;
    this.#bodyLength = 0;
    const shape: ReplyShape = (client ? this.#handler.expect() : undefined) ?? { kind: "ours" };
    this.#block = {
      begin: guard,
      client,
      shape,
      closing: shape.kind === "foreign" ? ascii(closingWord(shape.nonce)) : NOTHING,
      candidate: undefined,
      second: undefined,
      trailer: undefined,
      overflowed: false,
    };
  }

  #inBlock(block: OpenBlock, buffer: Uint8Array, from: number, to: number): void {
    const guard = readGuard(buffer, from, to);
    if (guard !== undefined && guard.keyword !== "begin" && isSameBlock(guard, block.begin)) {
      this.#close(block, guard.keyword === "end", this.#bodyLength);
      return;
    }
    if (block.shape.kind === "none" && buffer[from] === PERCENT && from < to) {
      if (!this.#output(buffer, from, to)) this.#notify(buffer, from, to);
      return;
    }
    this.#append(block, buffer, from, to);
  }

  #inForeign(block: OpenBlock, buffer: Uint8Array, from: number, to: number): void {
    const guard = readGuard(buffer, from, to);
    if (block.trailer !== undefined) {
      const second = block.second?.begin;
      if (guard?.keyword === "end" && second !== undefined && isSameBlock(guard, second)) this.#closeForeign(block);
      else throw new AppError("PROTOCOL_ERROR", "tmux did not close the nonce's block; reconnecting");
      return;
    }
    if (block.second !== undefined && block.candidate !== undefined && startsWith(buffer, from, to, block.closing)) {
      block.trailer = this.#utf8.decode(buffer.subarray(Math.min(to, from + block.closing.length + 1), to));
      return;
    }
    block.second = undefined;
    const lineFrom = this.#bodyLength;
    this.#append(block, buffer, from, to);
    if (guard === undefined) return;
    if (guard.keyword === "begin") {
      if ((guard.flags & 1) === 1) block.second = { begin: guard, from: this.#bodyLength - (to - from + 1) };
    } else if (isSameBlock(guard, block.begin)) {
      // After an overflow the held bytes were dropped, so a line may begin at 0 of what is left.
      block.candidate = {
        bodyEnd: Math.min(lineFrom, this.#bodyLength - (to - from + 1)),
        next: this.#bodyLength,
        ok: guard.keyword === "end",
      };
    }
  }

  #closeForeign(block: OpenBlock): void {
    const { candidate, second } = block;
    if (candidate === undefined || second === undefined) throw new AppError("INTERNAL_ERROR", "no candidate");
    const held = this.#body.slice(candidate.next, second.from);
    this.#close(block, candidate.ok, candidate.bodyEnd);
    // A hook of the first command (`after-capture-pane`) has its own block here, between the two of ours.
    for (let at = 0; at < held.length;) {
      const end = held.indexOf(LF, at);
      this.#dispatch(held, at, end);
      at = end + 1;
    }
  }

  #close(block: OpenBlock, ok: boolean, bodyEnd: number): void {
    this.#block = undefined;
    this.#bodyLength = 0;
    const body = block.overflowed || bodyEnd === 0 ? NOTHING : this.#body.slice(0, bodyEnd);
    if (this.#body.length > 1_048_576) this.#body = new Uint8Array(16_384);
    this.#handler.block({
      number: block.begin.number,
      lastNumber: (block.trailer === undefined ? undefined : block.second?.begin.number) ?? block.begin.number,
      client: block.client,
      ok,
      body,
      overflowed: block.overflowed,
      trailer: block.trailer ?? "",
    });
  }

  /**
   * The reply will not be passed on, so the body held so far can be dropped. The lines after a foreign body's last guard line
   * are kept while they fit, because that line may be the true end, and the lines after it notifications.
   */
  #overflow(block: OpenBlock): void {
    block.overflowed = true;
    const { candidate } = block;
    const following = candidate === undefined ? 0 : this.#bodyLength - candidate.next;
    const kept = following > MAX_LINE_BYTES ? 0 : following;
    this.#body.copyWithin(0, this.#bodyLength - kept, this.#bodyLength);
    this.#bodyLength = kept;
    if (candidate !== undefined) block.candidate = { bodyEnd: 0, next: 0, ok: candidate.ok };
  }

  /**
   * A row of a long reply may be one joined line, so only the reply is lost. Anywhere else, so long a line means that the
   * stream is not tmux's.
   */
  #tooLong(): void {
    const block = this.#block;
    if (this.#exited) return;
    if (block === undefined || block.shape.kind === "none" || block.trailer !== undefined) {
      throw new AppError("PROTOCOL_ERROR", `tmux sent a line of more than ${MAX_LINE_BYTES} bytes; reconnecting`);
    }
    block.second = undefined;
    this.#overflow(block);
  }

  #append(block: OpenBlock, buffer: Uint8Array, from: number, to: number): void {
    let needed = this.#bodyLength + to - from + 1;
    if (needed > MAX_REPLY_BYTES) {
      this.#overflow(block);
      needed = this.#bodyLength + to - from + 1;
    }
    if (needed > this.#body.length) {
      const grown = new Uint8Array(Math.max(needed, this.#body.length * 2));
      grown.set(this.#body.subarray(0, this.#bodyLength));
      this.#body = grown;
    }
    this.#body.set(buffer.subarray(from, to), this.#bodyLength);
    this.#body[needed - 1] = LF;
    this.#bodyLength = needed;
  }

  /** Passes on `%output %N data` or `%extended-output %N age … : data`; false if the line is neither. */
  #output(buffer: Uint8Array, from: number, to: number): boolean {
    if (startsWith(buffer, from, to, OUTPUT)) {
      const { value, end } = decimal(buffer, from + OUTPUT.length, to);
      if (end === -1 || end === to || buffer[end] !== SPACE) return false;
      this.#handler.output(value, buffer, end + 1, to);
      return true;
    }
    if (!startsWith(buffer, from, to, EXTENDED_OUTPUT)) return false;
    const { value, end } = decimal(buffer, from + EXTENDED_OUTPUT.length, to);
    if (end === -1 || end === to || buffer[end] !== SPACE) return false;
    for (let at = end; at + 2 < to; at += 1) {
      if (buffer[at] === SPACE && buffer[at + 1] === COLON && buffer[at + 2] === SPACE) {
        this.#handler.output(value, buffer, at + 3, to);
        return true;
      }
    }
    return false;
  }

  #notify(buffer: Uint8Array, from: number, to: number): void {
    const notification = parseNotification(this.#utf8.decode(buffer.subarray(from, to)));
    if (notification.kind === "exit") this.#exited = true;
    this.#handler.notification(notification);
  }
}

const ZERO = 48;
/** A guard line is three numbers of at most ten digits; anything longer is not one. */
const MAX_GUARD_BYTES = 48;
const MIN_GUARD_BYTES = "%end 0 0 0".length;
const KEYWORDS = [
  { keyword: "begin", text: ascii("%begin ") },
  { keyword: "end", text: ascii("%end ") },
  { keyword: "error", text: ascii("%error ") },
] as const;

interface Guard {
  readonly keyword: "begin" | "end" | "error";
  readonly timeSec: number;
  readonly number: number;
  readonly flags: number;
}

/** Whether two guard lines belong to one block: tmux repeats all three numbers. */
const isSameBlock = (one: Guard, other: Guard): boolean =>
  one.number === other.number && one.timeSec === other.timeSec && one.flags === other.flags;

/** The guard line in `buffer[from, to)`; undefined for any other line. Creates no string, as there are four per command. */
export function readGuard(buffer: Uint8Array, from: number, to: number): Guard | undefined {
  if (buffer[from] !== PERCENT || to - from < MIN_GUARD_BYTES || to - from > MAX_GUARD_BYTES) return undefined;
  for (const { keyword, text } of KEYWORDS) {
    if (!startsWith(buffer, from, to, text)) continue;
    const time = canonical(buffer, from + text.length, to);
    if (time.end === -1 || buffer[time.end] !== SPACE) return undefined;
    const number = canonical(buffer, time.end + 1, to);
    if (number.end === -1 || buffer[number.end] !== SPACE) return undefined;
    const flags = canonical(buffer, number.end + 1, to);
    if (flags.end !== to) return undefined;
    return { keyword, timeSec: time.value, number: number.value, flags: flags.value };
  }
  return undefined;
}

const NO_NUMBER = { value: 0, end: -1 };

/** A number as tmux prints it, so not `01`; equal numbers therefore mean equal text. */
const canonical = (buffer: Uint8Array, from: number, to: number): { readonly value: number; readonly end: number } =>
  buffer[from] === ZERO && from + 1 < to && buffer[from + 1] !== SPACE ? NO_NUMBER : decimal(buffer, from, to);

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

function startsWith(buffer: Uint8Array, from: number, to: number, prefix: Uint8Array): boolean {
  if (to - from < prefix.length) return false;
  for (let index = 0; index < prefix.length; index += 1) {
    if (buffer[from + index] !== prefix[index]) return false;
  }
  return true;
}

/** A decimal number of at most ten digits at `from`; `end` is -1 if there is none. */
function decimal(buffer: Uint8Array, from: number, to: number): { readonly value: number; readonly end: number } {
  let at = from;
  let value = 0;
  while (at < to && at - from < 10) {
    const digit = buffer[at]! - ZERO;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
    at += 1;
  }
  return at === from ? { value: 0, end: -1 } : { value, end: at };
}
