/**
 * What a program's output says about its state, besides text: titles, OSC 7501 and 133, the switches of bracketed paste
 * and of the alternate screen, bells. Reads bytes in chunks cut anywhere and makes no string of plain output.
 */
import { type OutputSource, slicesOf } from "../../tmux/outputSource.ts";
import type { Gap } from "../../../protocol/position.ts";
import { VtParser } from "./vtParser.ts";

export type StreamMark =
  /** OSC 0 or 2. Foreign text, cut. */
  | { readonly kind: "title"; readonly title: string }
  /** OSC 7501. */
  | { readonly kind: "agentState"; readonly state: "idle" | "busy" | "asking" }
  /** OSC 133: `prompt` A and B, `command` C, `done` D; of our own scripts (`tmuxwire-marks`). */
  | { readonly kind: "shellMark"; readonly mark: "prompt" | "command" | "done"; readonly isOurs?: true }
  | { readonly kind: "bracketedPaste"; readonly on: boolean }
  | { readonly kind: "alternateScreen"; readonly on: boolean };

/** Positions are the source's: of the mark's first byte, and after its last one. */
export interface MarkHandlers {
  readonly mark?: ((mark: StreamMark, from: number, to: number) => void) | undefined;
  /** BEL, but not one that ends an OSC or is inside another string. */
  readonly bell?: ((at: number) => void) | undefined;
  /** The stream has a gap here. */
  readonly gap?: ((gap: Gap) => void) | undefined;
}

const ESC = 0x1b;
const BEL = 0x07;

export class StreamMarks {
  /** Whether text is searched for bells. */
  hearsBells: boolean;
  readonly #handlers: MarkHandlers;
  readonly #parser = new VtParser({
    mode: (mode, on, end) => this.#mode(mode, on, end),
    osc: (payload, begin, end) => this.#osc(payload, begin, end),
    control: (byte, at) => void (byte === BEL && this.#handlers.bell?.(at)),
  });

  constructor(handlers: MarkHandlers) {
    this.#handlers = handlers;
    this.hearsBells = handlers.bell !== undefined;
  }

  /** @param source the source position of `bytes[0]` */
  push(bytes: Uint8Array, source = 0): void {
    // Text is skipped, never read byte by byte.
    let bell = this.hearsBells ? bytes.indexOf(BEL) : -1;
    for (let at = 0; ;) {
      if (this.#parser.isInside) at = this.#parser.skip(bytes, at, source);
      if (at >= bytes.length) return;
      const escape = bytes.indexOf(ESC, at);
      if (bell >= 0 && bell < at) bell = bytes.indexOf(BEL, at);
      const end = escape < 0 ? bytes.length : escape;
      while (bell >= 0 && bell < end) {
        this.#handlers.bell?.(source + bell);
        bell = bytes.indexOf(BEL, bell + 1);
      }
      if (escape < 0) return;
      this.#parser.begin(source + escape);
      at = escape + 1;
    }
  }

  /** What was pushed ends inside a sequence. */
  get isInside(): boolean {
    return this.#parser.isInside;
  }

  /** The stream has a gap here: an unfinished sequence will not be finished. */
  reset(): void {
    this.#parser.reset();
  }

  #mode(mode: number, on: boolean, end: number): void {
    if (mode === 2004) this.#handlers.mark?.({ kind: "bracketedPaste", on }, end, end);
    else if (mode === 1049 || mode === 1047 || mode === 47)
      this.#handlers.mark?.({ kind: "alternateScreen", on }, end, end);
  }

  #osc(payload: Uint8Array, begin: number, end: number): void {
    const mark = streamMarkOf(payload);
    if (mark !== undefined) this.#handlers.mark?.(mark, begin, end);
  }
}

function streamMarkOf(payload: Uint8Array): StreamMark | undefined {
  // Few begin with these digits: clipboards, links and colours make no string.
  const first = payload[0];
  const isTitle = (first === 0x30 || first === 0x32) && payload[1] === SEMICOLON;
  if (isTitle) return { kind: "title", title: utf8.decode(payload.subarray(2)) };
  if (first !== 0x31 && first !== 0x37) return undefined;
  const text = utf8.decode(payload);
  const shell = /^133;([ABCD])(?:;|$)/.exec(text)?.[1];
  if (shell !== undefined) {
    const mark = { kind: "shellMark", mark: SHELL_MARKS[shell as keyof typeof SHELL_MARKS] } as const;
    return text.includes(";tmuxwire") ? { ...mark, isOurs: true } : mark;
  }
  const agent = /^7501;(?:[^;:]{0,64}[;:]){0,8}state=([a-z]{1,16})(?:[;:]|$)/.exec(text)?.[1];
  const state = agent === undefined ? undefined : AGENT_STATES.get(agent);
  return state === undefined ? undefined : { kind: "agentState", state };
}

/** Reads one range of the retained output by itself. A mark that begins or ends outside it is ignored. */
export function scanMarks(source: OutputSource, from: number, to: number, handlers: MarkHandlers): void {
  const marks = new StreamMarks(handlers);
  for (const slice of slicesOf(source, from, to)) {
    if (slice.kind === "bytes") marks.push(slice.bytes, slice.from);
    else {
      marks.reset();
      handlers.gap?.(slice.gap);
    }
  }
}

const SEMICOLON = 0x3b;
const utf8 = new TextDecoder();

const SHELL_MARKS = { A: "prompt", B: "prompt", C: "command", D: "done" } as const;

const AGENT_STATES: ReadonlyMap<string, "idle" | "busy" | "asking"> = new Map([
  ["idle", "idle"],
  ["done", "idle"],
  ["working", "busy"],
  ["blocked", "asking"],
]);
