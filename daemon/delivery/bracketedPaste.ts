/**
 * Whether a program takes pastes in brackets, read from its output: tmux 3.3a knows it and does not report it
 * (docs/tmuxFacts.md 25). A pane whose program began before we followed it may have said so earlier: `unknown`.
 */
import type { OutputSource } from "../tmux/outputSource.ts";
import { trackerOf } from "../panes/vt/vtTracker.ts";
import { STARTED_WITHIN_MS } from "./deliveryLimits.ts";
import type { PaneWatch } from "./paneWatch.ts";

type BracketedPaste = "on" | "off" | "unknown";

/** @param since only what has been said from here on; default: all that is known */
export function bracketedPasteOf(source: OutputSource, since = 0): BracketedPaste {
  const { bracketedPaste, bracketedPasteSeq } = trackerOf(source).readOn();
  if (bracketedPaste === undefined || bracketedPasteSeq < since) return "unknown";
  return bracketedPaste ? "on" : "off";
}

/**
 * Until the program asks for them, for as long as a start takes: one may say that it is ready and draw its box first, and
 * the shell that started it has turned them off.
 */
export async function untilBrackets(watch: PaneWatch, deadlineMs: number): Promise<void> {
  const untilMs = Math.min(watch.clock.nowMs() + STARTED_WITHIN_MS, deadlineMs);
  for (;;) {
    const { version } = watch;
    if (bracketedPasteOf(watch.source) !== "off" || watch.clock.nowMs() >= untilMs) return;
    await watch.next(version, untilMs);
    watch.requireThere();
    watch.requireAddressee();
  }
}
