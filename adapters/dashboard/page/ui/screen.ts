/**
 * A pane's screen in the page: xterm with the pane's own columns and rows, which the page cannot change, in a font as large
 * as the width allows. It takes bytes and emits keys, keys only while under control.
 */
import { Terminal } from "@xterm/xterm";
import { disposeScreen } from "../../../pages/disposeScreen.ts";
import { SCREEN_LOOK } from "../../../pages/screenLook.ts";
import "../../../pages/screenSheet.ts";
import { isFocusReport, muteQueries } from "../../../pages/terminalQueries.ts";

const MIN_FONT_PX = 7;
const MAX_FONT_PX = 14;
/** Bytes written to xterm and not drawn yet, past which `write` waits; xterm's own limit is 50 MB. */
const MAX_UNDRAWN_BYTES = 1_048_576;

export class Screen {
  readonly #terminal: Terminal;
  readonly #place: HTMLElement;
  readonly #resized = new ResizeObserver(() => this.#fit());
  #undrawnBytes = 0;
  #controlled = false;

  constructor(place: HTMLElement, onInput: (data: string) => void = () => undefined) {
    this.#place = place;
    this.#terminal = new Terminal({
      cols: 80,
      rows: 24,
      disableStdin: true,
      cursorBlink: false,
      scrollback: 1_000,
      ...SCREEN_LOOK,
      fontSize: MAX_FONT_PX,
      // Links printed by a pane stay text.
      linkHandler: { activate: () => undefined },
    });
    // tmux answers.
    muteQueries(this.#terminal.parser, { isSilent: () => true });
    this.#terminal.open(place);
    this.#terminal.onData((data) => {
      if (this.#controlled && !isFocusReport(data)) onInput(data);
    });
    this.#resized.observe(place);
  }

  /** Replaces the whole screen. */
  async repaint(cols: number, rows: number, bytes: Uint8Array): Promise<void> {
    this.reset(cols, rows);
    await this.write(bytes);
  }

  reset(cols: number, rows: number): void {
    this.#terminal.reset();
    this.resize(cols, rows);
  }

  /** Resolves when more may come. */
  write(bytes: Uint8Array | string): Promise<void> {
    this.#undrawnBytes += bytes.length;
    return new Promise((resolve) => {
      this.#terminal.write(bytes, () => {
        this.#undrawnBytes -= bytes.length;
        resolve();
      });
      if (this.#undrawnBytes <= MAX_UNDRAWN_BYTES) resolve();
    });
  }

  resize(cols: number, rows: number): void {
    this.#terminal.resize(Math.max(2, cols), Math.max(1, rows));
    this.#fit();
  }

  /** Uses the largest font in which the columns fit; below the smallest legible one, the screen scrolls instead. */
  #fit(): void {
    const widthPx = this.#place.clientWidth;
    const cells = this.#terminal.element?.querySelector<HTMLElement>(".xterm-screen")?.offsetWidth ?? 0;
    const { fontSize = MAX_FONT_PX } = this.#terminal.options;
    if (widthPx === 0 || cells === 0) return;
    const fitting = Math.floor(((fontSize * widthPx) / cells) * 2) / 2;
    const next = Math.min(MAX_FONT_PX, Math.max(MIN_FONT_PX, fitting));
    if (next !== fontSize) this.#terminal.options.fontSize = next;
  }

  control(on: boolean): void {
    this.#controlled = on;
    this.#terminal.options.disableStdin = !on;
    this.#terminal.options.cursorBlink = on && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    // The focus stays when control ends: keys meant for the pane must not reach the page's cards.
    if (on) this.#terminal.focus();
  }

  close(): void {
    this.#resized.disconnect();
    disposeScreen(this.#terminal);
  }
}
