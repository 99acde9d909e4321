/**
 * Empties the prompt box with the profile's keys. They empty one line, so that BSpace then joins it to the line before,
 * until nothing is left or neither changes anything any more. Like every key they are pressed only on a look that shows no
 * dialog.
 */
import { AppError } from "../../protocol/errors.ts";
import type { Profile } from "../readiness/profile.ts";
import { MAX_CLEAR_PRESSES } from "./deliveryLimits.ts";
import { type Look, takeLook } from "./look.ts";
import { type PaneWatch, wrongState } from "./paneWatch.ts";
import { noteWrite, type Work } from "./work.ts";

/** An empty box changes nothing on the screen: after this long without output it was empty. */
const NOTHING_CAME_MS = 120;

export async function clearBox(work: Work, profile: Profile): Promise<void> {
  const { watch, deadlineMs } = work;
  const { clear } = profile.keys;
  let isJoining = false;
  for (let presses = 0; presses < MAX_CLEAR_PRESSES && watch.clock.nowMs() < deadlineMs;) {
    const look = await takeLook(watch, profile);
    requireNoQuestion(watch, look);
    if (look.box?.typed === "") return;
    const from = watch.source.outputSeq;
    if (!(await watch.press(isJoining ? ["BSpace"] : clear, look.capture, () => noteWrite(work)))) continue;
    work.progress.hasWritten = true;
    presses += 1;
    const hasChanged = await redrawn(watch, from, profile);
    // Without a box that can be read there is no telling what is left in it.
    if (look.box === undefined || (isJoining && !hasChanged)) return;
    isJoining = !hasChanged;
  }
  if (watch.clock.nowMs() >= deadlineMs) throw new AppError("TIMEOUT", "the prompt box could not be emptied in time");
}

export function requireNoQuestion(watch: PaneWatch, { dialog, profile }: Look): void {
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

/** Whether the program drew something, and has come to rest since. */
export async function redrawn(
  watch: PaneWatch,
  from: number,
  { submit }: Profile,
  withinMs = NOTHING_CAME_MS,
): Promise<boolean> {
  const untilMs = watch.clock.nowMs() + withinMs;
  for (;;) {
    const { version } = watch;
    watch.requireThere();
    if (watch.source.outputSeq !== from) break;
    if (watch.clock.nowMs() >= untilMs) return false;
    await watch.next(version, untilMs);
  }
  const restMs = watch.clock.nowMs() + withinMs;
  while (watch.clock.nowMs() < Math.min(restMs, watch.lastOutputMs + submit.quietMs)) {
    await watch.until(Math.min(restMs, watch.lastOutputMs + submit.quietMs));
  }
  return true;
}
