/**
 * Whether a program takes pastes in brackets, read from the retained output: tmux 3.3a knows it and tells nobody
 * (docs/tmuxFacts.md 25). A pane whose program began before we followed it may have said so earlier: `unknown`.
 */
import type { OutputSource } from "../panes/outputSource.ts";

export type BracketedPaste = "on" | "off" | "unknown";

const MODE = "2004";
/** Longest sequence around it that counts: a few modes set at once. */
const AROUND_BYTES = 32;

// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const SEQUENCE = /\u001b\[\?(?:\d{1,4};)*2004(?:;\d{1,4})*([hl])/g;

export function bracketedPasteOf(source: OutputSource): BracketedPaste {
  let found: BracketedPaste = "unknown";
  let at = source.tailSeq;
  for (let slice = source.read(at); slice.kind !== "end"; slice = source.read(at)) {
    at = slice.kind === "bytes" ? slice.to : slice.gap.to;
    if (slice.kind === "bytes") found = lastIn(slice.bytes) ?? found;
  }
  return found;
}

function lastIn(view: Uint8Array): BracketedPaste | undefined {
  const bytes = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  for (let at = bytes.lastIndexOf(MODE); at >= 0; at = at === 0 ? -1 : bytes.lastIndexOf(MODE, at - 1)) {
    const around = bytes.toString("latin1", Math.max(0, at - AROUND_BYTES), at + AROUND_BYTES);
    const last = [...around.matchAll(SEQUENCE)].at(-1);
    if (last !== undefined) return last[1] === "h" ? "on" : "off";
  }
  return undefined;
}
