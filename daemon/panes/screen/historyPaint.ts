/**
 * Lines of history as the bytes that print them, oldest first, in pieces. Each piece was captured by itself: its first
 * line begins with the default pen, and its last one may continue in the next piece. A line end is never written with a
 * background colour, which would fill the emulator's row.
 */
import { DEFAULT_PEN, type Pen, penAfter, sgrOf } from "../pen.ts";
import { expandTabs, type TabLayout } from "./tabCells.ts";

const ESC = "\u001b";
const RESET = `${ESC}[0m`;
const SHIFT_IN = "\u000f";

export class HistoryPainter {
  #text = "";
  #pen: Pen = DEFAULT_PEN;
  /** The last line so far, when it continues. */
  #cut: string | undefined;

  /** `goesOn`: tmux has wrapped the last of these lines into the first of the next piece. */
  add(lines: readonly string[], goesOn: boolean, layout: TabLayout): void {
    const whole = [...lines];
    if (this.#cut === undefined) this.#pen = DEFAULT_PEN;
    else whole[0] = `${this.#cut}${RESET}${SHIFT_IN}${whole[0] ?? ""}`;
    this.#cut = goesOn ? whole.pop() : undefined;
    for (const line of whole) this.#print(line, layout);
    this.#text += SHIFT_IN;
  }

  get text(): string {
    return this.#text;
  }

  #print(line: string, layout: TabLayout): void {
    const isColoured = line.includes(ESC);
    const before = this.#pen.size > 0 ? sgrOf(this.#pen) : "";
    if (isColoured) this.#pen = penAfter(line, this.#pen);
    this.#text += `${before}${expandTabs(line, layout)}${isColoured || before !== "" ? RESET : ""}\r\n`;
  }
}
