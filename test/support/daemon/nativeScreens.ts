/**
 * Random terminal output whose meaning tmux and xterm.js agree on, and two screens compared cell by cell. Where the two
 * are known to differ (relative moves while a wrap is pending, line operations outside the scroll region), the generator
 * goes to a place first at which they do not.
 */
import xterm from "@xterm/headless";

export type Random = () => number;

/** Deterministic, so that a failing seed can be run again (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const below = (random: Random, n: number): number => Math.floor(random() * n);
const pick = <Item>(random: Random, items: readonly Item[]): Item => items[below(random, items.length)]!;

const CSI = "\u001b[";
const WORDS = ["word", "x", "longer-word-here", "日本語", "é", "ß→", "漢", " ", "  ", "0123456789", "한글"];

/** One step of a session. */
export function randomStep(random: Random, cols: number, rows: number): string {
  const n = (max: number): number => 1 + below(random, max);
  // On an empty row: half of a wide character that is written over is left blank in different ways.
  const home = (): string => `${CSI}${n(rows)};${n(cols)}H${CSI}2K`;
  const text = (): string => Array.from({ length: n(6) }, () => pick(random, WORDS)).join("");
  const all = `${CSI}?6l${CSI}r${home()}`;
  switch (below(random, 23)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return `\r${CSI}J${text()}`;
    case 4:
      return `\r${CSI}J${"abcdefghij".repeat(n(20))}`;
    case 5:
      return `\r\n${CSI}J${text()}\r\n`;
    case 6:
    case 7:
    case 8:
      return `${CSI}${randomSgr(random)}m`;
    case 22: {
      // Up to 3.3a tmux's captures do not tell a background that was only erased: it is written here, and only here.
      const background = pick(random, ["41", "48;5;99", "48;2;1;2;3", "103"]);
      const marks = pick(random, ["", ";4", ";7", ";9"]);
      return `${CSI}${n(rows)};${n(cols - 12)}H${CSI}2K${CSI}${background}${marks}m${asciiWord(random)} ${CSI}49;24;27;29m`;
    }
    case 9:
      return home();
    case 10:
      return `${home()}${CSI}${below(random, 3)}${pick(random, ["J", "K"])}`;
    case 11:
      // tmux leaves the cursor in its column, a VT102 does not.
      return `${all}${CSI}${n(4)}${pick(random, ["L", "M"])}\r`;
    case 12:
      return `${all}${asciiRow(random, cols)}${CSI}${n(6)}${pick(random, ["P", "X", "@"])}`;
    case 13: {
      const top = n(rows - 2);
      return `${CSI}?6l${CSI}${top};${top + n(rows - top)}r\r${CSI}J${text()}`;
    }
    case 14:
      return `${CSI}?6l${CSI}r`;
    case 15:
      return `${home()}after\r${CSI}4h${asciiWord(random)}${CSI}4l`;
    case 16:
      // Leaving what was not entered and entering again are answered differently, and so is a region meanwhile.
      return `${CSI}?6l${CSI}r${CSI}?1049h${home()}${text()}${text()}${text()}${CSI}r${CSI}?1049l${home()}`;
    case 17:
      return `${home()}\t${asciiWord(random)}`;
    case 18:
      return `\u001b(0lqqk\u001b(B${random() < 0.5 ? "\u001b)0\u000emqj\u000f" : ""}`;
    case 19:
      return pick(random, [
        `${CSI}?25l`,
        `${CSI}?25h`,
        `${CSI}?1h`,
        `${CSI}?2004h`,
        `${CSI}?1000h`,
        `${CSI}?1006h`,
        "\u001b=",
      ]);
    case 20:
      return `\u001b]0;title ${text()}\u0007`;
    default:
      return `${home()}${pick(random, ["\n\n", "\u001bM\u001bM", "\u001bD", "\u001bE"])}`;
  }
}

const asciiWord = (random: Random): string => "insert".slice(0, 1 + below(random, 6));

/** A row without wide characters: cutting one in half is answered differently. */
const asciiRow = (random: Random, cols: number): string =>
  `\r${CSI}2K${"cells ".repeat(Math.floor(cols / 7))}\r${CSI}${1 + below(random, 20)}C`;

function randomSgr(random: Random): string {
  const one = (): string => {
    const kind = below(random, 8);
    if (kind === 0) return "0";
    if (kind === 1) return pick(random, ["1", "2", "3"]);
    if (kind === 2) return pick(random, ["22", "23"]);
    if (kind === 3) return String(30 + below(random, 8));
    if (kind < 6) return String(90 + below(random, 8));
    if (kind === 6) return `38;5;${below(random, 256)}`;
    return `38;2;${below(random, 256)};${below(random, 256)};${below(random, 256)}`;
  };
  return Array.from({ length: 1 + below(random, 3) }, one).join(";");
}

export class Emulator implements Disposable {
  readonly #terminal: xterm.Terminal;

  /** @param scrollback rows above the screen that are kept: those that are there are rows like any other */
  constructor(cols: number, rows: number, scrollback = 0) {
    this.#terminal = new xterm.Terminal({ cols, rows, scrollback, allowProposedApi: true });
  }

  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(bytes, resolve));
  }

  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows);
  }

  get cursor(): { readonly col: number; readonly row: number } {
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    return { col: cursorX, row: cursorY };
  }

  get alternateScreen(): boolean {
    return this.#terminal.buffer.active.type === "alternate";
  }

  get modes(): xterm.IModes {
    return this.#terminal.modes;
  }

  /** Rows as text, blanks at the end cut. */
  text(): string[] {
    return this.#rows((line) => line.translateToString(true).trimEnd());
  }

  /** Rows as cells with what can be seen of each. */
  cells(): string[] {
    return this.#rows((line) => {
      const cells: string[] = [];
      for (let col = 0; col < this.#terminal.cols; col += 1) {
        const cell = line.getCell(col);
        if (cell === undefined || cell.getWidth() === 0) continue;
        const chars = cell.getChars() || " ";
        const flags = [
          cell.isUnderline() ? "u" : "",
          cell.isInverse() ? "v" : "",
          cell.isStrikethrough() ? "s" : "",
          `${cell.getBgColorMode()}:${cell.getBgColor()}`,
        ];
        // A blank shows no colour of its own, unless it is inverted.
        const isSeen =
          chars !== " " || cell.isInverse() !== 0 || cell.isUnderline() !== 0 || cell.isStrikethrough() !== 0;
        if (isSeen) {
          flags.push(`${cell.getFgColorMode()}:${cell.getFgColor()}`);
          flags.push(cell.isBold() ? "b" : "", cell.isDim() ? "d" : "", cell.isItalic() ? "i" : "");
        }
        cells.push(`${chars}[${flags.join(",")}]`);
      }
      while (cells.at(-1) === BLANK) cells.pop();
      return cells.join(" ");
    });
  }

  /** For each row, whether it goes on from the row above. */
  wraps(): boolean[] {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: active.length }, (_, row) => active.getLine(row)?.isWrapped ?? false);
  }

  [Symbol.dispose](): void {
    this.#terminal.dispose();
  }

  #rows(read: (line: xterm.IBufferLine) => string): string[] {
    const { active } = this.#terminal.buffer;
    const rows = Array.from({ length: active.length }, (_, row) => {
      const line = active.getLine(row);
      return line === undefined ? "" : read(line);
    });
    while (rows.at(-1) === "") rows.pop();
    return rows;
  }
}

const BLANK = " [,,,0:-1]";
