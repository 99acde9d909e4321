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
  // A text that is folded shows its beginning.
  const needles = probe.head.length < MIN_HEAD_CHARS ? probe.needles : [...probe.needles, probe.head];
  const at = lastTyped(above, needles, profile.screen.promptBox?.prefix);
  const rowsSince = above.slice(at + 1).map((row) => (significant(row) === "" ? "" : row.trimEnd()));
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

/** The row in which a needle ends last; of several, where it stands behind a box's sign: an answer may quote it. */
function lastTyped(rows: readonly string[], needles: readonly string[], sign = /^/): number {
  let at = -1;
  for (let row = rows.length - 1; row >= 0; row -= 1) {
    if (!needles.some((needle) => endsAt(rows, row, needle))) continue;
    if (isSigned(rows, row, sign)) return row;
    at = Math.max(at, row);
  }
  return at;
}

/** One of the rows of its paragraph up to this one begins with the sign. */
function isSigned(rows: readonly string[], row: number, sign: RegExp): boolean {
  const begin = rows.slice(0, row).findLastIndex((before) => significant(before) === "") + 1;
  return rows.slice(begin, row + 1).some((each) => sign.test(each.trimStart()));
}

/** The needle ends in this row; it may have begun in those before it. */
function endsAt(rows: readonly string[], row: number, needle: string): boolean {
  const own = significant(rows[row] ?? "");
  if (own.includes(needle)) return true;
  const before = significant(rows.slice(Math.max(0, row - MAX_NEEDLE_ROWS), row).join(""));
  return !before.includes(needle) && (before + own).includes(needle);
}

/** The text, or the words that stand for pastes, and nothing else. */
export function isOnly(typed: string, text: string, placeholders: readonly RegExp[]): boolean {
  const plain = comparedWith(text);
  if (plain(typed) === plain(text)) return true;
  const rest = placeholders.reduce((left, placeholder) => left.replaceAll(placeholder, ""), typed);
  return rest !== typed && comparable(rest) === "";
}
