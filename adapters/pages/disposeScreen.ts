/** Disposes a terminal that may still have something to draw. */
import type { Terminal } from "@xterm/xterm";

/**
 * xterm draws in the next animation frame, and throws if the terminal is disposed by then. A page in the background has no
 * frames: until it is visible again the terminal keeps its screen and no history.
 */
export function disposeScreen(terminal: Terminal): void {
  terminal.options.scrollback = 0;
  terminal.write("", () => requestAnimationFrame(() => terminal.dispose()));
}
