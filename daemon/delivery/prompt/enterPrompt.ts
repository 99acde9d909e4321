/**
 * From a paste to the outcome: see it on the screen, let the program settle, Enter by itself, see it taken. The dangerous key
 * is Enter: at a dialog it approves what nobody approved. So it is pressed only on an exact capture that shows our text and no
 * dialog, in the turn in which nothing else has arrived since.
 */
import { AppError } from "../../../protocol/errors.ts";
import { clip } from "../../../protocol/text/clip.ts";
import type { Profile } from "../../readiness/profile.ts";
import { confirmTaken, type DROPPED, type Entered, holdsOnly } from "./confirmTaken.ts";
import type { SubmitResult } from "../delivery.ts";
import { ECHO_BYTES_PER_MS, ECHO_WITHIN_MS, MAX_BOX_CHARS, QUIET_WITHIN_MS } from "../deliveryLimits.ts";
import {
  drawnSince,
  type EchoPlace,
  type EchoProbe,
  echoProbe,
  findEcho,
  findShown,
  relocate,
} from "../screen/promptEcho.ts";
import { EnterRead } from "../pane/enterRead.ts";
import { type ScreenCapture, takeCapture } from "../screen/screenCapture.ts";
import type { PaneWatch } from "../pane/paneWatch.ts";
import { wrongState } from "../pane/wrongState.ts";
import { noteEnter, resultOf, type Work } from "../work.ts";

interface Pasted {
  readonly profile: Profile;
  readonly text: string;
  /** The screen before the paste. */
  readonly before: ScreenCapture;
  readonly gapMs: number;
  /** False: it is certain that it has not said that it has started, and it may drop the text. Default true. */
  readonly hasStarted?: boolean | undefined;
  /** Text of the dialog whose own field takes it: that one does not stand in the way of Enter. */
  readonly within?: string | undefined;
}

/** From the paste to the outcome. */
export async function enterPrompt(work: Work, pasted: Pasted): Promise<SubmitResult | typeof DROPPED> {
  const { watch } = work;
  const { profile, text } = pasted;
  const pastedMs = watch.clock.nowMs();
  const probe = echoProbe(text, profile.submit.placeholders);
  const seen = await seeEcho(work, pasted, probe);
  if (seen === undefined) return resultOf(work, "not_echoed");
  // The program may have got to it late: half the gap is its own.
  const readyMs = Math.max(pastedMs + pasted.gapMs, watch.clock.nowMs() + pasted.gapMs / 2);
  const entered = await pressEnter(work, { ...pasted, probe, seen, pastedMs, readyMs });
  // Whoever took it away, or entered it with more text: what became of it is not known, whatever the program does now.
  if (entered === undefined) return resultOf(work, "indeterminate");
  const { before, within, hasStarted = true } = pasted;
  return confirmTaken(work, { profile, probe, before, within, hasStarted, ...entered });
}

/** Captures whenever something was drawn, until the text is there or it is time. */
async function seeEcho(work: Work, pasted: Pasted, probe: EchoProbe): Promise<EchoPlace | undefined> {
  const { watch } = work;
  const { text, before, profile } = pasted;
  const withinMs = ECHO_WITHIN_MS + Buffer.byteLength(text) / ECHO_BYTES_PER_MS;
  const untilMs = Math.min(work.deadlineMs, watch.clock.nowMs() + withinMs);
  const from = before.capture.position.outputSeq;
  let capturedAt = from;
  for (;;) {
    const { version } = watch;
    requireNoDialog(work, undefined, pasted);
    if (watch.source.outputSeq !== capturedAt) {
      const now = await takeCapture(watch, profile);
      requireNoDialog(work, now, pasted);
      const found =
        findEcho(probe, before.screen, now.screen) ??
        (drawnSince(watch.source, from, probe) ? findShown(probe, now.screen) : undefined);
      if (found !== undefined) return found;
      capturedAt = now.capture.exact ? now.capture.position.outputSeq : -1;
    }
    if (watch.clock.nowMs() >= untilMs) return undefined;
    await watch.next(version, untilMs);
  }
}

interface Seen extends Pasted {
  readonly probe: EchoProbe;
  readonly seen: EchoPlace;
  readonly pastedMs: number;
  /** Not before this. */
  readonly readyMs: number;
}

