/**
 * Whether a program takes pastes in brackets, read from the retained output: tmux 3.3a knows it and tells nobody
 * (docs/tmuxFacts.md 25). A pane whose program began before we followed it may have said so earlier: `unknown`.
 */
import type { OutputSource } from "../panes/outputSource.ts";
import { STARTED_WITHIN_MS } from "./deliveryLimits.ts";
import type { PaneWatch } from "./paneWatch.ts";

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

function lastIn(view: Uint8Array): BracketedPaste | undefined {
  const bytes = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  for (let at = bytes.lastIndexOf(MODE); at >= 0; at = at === 0 ? -1 : bytes.lastIndexOf(MODE, at - 1)) {
    const around = bytes.toString("latin1", Math.max(0, at - AROUND_BYTES), at + AROUND_BYTES);
    const last = [...around.matchAll(SEQUENCE)].at(-1);
    if (last !== undefined) return last[1] === "h" ? "on" : "off";
  }
  return undefined;
}
