/**
 * Empties the prompt box with the profile's keys. They empty one line up to the cursor, so that BSpace then joins it to the
 * line before; what is left stands behind the cursor, where C-k and Delete do the same. It ends when nothing is left or no
 * key changes anything any more. Like every key they are pressed only on a capture that shows no dialog.
 */
import { isDeepStrictEqual } from "node:util";
import { AppError } from "../../../protocol/errors.ts";
import type { Profile } from "../../readiness/profile.ts";
import { MAX_CLEAR_PRESSES } from "../deliveryLimits.ts";
import { isOnly } from "../screen/lookAt.ts";
import { comparedWith, echoProbe } from "../screen/promptEcho.ts";
import { type ScreenCapture, takeCapture } from "../screen/screenCapture.ts";
import type { Capture } from "../../tmux/io.ts";
import type { PaneWatch } from "../pane/paneWatch.ts";
import { wrongState } from "../pane/wrongState.ts";
import { noteWrite, type Work } from "../work.ts";

/** An empty box changes nothing on the screen: after this long without output it was empty. */
const NOTHING_CAME_MS = 120;
/** Before a line is given up: a busy machine draws later than that. */
const NOTHING_COMES_MS = 1_000;

/** @param only what may be in it, no more than that @throws AppError WRONG_STATE, TIMEOUT, NOT_FOUND, CONNECTION_LOST */
export async function clearBox(work: Work, profile: Profile, only?: string): Promise<void> {
  const { watch, deadlineMs } = work;
  const { clear } = profile.keys;
  const ways = [clear, ["BSpace"], ["C-k"], ["DC"]];
  /** Which of them is next, and how many in a row have changed nothing. */
  let at = 0;
  let vain = 0;
  let before: string | undefined;
  for (let presses = 0; presses < MAX_CLEAR_PRESSES && watch.clock.nowMs() < deadlineMs;) {
    const now = await takeCapture(watch, profile);
    requireNoQuestion(watch, now);
    const typed = now.box?.typed;
    if (typed === "") return;
    if (only !== undefined) requireOnly(watch, profile, typed, { only, hasPressed: presses > 0 });
    const shown = shownOf(now);
    if (before !== undefined) {
      const hasChanged = shown !== before;
      before = undefined;
      vain = hasChanged ? 0 : vain + 1;
      if (vain === ways.length) return;
      // Each line is emptied before it is joined to the next.
      if (!hasChanged) at = (at + 1) % ways.length;
      else if (at % 2 === 1) at -= 1;
    }
    const from = watch.source.outputSeq;
    if (!(await work.keys.press(ways[at]!, now.capture, () => noteWrite(work)))) continue;
    work.progress.hasWritten = true;
    presses += 1;
    await redrawn(watch, from, profile);
    // Without a box that can be read there is no telling what is left in it.
    if (shown === undefined) return;
    before = shown;
  }
  if (watch.clock.nowMs() >= deadlineMs) throw new AppError("TIMEOUT", "the prompt box could not be emptied in time");
}

/**
 * Once the keys have emptied the row that a shell's cursor is in: joins the row above to it and empties that, or, where none
 * is, the one below. @returns how many have gone: 0 where the screen has changed first, undefined where nothing more goes
 */
export async function clearNextRow(
  work: Work,
  profile: Profile,
  { capture }: ScreenCapture,
): Promise<0 | 1 | undefined> {
  const { watch, keys } = work;
  const press = async (names: readonly string[], before: Capture, withinMs?: number): Promise<Capture | undefined> => {
    const from = watch.source.outputSeq;
    if (!(await keys.press(names, before, () => noteWrite(work)))) return undefined;
    work.progress.hasWritten = true;
    await redrawn(watch, from, profile, withinMs);
    return (await takeCapture(watch, profile)).capture;
  };
  const joined = await press(["BSpace", ...profile.keys.clear], capture);
  if (joined === undefined) return 0;
  if (!isSameScreen(joined, capture)) return 1;
  const cut = await press(["C-k"], joined, NOTHING_COMES_MS);
  if (cut === undefined) return 0;
  // To an editor in vi's insert mode it is text.
  const { row, col } = joined.cursor;
  const isText = cut.cursor.row === row && cut.cursor.col === col + "^K".length;
  if (!isText) return isSameScreen(cut, joined) ? undefined : 1;
  await press(["BSpace"], cut);
  return undefined;
}

const isSameScreen = (one: Capture, other: Capture): boolean =>
  isDeepStrictEqual([one.cursor, one.lines], [other.cursor, other.lines]);

/**
 * What keys in the box can change: blanks show by the cursor alone, empty lines by the rows. What is written around the box,
 * such as a clock, changes by itself.
 */
function shownOf({ box, screen: { cursor, lines } }: ScreenCapture): string | undefined {
  if (box === undefined) return undefined;
  return [`${cursor.row - box.row},${cursor.col}`, ...lines.slice(box.row, box.last + 1)].join("\n");
}

/** A person may type at any time: what they have typed stays. @throws AppError WRONG_STATE */
function requireOnly(
  watch: PaneWatch,
  { submit }: Profile,
  typed: string | undefined,
  { only, hasPressed }: { readonly only: string; readonly hasPressed: boolean },
): void {
  if (typed !== undefined) {
    if (isOnly(typed, only, echoProbe(only, submit.placeholders).placeholders)) return;
    const plain = comparedWith(only);
    if (hasPressed && plain(only).includes(plain(typed))) return;
  }
  throw wrongState(
    watch,
    watch.state.state,
    "the prompt box holds other text, so it was not emptied; look at the pane",
    {
      reason: "box_changed",
    },
  );
}

export function requireNoQuestion(watch: PaneWatch, { dialog, profile }: ScreenCapture): void {
  watch.requireThere();
  if (dialog === undefined && watch.state.state !== "asking") return;
  const state =
    dialog === undefined ? watch.state : { profile: profile.name, dialog: { ...dialog, id: dialog.digest } };
  throw wrongState(
    { state },
    "asking",
    "a question is open in the pane; answer it first, keys would answer it by accident",
  );
}

/** Until the program has drawn something and has come to rest since, or has drawn nothing in this time. */
export async function redrawn(
  watch: PaneWatch,
  from: number,
  { submit }: Profile,
  withinMs = NOTHING_CAME_MS,
): Promise<void> {
  const untilMs = watch.clock.nowMs() + withinMs;
  for (;;) {
    const { version } = watch;
    watch.requireThere();
    if (watch.source.outputSeq !== from) break;
    if (watch.clock.nowMs() >= untilMs) return;
    await watch.next(version, untilMs);
  }
  const restMs = watch.clock.nowMs() + withinMs;
  while (watch.clock.nowMs() < Math.min(restMs, watch.lastOutputMs + submit.quietMs)) {
    await watch.until(Math.min(restMs, watch.lastOutputMs + submit.quietMs));
  }
}
