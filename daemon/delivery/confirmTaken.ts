/**
 * After Enter: whether the prompt was taken. The program's own word counts first, then the box without our text, then, for
 * programs without a box, that it wrote. A text that still stands where it stood was missed: Enter again, at most twice,
 * and only on an exact look that shows it there and no dialog.
 */
import type { Profile } from "../readiness/profile.ts";
import type { Readiness } from "../readiness/readiness.ts";
import type { SubmitResult } from "./delivery.ts";
import { CONFIRM_WITHIN_MS, ENTER_RETRY_MS, MAX_ENTER_PRESSES } from "./deliveryLimits.ts";
import { type EchoPlace, type EchoProbe, isShown, isStillAt, significant } from "./echo.ts";
import { type Look, lookIfThere } from "./look.ts";
import { resultOf, type Work } from "./work.ts";

export interface Entered {
  readonly profile: Profile;
  readonly probe: EchoProbe;
  /** Where the text stood when Enter was pressed. */
  readonly place: EchoPlace;
  /** What the program was doing then. */
  readonly atEnter: Readiness;
  /** Text of the dialog whose field took it: it is open while it is being answered. */
  readonly within?: string | undefined;
}

export async function confirmTaken(work: Work, entered: Entered): Promise<SubmitResult> {
  const { watch } = work;
  const { profile, atEnter } = entered;
  const wasBusy = atEnter.state === "busy";
  const taken = wasBusy ? "queued" : "submitted";
  let presses = 1;
  let pressedMs = watch.clock.nowMs();
  let lookedAt = -1;
  let last: Verdict = "unclear";
  for (;;) {
    const { version } = watch;
    if (watch.hasEnded) return ended(work, entered);
    if (watch.isLost) return resultOf(work, "indeterminate");
    // A program that was at work says nothing new when it queues.
    if (!wasBusy && hasWorked(entered.atEnter, watch.state)) return resultOf(work, "submitted", "readiness");
    const retryMs = presses < MAX_ENTER_PRESSES ? pressedMs + ENTER_RETRY_MS : Infinity;
    const giveUpMs = Math.min(pressedMs + CONFIRM_WITHIN_MS, Math.max(work.deadlineMs, pressedMs + ENTER_RETRY_MS));
    const nowMs = watch.clock.nowMs();
    if (watch.source.outputSeq !== lookedAt || nowMs >= retryMs) {
      const look = await lookIfThere(watch, profile);
      if (look === undefined || watch.isAddresseeGone) return ended(work, entered);
      lookedAt = look.capture.exact ? look.capture.position.outputSeq : -1;
      last = verdict(entered, look);
      if (last === "screen" || last === "output") return resultOf(work, taken, last);
      if (last === "missed" && nowMs >= retryMs && watch.state.state !== "asking") {
        if (await watch.press(["Enter"], look.capture)) {
          presses += 1;
          work.progress.enterPresses += 1;
          pressedMs = watch.clock.nowMs();
        }
        continue;
      }
    }
    if (nowMs >= giveUpMs) {
      return resultOf(work, "echoed_unconfirmed");
    }
    await watch.next(version, Math.min(last === "missed" ? retryMs : Infinity, giveUpMs));
  }
}

/** A shell's command may end the shell; an agent that ends right after Enter has told nobody whether it took the prompt. */
const ended = (work: Work, { profile }: Entered): SubmitResult =>
  profile.kind === "agent" ? resultOf(work, "echoed_unconfirmed") : resultOf(work, "submitted", "readiness");

/** It works, or it is idle again: a short turn may be over before anybody looks. */
const hasWorked = (atEnter: Readiness, now: Readiness): boolean =>
  now.state === "busy" || (now.state === "idle" && atEnter.state === "idle" && now.position !== atEnter.position);

/** `missed`: it still stands there. `unclear`: it may. */
type Verdict = "screen" | "output" | "missed" | "unclear";

function verdict({ profile, probe, place, within }: Entered, { screen, dialog, box }: Look): Verdict {
  if (within !== undefined) return dialog?.text === within && isStillAt(probe, place, screen) ? "unclear" : "screen";
  const isThere = isStillAt(probe, place, screen);
  if (box !== undefined) {
    const isInBox = significant(box.join(""), probe.keepsFrames).includes(place.needle);
    if (!isInBox) return "screen";
    return isThere && dialog === undefined ? "missed" : "unclear";
  }
  // None was open when Enter was pressed, and this one has not had it: the prompt before it had.
  if (dialog !== undefined) return isThere ? "unclear" : "screen";
  if (isThere) return "missed";
  if (!isShown(probe, place, screen.lines)) return "screen";
  return profile.kind === "agent" ? "unclear" : "output";
}
