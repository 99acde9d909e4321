/**
 * A pane's screen in the page: the pane's own columns and rows, which the page cannot change, in a font as large as the
 * width allows. It takes bytes and emits keys, keys only while under control.
 */
import { PageScreen } from "../../../pages/pageScreen.ts";
import { ReflowedScreen } from "./reflowedScreen.ts";
import { isFocusReport } from "../../../pages/terminalQueries.ts";

const MIN_FONT_PX = 7;
const MAX_FONT_PX = 14;
/** Bytes past which `write` waits. */
const MAX_UNDRAWN_BYTES = 1_048_576;

export class Screen {
  readonly #screen: PageScreen;
  #controlled = false;

  constructor(place: HTMLElement, onInput: (data: string) => void = () => undefined) {
    this.#screen = new PageScreen({
      place,
      terminal: {
        disableStdin: true,
        cursorBlink: false,
        scrollback: 1_000,
        fontSize: MAX_FONT_PX,
        // Links printed by a pane stay text.
        linkHandler: { activate: () => undefined },
      },
      // tmux answers.
      isSilent: () => true,
      onPlace: () => this.#fit(),
    });
    this.#screen.terminal.onData((data) => {
      if (this.#controlled && !isFocusReport(data)) onInput(data);
    });
  }

  /** Its text in another place, wrapped to that place's width. */
  reflowedIn(place: HTMLElement): ReflowedScreen {
    return new ReflowedScreen(place, this.#screen.terminal);
  }

  /** So that an on-screen keyboard opens. */
  focus(): void {
    this.#screen.terminal.focus();
  }

  /** Replaces the whole screen. */
  async repaint(cols: number, rows: number, bytes: Uint8Array): Promise<void> {
    this.reset(cols, rows);
    await this.write(bytes);
  }

  reset(cols: number, rows: number): void {
    this.#screen.terminal.reset();
    this.resize(cols, rows);
  }

  /** Resolves when more may come. */
  write(bytes: Uint8Array | string): Promise<void> {
    return new Promise((resolve) => {
      this.#screen.write(bytes, resolve);
      if (this.#screen.undrawn <= MAX_UNDRAWN_BYTES) resolve();
    });
  }

  resize(cols: number, rows: number): void {
    this.#screen.terminal.resize(Math.max(2, cols), Math.max(1, rows));
    this.#fit();
  }

  /** Uses the largest font in which the columns fit; below the smallest legible one, the screen scrolls instead. */
  #fit(): void {
    const { options } = this.#screen.terminal;
    const { width, screenWidth } = this.#screen.sizes;
    const { fontSize = MAX_FONT_PX } = options;
    if (width === 0 || screenWidth === 0) return;
    const fitting = Math.floor(((fontSize * width) / screenWidth) * 2) / 2;
    const next = Math.min(MAX_FONT_PX, Math.max(MIN_FONT_PX, fitting));
    if (next !== fontSize) options.fontSize = next;
  }

  control(on: boolean): void {
    this.#controlled = on;
    const { terminal } = this.#screen;
    terminal.options.disableStdin = !on;
    terminal.options.cursorBlink = on && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    // The focus stays when control ends: keys meant for the pane must not reach the page's cards.
    if (on) terminal.focus();
  }

  close(): void {
    this.#screen.close();
  }
}
