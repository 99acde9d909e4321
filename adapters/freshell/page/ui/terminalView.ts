/**
 * A terminal on the screen, with as many columns and rows as fit. Output too fast to be drawn is skipped and
 * replaced by a fresh snapshot.
 */
import type { IBufferLine, IDisposable, Terminal } from "@xterm/xterm";
import { PageScreen } from "../../../pages/pageScreen.ts";
import type { TerminalSink, TerminalSize, TerminalStreams } from "../net/terminalStreams.ts";
import { systemClock, type Timer } from "../../../../daemon/time/clock.ts";
import { type Found, matchesIn } from "../model/terminalFind.ts";

export type TerminalStatus =
  | { readonly kind: "connecting" | "live" | "lost" | "gone" }
  | { readonly kind: "exited"; readonly exitCode: number | null };

interface TerminalViewOptions {
  readonly place: HTMLElement;
  readonly terminalId: string;
  readonly streams: TerminalStreams;
  /** Another page answers terminal queries. */
  readonly isSilent: () => boolean;
  readonly onStatus: (status: TerminalStatus) => void;
  readonly onTitle: (title: string) => void;
  readonly onClipboard: (text: string) => void;
  readonly onLink: (url: string) => void;
  readonly onFocus: () => void;
}

const FONT_PX = 13;
const SCROLLBACK_LINES = 5_000;
/** Past it output is skipped. */
const MAX_UNDRAWN_CHARS = 4_194_304;
/** Resizing comes in bursts. */
const SETTLE_MS = 120;
/** The server's limits. */
const [MIN_COLS, MAX_COLS, MIN_ROWS, MAX_ROWS] = [2, 1_000, 2, 500];
const RESET = "\u001bc";

export class TerminalView implements TerminalSink {
  readonly #options: TerminalViewOptions;
  readonly #screen: PageScreen;
  readonly #terminal: Terminal;
  readonly #leave: () => void;
  readonly #titles: IDisposable;
  #isSkipping = false;
  /** Snapshots being drawn: their queries are past, and not answered. */
  #replaying = 0;
  /** `ended`: its program has, or there is no such terminal. While it connects it takes input, as every terminal does. */
  #phase: "connecting" | "live" | "ended" = "connecting";
  #settling: Timer | undefined;

