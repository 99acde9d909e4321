/**
 * A terminal on the screen: xterm as every page has it, in the same look, with the queries that another terminal answers left
 * to it, and with what is written but not drawn yet counted.
 */
import { Terminal, type ITerminalOptions } from "@xterm/xterm";
import { muteQueries, type QueryOptions } from "./terminalQueries.ts";

/** The same in both colour schemes: programs choose their colours for a dark screen. */
const LOOK = {
  // `--mono` and `--screen` of tokens.css, which xterm cannot read.
  fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace',
  theme: {
    background: "#14161a",
    foreground: "#dedbd3",
    cursor: "#e9a23b",
    cursorAccent: "#14161a",
    selectionBackground: "#3c4a63",
  },
} as const;

interface PageScreenOptions extends QueryOptions {
  readonly place: HTMLElement;
  readonly terminal: ITerminalOptions;
  /** The place has another size. */
  readonly onPlace: () => void;
}

export class PageScreen {
  readonly terminal: Terminal;
  readonly #place: HTMLElement;
  readonly #watched: ResizeObserver;
  #undrawn = 0;

  constructor({ place, terminal, onPlace, ...queries }: PageScreenOptions) {
    this.#place = place;
    this.terminal = new Terminal({ cols: 80, rows: 24, ...LOOK, ...terminal });
    muteQueries(this.terminal.parser, queries);
    this.terminal.open(place);
    this.#watched = new ResizeObserver(onPlace);
    this.#watched.observe(place);
  }

  /** Bytes or characters written and not drawn yet; xterm's own limit is 50 MB. */
  get undrawn(): number {
    return this.#undrawn;
  }

  write(data: Uint8Array | string, drawn?: () => void): void {
    this.#undrawn += data.length;
    this.terminal.write(data, () => {
      this.#undrawn -= data.length;
      drawn?.();
    });
  }

  /** In pixels; 0 while hidden. */
  get sizes(): Readonly<Record<"width" | "height" | "screenWidth" | "screenHeight", number>> {
    const screen = this.terminal.element?.querySelector<HTMLElement>(".xterm-screen");
    const { clientWidth: width, clientHeight: height } = this.#place;
    return { width, height, screenWidth: screen?.offsetWidth ?? 0, screenHeight: screen?.offsetHeight ?? 0 };
  }

  /**
   * There may still be something to draw. xterm draws in the next animation frame, and throws if the terminal is disposed by
   * then. A page in the background has no frames: until it is visible again the terminal keeps its screen and no history.
   */
  close(): void {
    this.#watched.disconnect();
    const { terminal } = this;
    terminal.options.scrollback = 0;
    terminal.write("", () => requestAnimationFrame(() => terminal.dispose()));
  }
}

/**
 * xterm's DOM renderer writes `<style>` elements and `style` attributes, which `style-src 'self'` refuses. The bundle
 * (`bundlePage.mjs`) turns the attributes into changes through the CSSOM, and the elements into this one: its text is a
 * constructed style sheet of the document while the element is in it. The policy allows both.
 */

/**
 * xterm's DOM renderer writes `<style>` elements and `style` attributes, which `style-src 'self'` refuses. The bundle
 * (`bundlePage.mjs`) turns the attributes into changes through the CSSOM, and the elements into this one: its text is a
 * constructed style sheet of the document while the element is in it. The policy allows both.
 */
class ScreenSheet extends HTMLElement {
  readonly #sheet = new CSSStyleSheet();

  override set textContent(css: string) {
    this.#sheet.replaceSync(css);
  }

  override get textContent(): string {
    return "";
  }

  connectedCallback(): void {
    this.hidden = true;
    document.adoptedStyleSheets.push(this.#sheet);
  }

  disconnectedCallback(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== this.#sheet);
  }
}

customElements.define("screen-sheet", ScreenSheet);
