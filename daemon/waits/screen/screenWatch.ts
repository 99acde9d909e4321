/**
 * One wait's eye on the screen: the patterns that its stream has not shown, tried on the lines that are new since the
 * wait began (`screenView.ts`), without the echo of what was typed. Regexes go to RE2's worker like those of the
 * stream. That only the echo matched is noted, for the timeout's details.
 */
import type { Capture } from "../../tmux/io.ts";
import { isWord, typedLines } from "../echo/typedLines.ts";
import { MAX_JOB_BYTES } from "../regex/regexEngine.ts";
import type { LiteralWatch, RegexWatch } from "../text/textWatch.ts";
import { ScreenBeginning, type ScreenView, type Stretch } from "./screenView.ts";

/** One pattern of the wait, which the stream searches for as well. */
type ScreenPattern = LiteralWatch | RegexWatch;

interface ScreenWatchOptions {
  readonly view: ScreenView;
  readonly patterns: readonly ScreenPattern[];
  /** What is typed after the beginning, when its echo must not count. */
  readonly typed: Uint8Array | undefined;
  readonly maxMatchBytes: number;
}

/** Lines that show the echo and are tried by themselves at each capture: a typed line shows once or twice. */
const MAX_ECHO_LINES = 8;

export class ScreenWatch {
  readonly view: ScreenView;
  readonly #options: ScreenWatchOptions;
  /** Undefined until the screen of the beginning is known. */
  beginning: ScreenBeginning | undefined;
  #echo: ScreenEcho | undefined;
  /** Of the stream. */
  echo: { readonly isEditing: boolean } | undefined;
  #isOver = false;
  /** Judgements that RE2 has not given yet. */
  #jobs = 0;
  #whenJudged: (() => void) | undefined;
  /** The echo matched, and so far nothing else. */
  hasEchoMatched = false;

  constructor(options: ScreenWatchOptions) {
    this.#options = options;
    this.view = options.view;
  }

  /** Captures the screen in the turn in which the wait is armed: tmux executes that before it types anything. */
  begin(whenBegun: () => void): void {
    const begun = (capture: Capture): void => {
      this.beginning = new ScreenBeginning(capture);
      const { typed } = this.#options;
      if (typed !== undefined) this.#echo = new ScreenEcho(typed, this.beginning.prompt);
      whenBegun();
    };
    // Without a beginning nothing on the screen can be judged; whatever ends the pane ends the wait by itself.
    this.view.capture({ lines: 1, whole: true }).then(begun, () => undefined);
  }

  /** @param since output since the beginning, @param wraps by row */
  judge(now: Capture, since: string, wraps: readonly boolean[]): void {
    const { beginning } = this;
    if (beginning === undefined) return;
    if (beginning.isOfAnotherSize(now)) {
      this.beginning = new ScreenBeginning(now);
      return;
    }
    const all = beginning.newStretches(now, since, wraps);
    const echoes = new Map<string, number>();
    const shown = this.#echo === undefined ? all : all.flatMap((lines) => withoutEcho(lines, this.#echo!, echoes));
    // The rest of what a shell's editor draws is no output either.
    const output = this.echo?.isEditing === true ? [] : shown;
    for (const pattern of this.#options.patterns) {
      if (pattern.latch.match !== undefined) continue;
      for (const text of output.flatMap(pieces)) this.#search(pattern, text, 0, (match) => this.#found(pattern, match));
      for (const [line, at] of [...echoes].slice(-MAX_ECHO_LINES)) this.#searchEcho(pattern, line, at);
    }
  }

  /** Calls back once everything that was given to RE2 is judged. */
  whenJudged(done: () => void): void {
    this.#whenJudged = done;
    this.#checkJudged();
  }

  end(): void {
    this.#isOver = true;
    this.#whenJudged = undefined;
  }

