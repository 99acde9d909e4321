/** A pane's screen as lines that wrap to the width of their place; drawn again at most once a frame, while it is shown. */
import type { Terminal } from "@xterm/xterm";
import { reflowedLines } from "../model/reflow.ts";

/** Pixels from its end at which a person still reads along. */
const AT_END_PX = 40;

export class ReflowedScreen {
  readonly #place: HTMLElement;
  readonly #terminal: Terminal;
  #keys: string[] = [];
  #frame: number | undefined;
  #isShown = false;
  #hasCursor = true;

  constructor(place: HTMLElement, terminal: Terminal) {
    this.#place = place;
    this.#terminal = terminal;
    // xterm does not say whether it shows its cursor (DECTCEM).
    const { parser } = terminal;
    for (const final of ["h", "l"])
      parser.registerCsiHandler({ prefix: "?", final }, (params) => {
        if (params.includes(25)) this.#hasCursor = final === "h";
        return false;
      });
    parser.registerEscHandler({ final: "c" }, () => {
      this.#hasCursor = true;
      return false;
    });
    terminal.onWriteParsed(() => this.#changed());
    terminal.onResize(() => this.#changed());
  }

  show(isShown: boolean): void {
    this.#isShown = isShown;
    this.#changed();
  }

  /** Safe to call twice. */
  close(): void {
    this.#isShown = false;
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    this.#place.replaceChildren();
    this.#keys = [];
  }

  #changed(): void {
    if (!this.#isShown) return;
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#draw();
    });
  }

  /** Lines that are as they were stay in the document. */
  #draw(): void {
    const { buffer, rows } = this.#terminal;
    const lines = reflowedLines({ buffer: buffer.active, rows, hasCursor: this.#hasCursor });
    const scroller = this.#place.parentElement ?? this.#place;
    const isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < AT_END_PX;
    for (const [at, { runs, isRule, key }] of lines.entries()) {
      if (this.#keys[at] === key) continue;
      const element = document.createElement("div");
      element.className = isRule ? "rule" : "";
      for (const { text, colour, ground, classes } of runs) {
        const span = document.createElement("span");
        span.textContent = text;
        span.className = classes;
        if (colour !== undefined) span.style.color = colour;
        if (ground !== undefined) span.style.backgroundColor = ground;
        element.append(span);
      }
      const before = this.#place.children[at];
      if (before === undefined) this.#place.append(element);
      else before.replaceWith(element);
    }
    while (this.#place.children.length > lines.length) this.#place.lastElementChild?.remove();
    this.#keys = lines.map(({ key }) => key);
    if (isAtEnd) scroller.scrollTop = scroller.scrollHeight;
  }
}
