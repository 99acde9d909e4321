/** The end of a screen that may still have something to draw. */
import type { Terminal } from "@xterm/xterm";

/**
 * xterm draws with the next frame what it has been given, and throws over a terminal that is gone by then. A page in the
 * background has no frames: until it is seen again it keeps a screen of this one and no history.
 */
export function disposeScreen(terminal: Terminal): void {
  terminal.options.scrollback = 0;
  terminal.write("", () => requestAnimationFrame(() => terminal.dispose()));
}