  constructor(options: TerminalViewOptions) {
    this.#options = options;
    const { place, terminalId, streams } = options;
    this.#screen = new PageScreen({
      place,
      terminal: {
        allowProposedApi: false,
        scrollback: SCROLLBACK_LINES,
        fontSize: FONT_PX,
        macOptionIsMeta: true,
        // Only http and https links, and the target is shown before it is opened.
        linkHandler: { activate: (_event, url) => this.#link(url) },
      },
      isSilent: () => this.#replaying > 0 || options.isSilent(),
      onClipboard: options.onClipboard,
      onPlace: () => this.#settle(),
    });
    this.#terminal = this.#screen.terminal;
    this.#terminal.attachCustomKeyEventHandler((event) => this.#isForProgram(event));
    this.#terminal.onData((data) => this.type(data));
    this.#terminal.onBinary((data) => this.type(data));
    this.#titles = this.#terminal.onTitleChange((title) => options.onTitle(title));
    this.#terminal.textarea?.addEventListener("focus", () => {
      options.onFocus();
      this.fit();
    });
    const size = this.#fitting();
    if (size !== undefined) this.#terminal.resize(size.cols, size.rows);
    this.#leave = streams.join(terminalId, this, size);
  }

  attached(snapshot: string): void {
    const { buffer } = this.#terminal;
    const upBy = buffer.active.baseY - buffer.active.viewportY;
    this.#isSkipping = false;
    this.#replaying += 1;
    this.#screen.write(RESET + snapshot, () => {
      this.#replaying -= 1;
      if (upBy > 0) this.#terminal.scrollLines(-upBy);
    });
    this.#begin();
  }

  output(data: string): void {
    if (this.#isSkipping) return;
    // A new program after the one that has ended.
    if (this.#phase !== "live") this.#begin();
    if (this.#screen.undrawn > MAX_UNDRAWN_CHARS) {
      this.#isSkipping = true;
      this.#terminal.write("", () => this.#options.streams.attach(this.#options.terminalId));
      return;
    }
    this.#screen.write(data);
  }

  exited(exitCode: number | null): void {
    this.#end({ kind: "exited", exitCode });
  }

  gone(): void {
    this.#end({ kind: "gone" });
  }

  lost(): void {
    this.#options.onStatus({ kind: "lost" });
  }

  sized({ cols, rows }: TerminalSize): void {
    this.#terminal.resize(cols, rows);
  }

  /** This page is in use: its size becomes the terminal's. */
  fit(): void {
    if (this.#fit() && this.#phase === "live") this.#options.streams.attach(this.#options.terminalId);
  }

  focus(): void {
    this.#terminal.focus();
  }

  /** Sends it while the terminal takes input, also while a snapshot is drawn: of what that asks, nothing is answered (`isSilent`). */
  type(data: string): void {
    if (this.#phase !== "ended") this.#options.streams.type(this.#options.terminalId, data);
  }

  /** Selects the match and scrolls to it. Returns the number of matches and this one's index. */
  find(text: string, step: 1 | -1): Found {
    const { buffer } = this.#terminal;
    const lineAt = (row: number): IBufferLine | undefined => buffer.active.getLine(row);
    const selected = this.#terminal.getSelectionPosition();
    const found = matchesIn({ length: buffer.active.length, lineAt }, text, selected?.start, step);
    if (found.match === undefined) this.#terminal.clearSelection();
    else {
      const { row, column, cells } = found.match;
      this.#terminal.select(column, row, cells);
      this.#terminal.scrollToLine(Math.max(0, row - Math.floor(this.#terminal.rows / 2)));
    }
    return found;
  }

  clearFind(): void {
    this.#terminal.clearSelection();
  }

  close(): void {
    this.#settling?.cancel();
    this.#leave();
    this.#phase = "ended";
    this.#titles.dispose();
    this.#screen.close();
  }

  #begin(): void {
    this.#phase = "live";
    this.#options.onStatus({ kind: "live" });
  }

  #end(status: TerminalStatus): void {
    this.#phase = "ended";
    this.#options.onStatus(status);
  }

  /** Ctrl+C copies while there is a selection. */
  #isForProgram(event: KeyboardEvent): boolean {
    const isCopy = event.ctrlKey && !event.altKey && !event.metaKey && event.code === "KeyC";
    return !(isCopy && this.#terminal.hasSelection());
  }

  #link(url: string): void {
    if (/^https?:\/\//i.test(url)) this.#options.onLink(url);
  }

  #settle(): void {
    this.#settling?.cancel();
    this.#settling = systemClock.callAt(systemClock.nowMs() + SETTLE_MS, () => this.fit());
  }

  /** True: the terminal's size has changed. */
  #fit(): boolean {
    const { streams, terminalId } = this.#options;
    const { cols, rows } = this.#terminal;
    const size = this.#fitting();
    if (size === undefined || (size.cols === cols && size.rows === rows && this.#phase === "live")) return false;
    this.#terminal.resize(size.cols, size.rows);
    streams.resize(terminalId, size);
    return true;
  }

  /** The size that fits; undefined while hidden. */
  #fitting(): TerminalSize | undefined {
    const { width, height, screenWidth, screenHeight } = this.#screen.sizes;
    const [cellWidth, cellHeight] = [screenWidth / this.#terminal.cols, screenHeight / this.#terminal.rows];
    if (document.visibilityState !== "visible" || width === 0 || cellWidth === 0 || cellHeight === 0) return undefined;
    return {
      cols: within(Math.floor(width / cellWidth), MIN_COLS, MAX_COLS),
      rows: within(Math.floor(height / cellHeight), MIN_ROWS, MAX_ROWS),
    };
  }
}

const within = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));
