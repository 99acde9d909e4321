/** What the screen says when a prompt failed, or may have: a missing key, an error of the model, a notice. */
import { clip } from "../../../protocol/text/clip.ts";
import { MAX_ROW_CHARACTERS, type Profile } from "../../readiness/profile.ts";
import { changedRows, type EchoProbe, significant } from "./promptEcho.ts";
import type { ScreenCapture } from "./screenCapture.ts";

/** One line, short enough to be read at a glance. */
const MAX_NOTE_CHARS = 300;
const MAX_NOTE_ROWS = 3;

/** A new row that the profile recognises as a failure. */
export function failureOn({ submit }: Profile, before: ScreenCapture, after: ScreenCapture): string | undefined {
  if (submit.failures.length === 0) return undefined;
  const row = newRows(before, after).findLast((text) => submit.failures.some((pattern) => pattern.test(text)));
  return row === undefined ? undefined : oneLine([row]);
}

/** The last rows that were not there before, but for the box and the prompt itself. */
export function noteOn(
  before: ScreenCapture,
  after: ScreenCapture,
  { needles, keepsFrames }: EchoProbe,
): string | undefined {
  const rows = newRows(before, after).filter((text) => {
    const plain = significant(text, keepsFrames);
    return plain !== "" && !needles.some((needle) => plain.includes(needle) || needle.includes(plain));
  });
  return rows.length === 0 ? undefined : oneLine(rows.slice(-MAX_NOTE_ROWS));
}

function newRows(before: ScreenCapture, after: ScreenCapture): readonly string[] {
  const end = after.box?.row ?? after.screen.lines.length;
  return changedRows(before.screen.lines, after.screen.lines)
    .after.filter((row) => row < end)
    .map((row) => (after.screen.lines[row] ?? "").slice(0, MAX_ROW_CHARACTERS));
}

/** Foreign text: one line without controls and frames, bounded. */
export const oneLine = (rows: readonly string[]): string =>
  clip(
    rows
      .join(" ")
      .replaceAll(/[\s\p{Cc}\p{Cf}\u2500-\u259f]+/gu, " ")
      .trim(),
    MAX_NOTE_CHARS,
  );
