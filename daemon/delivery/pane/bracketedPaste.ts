/**
 * Whether a program takes pastes in brackets, read from its output: tmux 3.3a knows it and does not report it
 * (docs/tmuxFacts.md 25). A pane whose program began before we followed it may have said so earlier: `unknown`.
 */
import type { OutputSource } from "../../tmux/outputSource.ts";
import { trackerOf } from "../../panes/vt/vtTracker.ts";

type BracketedPaste = "on" | "off" | "unknown";

/** @param since only what has been said from here on; default: all that is known */
export function bracketedPasteOf(source: OutputSource, since = 0): BracketedPaste {
  const { bracketedPaste, bracketedPasteSeq } = trackerOf(source).readOn();
  if (bracketedPaste === undefined || bracketedPasteSeq < since) return "unknown";
  return bracketedPaste ? "on" : "off";
}
