/**
 * What a program says of its state in its output, besides text: titles, OSC 7501 and 133, the switches of bracketed paste
 * and of the alternate screen. Reads bytes in chunks cut anywhere and makes no string of plain output.
 */
import { EscapeSkipper } from "./escapes.ts";

export type StreamMark =
  /** OSC 0 or 2. Foreign text, cut. */
  | { readonly kind: "title"; readonly title: string }
  /** OSC 7501. */
  | { readonly kind: "agentState"; readonly state: "idle" | "busy" | "asking" }
  /** OSC 133: `prompt` A and B, `command` C, `done` D. */
  | { readonly kind: "shellMark"; readonly mark: "prompt" | "command" | "done" }
  | { readonly kind: "bracketedPaste"; readonly on: boolean }
  | { readonly kind: "alternateScreen"; readonly on: boolean };

const ESC = 0x1b;

export class StreamMarks {
  readonly #onMark: (mark: StreamMark) => void;
  readonly #escapes = new EscapeSkipper(() => undefined, {
    mode: (mode, on) => this.#mode(mode, on),
    osc: (payload) => this.#osc(payload),
  });

  constructor(onMark: (mark: StreamMark) => void) {
    this.#onMark = onMark;
  }

  push(bytes: Uint8Array): void {
    let at = 0;
    for (;;) {
      if (this.#escapes.isInside) at = this.#escapes.skip(bytes, at, 0);
      if (at >= bytes.length) return;
      at = bytes.indexOf(ESC, at);
      if (at < 0) return;
      this.#escapes.begin();
      at += 1;
    }
  }

  /** The stream has a hole here: an unfinished sequence will not be finished. */
  reset(): void {
    this.#escapes.reset();
  }

  #mode(mode: number, on: boolean): void {
    if (mode === 2004) this.#onMark({ kind: "bracketedPaste", on });
    else if (mode === 1049 || mode === 1047 || mode === 47) this.#onMark({ kind: "alternateScreen", on });
  }

  #osc(payload: Uint8Array): void {
    // Few begin with these digits: clipboards, links and colours make no string.
    const first = payload[0];
    const isTitle = (first === 0x30 || first === 0x32) && payload[1] === SEMICOLON;
    if (isTitle) {
      this.#onMark({ kind: "title", title: utf8.decode(payload.subarray(2)) });
      return;
    }
    if (first !== 0x31 && first !== 0x37) return;
    const text = utf8.decode(payload);
    const shell = /^133;([ABCD])(?:;|$)/.exec(text)?.[1];
    if (shell !== undefined) this.#onMark({ kind: "shellMark", mark: SHELL_MARKS[shell as keyof typeof SHELL_MARKS] });
    const agent = /^7501;(?:[^;:]{0,64}[;:]){0,8}state=([a-z]{1,16})(?:[;:]|$)/.exec(text)?.[1];
    const state = agent === undefined ? undefined : AGENT_STATES.get(agent);
    if (state !== undefined) this.#onMark({ kind: "agentState", state });
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
