/**
 * Which agents have a text on their screens now: each live pane is captured once per search, some at a time. Nothing is kept,
 * and nobody is attached to a session for it.
 */
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";

/** What is found of a row. */
export const MAX_FOUND_ROW_CHARS = 200;
const MAX_SEARCHED_SCREENS = 500;
export const SCREENS_CAPTURED_AT_ONCE = 8;
/** Under way at once. */
export const MAX_SCREEN_SEARCHES = 4;

/** A screen that is searched, and whose it is. */
interface Searched<Owner> {
  readonly owner: Owner;
  readonly server: Pick<TmuxServer, "capture">;
  readonly pane: PaneId;
}

interface FoundScreens<Owner> {
  /** The lowest row that has the text, as far as there is room for it. Foreign text. */
  readonly rows: ReadonlyMap<Owner, string>;
  /** Screens that were not looked at: too many, or they could not be captured. */
  readonly unread: number;
}

export class ScreenSearch {
  #underWay = 0;

  /**
   * @param text literal; upper and lower case are the same
   * @throws AppError RESOURCE_LIMIT; the signal's reason when it aborts
   */
  async find<Owner>(
    text: string,
    screens: readonly Searched<Owner>[],
    signal: AbortSignal | undefined,
  ): Promise<FoundScreens<Owner>> {
    if (this.#underWay >= MAX_SCREEN_SEARCHES) {
      throw new AppError(
        "RESOURCE_LIMIT",
        `${MAX_SCREEN_SEARCHES} searches of screens are under way; try again shortly`,
      );
    }
    this.#underWay += 1;
    try {
      return await this.#find(text.toLowerCase(), screens, signal);
    } finally {
      this.#underWay -= 1;
    }
  }

  async #find<Owner>(
    text: string,
    screens: readonly Searched<Owner>[],
    signal: AbortSignal | undefined,
  ): Promise<FoundScreens<Owner>> {
    const waiting = screens.slice(0, MAX_SEARCHED_SCREENS);
    let unread = screens.length - waiting.length;
    const found = new Map<Owner, string>();
    const search = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        signal?.throwIfAborted();
        const { owner, server, pane } = next;
        try {
          // oxlint-disable-next-line no-await-in-loop -- only so many at once
          const { lines } = await server.capture(pane, { joinWrapped: true, unfollowed: true, signal });
          const row = lines.findLast((line) => line.toLowerCase().includes(text));
          if (row !== undefined) found.set(owner, clipAround(row.trim(), text));
        } catch {
          // It has gone meanwhile, or tmux has.
          unread += 1;
        }
      }
    };
    await Promise.all(Array.from({ length: SCREENS_CAPTURED_AT_ONCE }, search));
    signal?.throwIfAborted();
    // In the order in which they were given.
    const rows = screens.flatMap(({ owner }) => {
      const row = found.get(owner);
      return row === undefined ? [] : ([[owner, row]] as const);
    });
    return { rows: new Map(rows), unread };
  }
}

/** The part of a row in which the text stands. */
function clipAround(row: string, text: string): string {
  if (row.length <= MAX_FOUND_ROW_CHARS) return row;
  const at = Math.max(0, row.toLowerCase().indexOf(text));
  const start = Math.min(Math.max(0, at - MAX_FOUND_ROW_CHARS / 4), row.length - MAX_FOUND_ROW_CHARS);
  const part = row.slice(start, start + MAX_FOUND_ROW_CHARS);
  const whole = part.replace(/^[\uDC00-\uDFFF]/, "").replace(/[\uD800-\uDBFF]$/, "");
  return `${start > 0 ? "…" : ""}${whole}${start + MAX_FOUND_ROW_CHARS < row.length ? "…" : ""}`;
}