/** Undefined when the text has left the screen before we pressed: somebody else did, or took it out. */
async function pressEnter(
  work: Work,
  seen: Seen,
): Promise<Pick<Entered, "place" | "atEnter" | "enterRead"> | undefined> {
  const { watch, deadlineMs } = work;
  const { profile, probe, pastedMs, readyMs } = seen;
  let missingMs: number | undefined;
  while (watch.clock.nowMs() < deadlineMs) {
    const { quietMs } = profile.submit;
    await untilQuiet(watch, pastedMs, readyMs, profile.kind === "agent" ? Math.max(quietMs, FRAME_MS) : quietMs);
    requireNoDialog(work, undefined, seen);
    const { version } = watch;
    const now = await takeCapture(watch, profile);
    requireNoDialog(work, now, seen);
    const place = relocate(probe, seen.seen, now.screen);
    const isOther = place !== undefined && seen.within === undefined && !holdsOnly(now, probe, seen.text, place);
    if (place === undefined || isOther) {
      // A frame that is being drawn lacks it for a moment.
      missingMs ??= watch.clock.nowMs();
      if (watch.clock.nowMs() >= missingMs + MISSING_WITHIN_MS) {
        if (place === undefined || now.box?.typed === "") return undefined;
        throw boxChanged(watch, now.box?.typed ?? "");
      }
      await watch.next(version, missingMs + MISSING_WITHIN_MS);
      continue;
    }
    missingMs = undefined;
    const atEnter = watch.state;
    const enterRead = new EnterRead(work.reader);
    const beforeWrite = (): void => {
      enterRead.isPressed();
      requireNoDialog(work, undefined, seen);
      noteEnter(work);
    };
    if (!(await work.keys.press(["Enter"], now.capture, beforeWrite))) continue;
    work.progress.enterPresses += 1;
    return { place, atEnter, enterRead };
  }
  throw new AppError("TIMEOUT", "the text is in the prompt, but the pane kept changing, so Enter was not pressed", {
    details: { textWritten: true, enterPresses: 0 },
  });
}

const boxChanged = (watch: PaneWatch, typed: string): AppError =>
  wrongState(
    watch,
    watch.state.state,
    "somebody typed into the prompt box meanwhile, so Enter was not pressed; the text is in the box, look at the pane",
    { reason: "box_changed", box: clip(typed, MAX_BOX_CHARS), textWritten: true, enterPresses: 0 },
  );

/** What takes longer is no frame, on a busy machine either. */
const MISSING_WITHIN_MS = 600;

/**
 * Ink draws at most every 32 ms and tells its title at once (docs/agentFacts.md 12): an agent that has been quiet for less
 * than this may be about to draw a dialog.
 */
const FRAME_MS = 48;

/** The gap since the paste, and quiet; one that is never quiet is not waited for. */
async function untilQuiet(watch: PaneWatch, pastedMs: number, earliestMs: number, quietMs: number): Promise<void> {
  for (;;) {
    const quietAtMs = Math.min(watch.lastOutputMs + quietMs, pastedMs + QUIET_WITHIN_MS);
    const readyMs = Math.max(earliestMs, quietAtMs);
    if (watch.clock.nowMs() >= readyMs) return;
    await watch.until(readyMs);
  }
}

/** @throws AppError WRONG_STATE: Enter would answer what has opened. What was pasted stays where it is: nothing is safe to press. */
function requireNoDialog({ watch, reader }: Work, now: ScreenCapture | undefined, { within }: Pasted): void {
  watch.requireThere();
  reader.requireReading();
  const message =
    "a question has opened before Enter was pressed; answer it, then look whether the text is in the prompt";
  const details = { reason: "question_opened", textWritten: true, enterPresses: 0 };
  if (now?.dialog !== undefined && now.dialog.text !== within) throw openDialog(now, message, details);
  if (now === undefined && within === undefined && watch.state.state === "asking") {
    throw wrongState(watch, "asking", message, details);
  }
}

/** The refusal while a question is open. */
export function openDialog(
  { dialog, profile }: ScreenCapture,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError {
  const seen = dialog === undefined ? undefined : { ...dialog, id: dialog.digest };
  return wrongState({ state: { profile: profile.name, dialog: seen } }, "asking", message, details);
}
