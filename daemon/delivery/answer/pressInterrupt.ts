/**
 * The keys that stop a turn, and whether it has stopped. Each is a write of its own, two Escapes in one read are another
 * key; where a program takes two, the second counts once its screen asks for it and not before.
 */
import { AppError } from "../../../protocol/errors.ts";
import { INTERRUPT_WITHIN_MS } from "../deliveryLimits.ts";
import { takeCapture } from "../screen/screenCapture.ts";
import type { PaneWatch } from "../pane/paneWatch.ts";
import type { Work } from "../work.ts";

/** @throws AppError TIMEOUT: an agent still works */
export async function pressInterrupt({ watch, keys: typed, deadlineMs }: Work): Promise<void> {
  const profile = watch.profile;
  const { keys, submit } = profile;
  const mustStop = profile.kind === "agent" && watch.state.state === "busy";
  for (const [at, key] of keys.interrupt.entries()) {
    if (at > 0) {
      await watch.until(watch.clock.nowMs() + submit.gapMs);
      if (mustStop && keys.again !== undefined && !(await isAskedAgain(watch, keys.again, deadlineMs))) break;
    }
    await typed.type([{ kind: "keys", keys: [key] }]);
  }
  if (mustStop) await untilStopped(watch, deadlineMs);
}

/** False when the turn has ended meanwhile; true also when the program never asks: then the key is the only thing left to try. */
async function isAskedAgain(watch: PaneWatch, again: RegExp, deadlineMs: number): Promise<boolean> {
  const profile = watch.profile;
  const untilMs = Math.min(watch.clock.nowMs() + ASKED_WITHIN_MS, deadlineMs);
  while (watch.clock.nowMs() < untilMs) {
    const { version } = watch;
    watch.requireThere();
    const { screen } = await takeCapture(watch, profile);
    // A turn that has ended in the meantime leaves the hint in its last frame.
    if (watch.state.state !== "busy") return false;
    if (screen.lines.some((line) => again.test(line))) return true;
    await watch.next(version, untilMs);
  }
  return true;
}

/** A frame, on a busy machine. */
const ASKED_WITHIN_MS = 2_000;

async function untilStopped(watch: PaneWatch, deadlineMs: number): Promise<void> {
  const untilMs = Math.min(watch.clock.nowMs() + INTERRUPT_WITHIN_MS, deadlineMs);
  while (watch.state.state === "busy") {
    const { version } = watch;
    if (watch.hasEnded) return;
    watch.requireThere();
    if (watch.clock.nowMs() >= untilMs) {
      throw new AppError(
        "TIMEOUT",
        "the keys that stop a turn were pressed, but the program still works; look at the pane",
      );
    }
    await watch.next(version, untilMs);
  }
}
