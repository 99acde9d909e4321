/** A card that moves in the list keeps the focus inside it. Where the place of a text goes, what is still typed is nobody's. */
import type { Clock } from "../../../../daemon/time/clock.ts";
import type { KeyPlace } from "../model/shortcuts.ts";

export const TEXT_PLACES = "textarea, input:not([type=checkbox], [type=radio]), select";

/** Longer than between two keys of somebody who writes, and shorter than it takes to see what has changed and press on. */
const WRITING_MS = 1_000;

export class Focus {
  readonly #document: Document;
  readonly #clock: Clock;
  /** A text has lost its place while somebody wrote it: until then, keys belong to it. */
  #writesUntilMs = 0;
  /** The last key in a text has sent it: what is pressed next is no part of it. */
  #isSent = false;

  constructor(document: Document, clock: Clock) {
    this.#document = document;
    this.#clock = clock;
  }

  /** Call before rendering; call what it returns after. */
  keep(): () => void {
    const focused = this.#document.activeElement;
    const isWriting = focused?.matches(TEXT_PLACES) === true && !this.#isSent;
    const card = focused?.closest<HTMLElement>("[data-agent]")?.id;
    const name = focused?.getAttribute("data-focus");
    return () => {
      const { activeElement, body } = this.#document;
      if (activeElement !== body && activeElement !== null) return;
      if (card !== undefined) this.#focusOn(card, name ?? undefined);
      if (isWriting && this.#document.activeElement?.matches(TEXT_PLACES) !== true)
        this.#writesUntilMs = this.#clock.nowMs() + WRITING_MS;
    };
  }

  /** Call it with every key. Whether it belongs to a text whose place has gone: until the person pauses, all of them do. */
  isWrittenOn({ key, shiftKey }: KeyboardEvent, place: KeyPlace): boolean {
    // A pane goes on after Enter.
    this.#isSent = place !== "pane" && key === "Enter" && !shiftKey;
    const nowMs = this.#clock.nowMs();
    if (place !== "page" || nowMs >= this.#writesUntilMs) return false;
    this.#writesUntilMs = nowMs + WRITING_MS;
    return true;
  }

  #focusOn(card: string, name: string | undefined): void {
    const now = this.#document.querySelector<HTMLElement>(`#${CSS.escape(card)}`);
    const same = name === undefined ? null : now?.querySelector<HTMLElement>(`[data-focus="${CSS.escape(name)}"]`);
    (same ?? now)?.focus({ preventScroll: true });
  }
}
