/** What a pane shows of a text: in its box, or above it, where a program shows what it has taken. */
import type { Look } from "../delivery.ts";
import type { PaneWatch } from "../pane/paneWatch.ts";
import { comparable, comparedWith, echoProbe, significant } from "./promptEcho.ts";
import { takeCapture } from "./screenCapture.ts";

/** Rows of history that are searched: a long answer and what came before it. */
const HISTORY_ROWS = 2_000;
/** Of what is found below the text. */
const MAX_SINCE_CHARS = 20_000;
const HALF_PAIR = /^[\uDC00-\uDFFF]/;

export async function lookAt(watch: PaneWatch, text: string | undefined): Promise<Look> {
  const readiness = await watch.readiness.probe();
  const { profile, server, pane } = watch;
  const now = await takeCapture(watch, profile);
  const typed = now.box?.typed;
  const look = { readiness, typed, holds: false, shows: false, since: undefined };
  if (text === undefined) return look;
  const probe = echoProbe(text, profile.submit.placeholders);
  const { lines } = await server.capture(pane, { lines: HISTORY_ROWS, whole: true });
  const { rows } = now.capture;
  const above = lines.slice(0, lines.length - rows + (now.box?.row ?? rows));
  const plain = above.map((row) => significant(row));
  // A text that is folded shows its beginning.
  const needles = probe.head.length < MIN_HEAD_CHARS ? probe.needles : [...probe.needles, probe.head];
  const { prefix = /^/ } = profile.screen.promptBox ?? {};
  const isSigned = (row: number): boolean => prefix.test(above[row]?.trimStart() ?? "");
  const at = lastTyped(plain, needles, isSigned);
  const rowsSince = above.slice(at + 1).map((row, index) => (plain[at + 1 + index] === "" ? "" : row.trimEnd()));
  const since = rowsSince.join("\n").replaceAll(/^\n+|\n+$/g, "");
  return {
    ...look,
    holds: typed !== undefined && typed !== "" && isOnly(typed, text, probe.placeholders),
    shows: at >= 0,
    since: at < 0 ? undefined : since.slice(-MAX_SINCE_CHARS).replace(HALF_PAIR, ""),
  };
}

/** A shorter beginning is met by chance. */
const MIN_HEAD_CHARS = 8;
/** Rows of a wrapped text. */
const MAX_NEEDLE_ROWS = 6;

/**
 * The row in which a needle ends last; of several, where one of the rows of its paragraph up to it begins with the box's sign:
 * an answer may quote it.
 */
function lastTyped(rows: readonly string[], needles: readonly string[], isSigned: (row: number) => boolean): number {
  let at = -1;
  for (let row = rows.length - 1; row >= 0; row -= 1) {
    if (!needles.some((needle) => endsAt(rows, row, needle))) continue;
    at = Math.max(at, row);
    for (let above = row; above >= 0 && rows[above] !== ""; above -= 1) if (isSigned(above)) return row;
  }
  return at;
}

/** The needle ends in this row; it may have begun in those before it. */
function endsAt(rows: readonly string[], row: number, needle: string): boolean {
  const own = rows[row] ?? "";
  if (own.includes(needle)) return true;
  const before = rows.slice(Math.max(0, row - MAX_NEEDLE_ROWS), row).join("");
  return !before.includes(needle) && (before + own).includes(needle);
}

/** The text, or the words that stand for pastes, and nothing else. */
export function isOnly(typed: string, text: string, placeholders: readonly RegExp[]): boolean {
  const plain = comparedWith(text);
  if (plain(typed) === plain(text)) return true;
  const rest = placeholders.reduce((left, placeholder) => left.replaceAll(placeholder, ""), typed);
  return rest !== typed && comparable(rest) === "";
}
