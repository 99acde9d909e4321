/**
 * Which agents have a text on their screens now: each live pane is captured once per search, some at a time. Nothing is kept,
 * and nobody is attached to a session for it.
 */
import { AppError } from "../../../protocol/errors.ts";
import {
  MAX_FOUND_ROW_CHARS,
  MAX_SCREEN_SEARCHES,
  MAX_SEARCHED_SCREENS,
  SCREENS_CAPTURED_AT_ONCE,
} from "../dashboardLimits.ts";
import type { AgentParts } from "./paneLinks.ts";

interface FoundScreens {
  /** The lowest row that has the text, as far as there is room for it. Foreign text. */
  readonly found: readonly { readonly agent_id: number; readonly row: string }[];
  /** Screens that were not looked at: too many, or they could not be captured. */
  readonly unread: number;
}

export class ScreenSearch {
  readonly #options: AgentParts;
  #underWay = 0;

  constructor(options: AgentParts) {
    this.#options = options;
  }

  /** @param text literal; upper and lower case are the same. @throws AppError RESOURCE_LIMIT, CANCELLED */
  async find(text: string, signal: AbortSignal): Promise<FoundScreens> {
    if (this.#underWay >= MAX_SCREEN_SEARCHES) {
      throw new AppError(
        "RESOURCE_LIMIT",
        `${MAX_SCREEN_SEARCHES} searches of screens are under way; try again shortly`,
      );
    }
    this.#underWay += 1;
    try {
      return await this.#find(text.toLowerCase(), signal);
    } finally {
      this.#underWay -= 1;
    }
  }

  async #find(text: string, signal: AbortSignal): Promise<FoundScreens> {
    const { server, book, panes } = this.#options;
    const all = book.all().flatMap((agent) => {
      const pane = panes.places.livePane(agent);
      return pane === undefined ? [] : [{ id: agent.record.id, pane }];
    });
    const waiting = all.slice(0, MAX_SEARCHED_SCREENS);
    let unread = all.length - waiting.length;
    const found: { agent_id: number; row: string }[] = [];
    const search = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        signal.throwIfAborted();
        const { id, pane } = next;
        try {
          // oxlint-disable-next-line no-await-in-loop -- only so many at once
          const { lines } = await server.capture(pane, { joinWrapped: true, unfollowed: true, signal });
          const row = lines.findLast((line) => line.toLowerCase().includes(text));
          if (row !== undefined) found.push({ agent_id: id, row: clipAround(row.trim(), text) });
        } catch {
          // It has gone meanwhile, or tmux has.
          unread += 1;
        }
      }
    };
    await Promise.all(Array.from({ length: SCREENS_CAPTURED_AT_ONCE }, search));
    signal.throwIfAborted();
    return { found: found.sort((a, b) => a.agent_id - b.agent_id), unread };
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
