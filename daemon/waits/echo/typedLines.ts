/** What was typed, as lines that an echo can show. */
import { AnsiStripper, stripRoom } from "../../panes/vt/ansi.ts";

interface TypedLine {
  readonly characters: readonly string[];
  /** Enter follows: the echo ends with the row. */
  readonly hasEnter: boolean;
}

export interface ExpectedLine extends TypedLine {
  readonly beginnings: LineBeginnings;
  /** Without blanks at its end: an editor need not draw them. */
  readonly shownLength: number;
}

/** A letter or digit: it continues a word, and no prompt ends in one. */
export const isWord = (character: string): boolean => /[\p{L}\p{N}]/u.test(character);

/** What the echo of each line shows: control characters do not show, or not as themselves. */
export function typedLines(typed: Uint8Array): TypedLine[] {
  const plain = new Uint8Array(stripRoom(typed.length));
  // A CR typed is Enter; the stripper would join it to what follows.
  const enters = typed.map((byte) => (byte === 0x0d ? 0x0a : byte));
  const length = new AnsiStripper().strip(enters, plain, 0);
  const parts = Buffer.from(plain.buffer, 0, length).toString("utf8").split("\n");
  return parts
    .map((text, index) => ({ characters: Array.from(text), hasEnter: index < parts.length - 1 }))
    .filter(({ characters }) => characters.some((character) => character !== " "));
}

/**
 * How long a beginning of the line a text ends in, character by character: a search by Knuth, Morris and Pratt for a line that
 * begins at a row's start or after anything but a letter or digit, which is how prompts end.
 */
export class LineBeginnings {
  readonly #line: readonly string[];
  /** For the beginning of each length, the next shorter one that it ends in. */
  readonly #shorter = [0, 0];

  constructor(line: readonly string[]) {
    this.#line = line;
    for (let at = 1; at < line.length; at++) {
      this.#shorter.push(this.next(this.#shorter[at] ?? 0, line[at] ?? "", line[at - 1]));
    }
  }

  /** @param length before this character @param previous undefined at the row's start */
  next(length: number, character: string, previous: string | undefined): number {
    let known = length;
    while (known > 0 && this.#line[known] !== character) known = this.#shorter[known] ?? 0;
    if (this.#line[known] !== character) return 0;
    return known > 0 || previous === undefined || !isWord(previous) ? known + 1 : 0;
  }
}

/** A full-screen program may draw a line again and again; an editor does it once or twice. */
const MAX_REDRAWS = 4;

/** What to do next: read every byte, look only for a line editor, only for the end of the one that reads, or nothing. */
export type Attention = "looking" | "dormant" | "editing" | "over";

/**
 * Which typed line is expected, and in which rows it may be echoed. The first may come anywhere. Later ones come
 * right after the line before, as a tty echoes them; or, when a line editor (`?2004h`) reads, with its next prompt.
 * What a tty echoed while no editor was there comes once more when one takes over.
 */
export class TypedProgress {
  readonly #lines: readonly ExpectedLine[];
  readonly #mayRepeat: boolean;
  #at = 0;
  /** Only a line editor echoes what is left. */
  needsEditor: boolean;
  /** What was typed last was found, and may come again any time. */
  isRedrawn = false;
  /** This row follows `?2004h` or the line before. */
  #isExpected = true;
  /** The second echo, by the editor, is expected. */
  #isRepeat = false;
  #redraws = 0;

  constructor(typed: Uint8Array, isLineEditor: boolean) {
    this.#lines = typedLines(typed).map((line) => ({
      ...line,
      beginnings: new LineBeginnings(line.characters),
      shownLength: line.characters.findLastIndex((character) => character !== " ") + 1,
    }));
    this.needsEditor = isLineEditor;
    this.#mayRepeat = !isLineEditor;
  }

  /** The line that is expected; undefined when nothing was typed that shows. */
  get line(): ExpectedLine | undefined {
    return this.#lines[this.#at];
  }

  /** The current row may hold it. */
  get isAllowed(): boolean {
    return this.isRedrawn || this.#isExpected || !this.needsEditor || (this.#at === 0 && !this.#isRepeat);
  }

  /** The last line must have been found recently, except while an editor's next prompt is awaited. */
  get isBounded(): boolean {
    return this.isRedrawn || !this.needsEditor;
  }

  /** The last line has no Enter, and an editor holds it. */
  get #isLeftOpen(): boolean {
    return this.needsEditor && this.#at === this.#lines.length - 1 && this.#lines[this.#at]?.hasEnter === false;
  }

  editor(isOn: boolean): void {
    this.needsEditor ||= isOn;
    this.#isExpected = isOn;
  }

  /** A row has ended without it. */
  pass(): void {
    this.#isExpected = false;
  }

  /**
   * It was found. The last one has no Enter: it stays in the editor, which may redraw it at any time (C-l, a list of
   * completions, a resize) until it ends.
   */
  advance(): Attention {
    this.#isExpected = true;
    if (this.#isLeftOpen) {
      this.isRedrawn = true;
      return "looking";
    }
    if (++this.#at < this.#lines.length) return "looking";
    this.#at = 0;
    const isLast = this.#isRepeat || !this.#mayRepeat;
    this.#isRepeat = true;
    this.needsEditor = true;
    return isLast ? "over" : "dormant";
  }

  /** The editor draws everything once more. False when it has done so too often for an editor. */
  startAgain(): boolean {
    this.#at = 0;
    return ++this.#redraws <= MAX_REDRAWS;
  }
}
