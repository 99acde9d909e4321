/** A card that moves in the list keeps the focus inside it. Where the place of a text goes, what is still typed is nobody's. */
import { systemClock } from "../../../../daemon/time/clock.ts";
import type { KeyPlace } from "../model/shortcuts.ts";

export const TEXT_PLACES = "textarea, input:not([type=checkbox], [type=radio]), select";

/** Longer than between two keys of somebody who writes, and shorter than it takes to see what has changed and press on. */
const WRITING_MS = 1_000;

let writesUntilMs = 0;
/** The last key in a text has sent it: what is pressed next is no part of it. */
let isSent = false;

/** Call before rendering; call what it returns after. */
export function keepFocus(document: Document): () => void {
  const focused = document.activeElement;
  const isWriting = focused?.matches(TEXT_PLACES) === true && !isSent;
  const card = focused?.closest<HTMLElement>("[data-agent]");
  return () => {
    if (document.activeElement !== document.body && document.activeElement !== null) return;
    if (card !== null && card !== undefined) {
      const name = focused?.getAttribute("data-focus") ?? null;
      const now = document.querySelector<HTMLElement>(`#${CSS.escape(card.id)}`);
      const same = name === null ? null : now?.querySelector<HTMLElement>(`[data-focus="${CSS.escape(name)}"]`);
      (same ?? now)?.focus({ preventScroll: true });
    }
    if (isWriting && document.activeElement?.matches(TEXT_PLACES) !== true)
      writesUntilMs = systemClock.nowMs() + WRITING_MS;
  };
}

/** Call it with every key. Whether it belongs to a text whose place has gone: until the person pauses, all of them do. */
export function isWrittenOn({ key, shiftKey }: KeyboardEvent, place: KeyPlace): boolean {
  // A pane goes on after Enter.
  isSent = place !== "pane" && key === "Enter" && !shiftKey;
  const nowMs = systemClock.nowMs();
  if (place !== "page" || nowMs >= writesUntilMs) return false;
  writesUntilMs = nowMs + WRITING_MS;
  return true;
}
