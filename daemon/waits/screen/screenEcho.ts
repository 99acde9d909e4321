/**
 * Which lines of a screen show what was typed. Blanks do not matter: editors wrap, indent and pad. A line that ends in
 * a typed line, at its start or after anything but a letter or digit, is one, however often; so is the line in which
 * typing began, with whatever a shell has appended (a suggestion, a completion). That may hide output that ends like
 * the input; the stream has such output too, and there the echo is told apart byte by byte (`echoMask.ts`).
 */
import { isWord, typedLines } from "../echo/typedLines.ts";

/** Typed lines are looked up by this many characters at their end: few share them, whatever was pasted. */
const KEY_LENGTH = 12;

const squeezed = (text: string): string => text.replace(/\s+/gu, "");

export class ScreenEcho {
  readonly #byEnd = new Map<string, string[]>();
  readonly #prompt: string;
  /** The prompt and the first typed line; undefined where there was no prompt. */
  readonly #beginning: string | undefined;

  constructor(typed: Uint8Array, prompt: string) {
    const lines = typedLines(typed).map(({ characters }) => squeezed(characters.join("")));
    for (const line of new Set(lines)) {
      const key = line.slice(-KEY_LENGTH);
      const same = this.#byEnd.get(key);
      if (same === undefined) this.#byEnd.set(key, [line]);
      else same.push(line);
    }
    this.#prompt = squeezed(prompt);
    this.#beginning = lines[0] === undefined || this.#prompt === "" ? undefined : this.#prompt + lines[0];
  }

  /** At which character (code point) of `line` an echo begins; undefined when it shows none. */
  echoAt(line: string): number | undefined {
    const text = squeezed(line);
    for (let length = Math.min(KEY_LENGTH, text.length); length > 0; length -= 1) {
      for (const typed of this.#byEnd.get(text.slice(-length)) ?? []) {
        if (text.endsWith(typed) && !isWord(lastCharacter(text.slice(0, -typed.length))))
          return positionOf(line, typed);
      }
    }
    if (this.#beginning === undefined || !text.startsWith(this.#beginning)) return undefined;
    return positionOf(line, text.slice(this.#prompt.length));
  }
}

const lastCharacter = (text: string): string => Array.from(text.slice(-2)).at(-1) ?? "";

/** Where `tail` begins at the end of `line`, blanks ignored, in code points. */
function positionOf(line: string, tail: string): number {
  const characters = Array.from(line);
  let left = Array.from(tail).length;
  let at = characters.length;
  while (left > 0 && at > 0) {
    at -= 1;
    if (!/\s/u.test(characters[at] ?? "")) left -= 1;
  }
  return at;
}