  #found({ latch }: ScreenPattern, text: string): void {
    latch.found({ text: cut(text, this.#options.maxMatchBytes), on: "screen" });
  }

  /** A match counts when it contains typed text: what precedes the echo is no reaction either, but nobody typed it. */
  #searchEcho(pattern: ScreenPattern, line: string, at: number): void {
    if (this.hasEchoMatched) return;
    this.#search(pattern, line, 0, (text, index) => {
      if (index + Array.from(text).length > at) this.hasEchoMatched = true;
      else this.#search(pattern, line, at, () => (this.hasEchoMatched = true));
    });
  }

  #search(pattern: ScreenPattern, text: string, skip: number, onMatch: (text: string, index: number) => void): void {
    if (pattern.kind === "literal") {
      const wanted = pattern.bytes.toString("utf8");
      const at = text.indexOf(wanted, Array.from(text).slice(0, skip).join("").length);
      if (at >= 0) onMatch(wanted, Array.from(text.slice(0, at)).length);
      return;
    }
    this.#jobs += 1;
    pattern.regex.run(Buffer.from(text, "utf8"), skip, (outcome) => {
      this.#jobs -= 1;
      // A failure of the regex itself is reported by the stream's own jobs and by its `ready`.
      if (outcome.kind === "match" && !this.#isOver) onMatch(outcome.text, outcome.index);
      this.#checkJudged();
    });
  }

  #checkJudged(): void {
    if (this.#jobs > 0) return;
    const done = this.#whenJudged;
    this.#whenJudged = undefined;
    done?.();
  }
}

/** What is left of a stretch without the lines that show the echo; those are noted in `echoes`. */
function withoutEcho(lines: Stretch, echo: ScreenEcho, echoes: Map<string, number>): Stretch[] {
  const parts: string[][] = [[]];
  for (const line of lines) {
    const at = echo.echoAt(line);
    if (at === undefined) {
      parts.at(-1)?.push(line);
      continue;
    }
    echoes.set(line, at);
    parts.push([]);
  }
  return parts;
}

/** A stretch as text for RE2, cut between lines where it is long. */
function pieces(lines: Stretch): string[] {
  const texts: string[] = [];
  let length = 0;
  for (const line of lines) {
    const bytes = Buffer.byteLength(line) + 1;
    if (texts.length === 0 || length + bytes > MAX_JOB_BYTES) {
      texts.push(line);
      length = bytes;
    } else {
      texts.push(`${texts.pop() ?? ""}\n${line}`);
      length += bytes;
    }
  }
  return texts;
}

/** Whole characters only. */
const cut = (text: string, maxBytes: number): string =>
  text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(maxBytes)).read);

/** Typed lines are looked up by this many characters at their end: few share them, whatever was pasted. */
const KEY_LENGTH = 12;

const squeezed = (text: string): string => text.replace(/\s+/gu, "");

/**
 * Which lines of a screen show what was typed. Blanks do not matter: editors wrap, indent and pad. A line that ends in
 * a typed line, at its start or after anything but a letter or digit, is one, however often; so is the line in which
 * typing began, with whatever a shell has appended (a suggestion, a completion). That may hide output that ends like
 * the input; the stream has such output too, and there the echo is told apart byte by byte (`echoMask.ts`).
 */
export class ScreenEcho {
  readonly #byEnd = new Map<string, string[]>();
  readonly #prompt: string;
  /** The prompt and the first typed line; undefined where there was no prompt. */
  readonly #beginning: string | undefined;

  constructor(typed: Uint8Array, prompt: string) {
    const all = typedLines(typed).map(({ characters }) => squeezed(characters.join("")));
    // What is typed of blanks only does not show as a line.
    const lines = all.filter((line) => line !== "");
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
    for (let length = KEY_LENGTH; length > 0; length -= 1) {
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
  while (left > 0) {
    at -= 1;
    if (!/\s/u.test(characters[at] ?? "")) left -= 1;
  }
  return at;
}
