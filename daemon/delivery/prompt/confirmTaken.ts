/**
 * Decides, after Enter, whether the prompt was taken. A shell has taken it once it prints a response. An agent has taken it
 * once it is seen to work on it, or once the text appears above the box. An empty box proves nothing, because a program that
 * is not ready empties its box and drops the text (docs/agentFacts.md). If the text is still where it was, Enter was missed
 * and is pressed again, at most twice, once the program has read the first and only on an exact capture without a dialog.
 */
import type { Profile } from "../../readiness/profile.ts";
import type { Readiness } from "../../readiness/readiness.ts";
import type { SubmitResult } from "../delivery.ts";
import {
  CONFIRM_WITHIN_MS,
  EMPTIED_WITHIN_MS,
  ENTER_RETRY_MS,
  FRAME_MS,
  MAX_ENTER_PRESSES,
  SLOW_STAYS_MS,
  STAYS_MS,
} from "../deliveryLimits.ts";
import {
  comparable,
  comparedWith,
  type EchoPlace,
  type EchoProbe,
  isContinued,
  isInHistory,
  isShown,
  isStillAt,
  significant,
} from "../screen/promptEcho.ts";
import type { EnterRead } from "../pane/enterRead.ts";
import { goesOn, type ScreenCapture, captureIfThere } from "../screen/screenCapture.ts";
import { hasStartedSince } from "./startedTitle.ts";
import { failureOn, noteOn, oneLine } from "../screen/screenNote.ts";
import { resultOf, type Work } from "../work.ts";

export interface Entered {
  readonly profile: Profile;
  /** False only if it is certain that the program had not yet reported that it has started. */
  readonly hasStarted: boolean;
  readonly probe: EchoProbe;
  /** The screen before the text was pasted. */
  readonly before: ScreenCapture;
  /** Where the text stood when Enter was pressed. */
  readonly place: EchoPlace;
  /** What the program was doing then. */
  readonly atEnter: Readiness;
  readonly enterRead: EnterRead;
  /** Text of the dialog whose field took it: it is open while it is being answered. */
  readonly within?: string | undefined;
}

/** The program emptied its box and only afterwards reported that it has started: the text is lost. */
export const DROPPED = Symbol("dropped");

export async function confirmTaken(work: Work, entered: Entered): Promise<SubmitResult | typeof DROPPED> {
  const { watch } = work;
  const { profile, atEnter, enterRead } = entered;
  const wasBusy = atEnter.state === "busy";
  // Anything else is busy because our text hides its prompt.
  const taken = wasBusy && profile.kind === "agent" ? "queued" : "submitted";
  const mayBeLost = profile.submit.mayLose && !wasBusy;
  const isAsking = (): boolean => watch.state.state === "asking";
  let presses = 1;
  let capturedAt = -1;
  let last: Verdict = "unclear";
  let shown: ScreenCapture | undefined;
  let workingMs: number | undefined;
  /** It has worked since Enter: text that is in the box again was put back there when a person stopped the turn. */
  let hasBegun = false;
  /** The output after which its box was first seen empty, with no sign that the text was taken. */
  let emptiedSeq: number | undefined;
  for (;;) {
    const { version } = watch;
    if (watch.hasEnded) return ended(work, entered);
    if (watch.isLost) return resultOf(work, "indeterminate");
    hasBegun ||= !wasBusy && hasWorked(profile, atEnter, watch.state);
    const retryMs = presses < MAX_ENTER_PRESSES && !hasBegun ? enterRead.againMs : Infinity;
    const pressedMs = enterRead.sinceMs;
    const isLeft =
      !enterRead.wasRead ||
      last === "emptied" ||
      (last === "unclear" && profile.kind === "agent") ||
      (last === "screen" && mayBeLost);
    const patienceMs = isLeft ? EMPTIED_WITHIN_MS : CONFIRM_WITHIN_MS;
    const giveUpMs = Math.min(pressedMs + patienceMs, Math.max(work.deadlineMs, pressedMs + ENTER_RETRY_MS));
    const nowMs = watch.clock.nowMs();
    // A program that was already busy reports nothing new when it queues a prompt.
    const isWorking = !wasBusy && hasWorked(profile, atEnter, watch.state);
    if (isWorking && profile.kind !== "agent") return resultOf(work, "submitted", "readiness");
    if (isWorking || watch.source.outputSeq !== capturedAt || nowMs >= retryMs) {
      const now = await captureIfThere(watch, profile);
      if (now === undefined || work.reader.isGone) return ended(work, entered);
      capturedAt = now.capture.exact ? now.capture.position.outputSeq : -1;
      shown = now;
      last = verdict(entered, now);
      const failure = failureOn(profile, entered.before, now);
      if (failure !== undefined && last !== "missed") {
        return resultOf(work, "echoed_unconfirmed", undefined, { screenNote: failure });
      }
      const mixed = mixedWith(entered, now);
      if (mixed !== undefined) return resultOf(work, "echoed_unconfirmed", undefined, { screenNote: mixed });
      if (isWorking && last !== "missed" && last !== "boxed" && last !== "waiting") {
        // The title is faster than the frame, which shows whether somebody typed into the text.
        workingMs ??= nowMs;
        if (last === "screen" || entered.within !== undefined || nowMs >= workingMs + FRAME_MS) {
          return taking(work, entered, "submitted", "readiness");
        }
        await watch.next(version, workingMs + FRAME_MS);
        continue;
      }
      if ((last === "screen" && !mayBeLost) || last === "output") return taking(work, entered, taken, last);
      if (last === "missed" && nowMs >= retryMs && !isAsking()) {
        if (await work.keys.press(["Enter"], now.capture, () => enterRead.isPressed())) {
          presses += 1;
          work.progress.enterPresses += 1;
        }
        continue;
      }
      if (last === "emptied" && now.capture.exact) emptiedSeq ??= now.capture.position.outputSeq;
      if (last === "emptied" && emptiedSeq !== undefined && !hasBegun && isDropped(work, entered, emptiedSeq)) {
        return DROPPED;
      }
    }
    if (nowMs >= giveUpMs) {
      if (last === "waiting") return resultOf(work, "queued", "screen");
      return resultOf(work, "echoed_unconfirmed", undefined, detailsOf(entered, shown));
    }
    await watch.next(version, Math.min(last === "missed" && !isAsking() ? retryMs : Infinity, giveUpMs));
  }
}

/**
 * The screen shows that the prompt was taken. An agent that exits shows much the same, so it must also be seen to go on. One
 * whose turn a person stops at once puts the text back into its box or says so, and its model may never have received it.
 */
async function taking(
  work: Work,
  entered: Entered,
  outcome: "submitted" | "queued",
  by: SubmitResult["confirmedBy"],
): Promise<SubmitResult> {
  const { watch } = work;
  const { profile, enterRead } = entered;
  if (profile.kind !== "agent") return resultOf(work, outcome, by);
  // It shows what a person's key did no sooner than it showed what Enter did.
  const reactedMs = watch.clock.nowMs() - enterRead.sinceMs;
  const staysMs = Math.min(Math.max(reactedMs, STAYS_MS), SLOW_STAYS_MS);
  if (!(await work.reader.goesOnAfter(profile, enterRead, staysMs))) {
    return watch.isLost ? resultOf(work, "indeterminate") : resultOf(work, "echoed_unconfirmed");
  }
  // A turn that is over by now may have been stopped, and the title says so before the frame.
  if (watch.state.state === "idle") await watch.until(watch.clock.nowMs() + FRAME_MS);
  const now = await captureIfThere(watch, profile);
  if (now === undefined || work.reader.isGone || work.reader.isEnding) return ended(work, entered);
  const last = verdict(entered, now);
  const failure = failureOn(profile, entered.before, now);
  if (failure !== undefined) return resultOf(work, "echoed_unconfirmed", undefined, { screenNote: failure });
  if (last === "waiting") return resultOf(work, "queued", by);
  // It has worked and shows nothing of it: a person has stopped the turn and emptied the box, which may hold the text then.
  const isUndone = last === "emptied" && watch.state.state === "idle" && isAsBefore(entered.before, now);
  if (last !== "missed" && last !== "boxed" && !isUndone) return resultOf(work, outcome, by);
  return resultOf(work, "echoed_unconfirmed", undefined, detailsOf(entered, now));
}

function mixedWith(
  { profile, probe, before, place, atEnter, within }: Entered,
  now: ScreenCapture,
): string | undefined {
  if (profile.kind !== "agent" || within !== undefined || now.box === undefined) return undefined;
  // What waits its turn is drawn with a word about that.
  if (atEnter.state === "busy") return undefined;
  const row = isContinued(probe, place, [before.screen, rowsAbove(before)], [now.screen, rowsAbove(now)]);
  return row === undefined ? undefined : `somebody typed into it: ${oneLine([row])}`;
}

/** A shell's command may end the shell; whether an agent that ends right after Enter took the prompt is unknown. */
const ended = (work: Work, { profile }: Entered): SubmitResult =>
  profile.kind === "agent" ? resultOf(work, "echoed_unconfirmed") : resultOf(work, "submitted", "readiness");

/** The order proves it: the box was empty before the program first reported that it has started. */
const isDropped = ({ watch }: Work, { profile, hasStarted }: Entered, emptiedSeq: number): boolean =>
  !hasStarted && watch.state.state === "idle" && hasStartedSince(watch, profile, emptiedSeq);

function detailsOf({ before, probe }: Entered, shown: ScreenCapture | undefined): SubmitResult["details"] {
  const screenNote = shown === undefined ? undefined : noteOn(before, shown, probe);
  return screenNote === undefined ? undefined : { screenNote };
}

/**
 * It is busy, or idle again: a short turn may end between two captures. If only the screen says that an agent is idle, that
 * may have been a frame without its box.
 */
const hasWorked = ({ kind }: Profile, atEnter: Readiness, now: Readiness): boolean =>
  now.state === "busy" ||
  (now.state === "idle" &&
    atEnter.state === "idle" &&
    now.position !== atEnter.position &&
    (kind !== "agent" || now.source !== "screen"));

/**
 * `missed`: the text is still where it was. `boxed`: elsewhere in the box, or in the field of a dialog. `emptied`: no longer in
 * the box. `waiting`: shown as a prompt that the program will take later. `unclear`: cannot tell.
 */
type Verdict = "screen" | "output" | "missed" | "boxed" | "emptied" | "waiting" | "unclear";

function verdict({ profile, probe, before, place, within }: Entered, now: ScreenCapture): Verdict {
  const { screen, dialog, box } = now;
  if (within !== undefined) {
    if (dialog?.text === within && isStillAt(probe, place, screen)) return "boxed";
    return goesOn(now) ? "screen" : "unclear";
  }
  const isThere = isStillAt(probe, place, screen);
  const isAgent = profile.kind === "agent";
  if (box !== undefined) {
    const isInBox = significant(box.typed, probe.keepsFrames).includes(place.needle);
    if (isInBox) return isThere && dialog === undefined ? "missed" : "boxed";
    if (isAgent && isWaiting(profile, probe, place, now)) return "waiting";
    return !isAgent || isTakenUp(probe, before, now) ? "screen" : "emptied";
  }
  // No dialog was open when Enter was pressed, so Enter went to the prompt and not to this dialog.
  if (dialog !== undefined) return !isThere && (!isAgent || isTakenUp(probe, before, now)) ? "screen" : "unclear";
  if (isThere) return "missed";
  if (isAgent) return "unclear";
  return isShown(probe, place, screen.lines) ? "output" : "screen";
}

/** It stands below the row that says what waits, above the box. */
function isWaiting({ submit: { waiting } }: Profile, probe: EchoProbe, place: EchoPlace, now: ScreenCapture): boolean {
  const above = now.screen.lines.slice(0, rowsAbove(now));
  const head = above.findLastIndex((row) => waiting.some((pattern) => pattern.test(row.trim())));
  return head >= 0 && isShown(probe, place, above.slice(head + 1));
}

const isTakenUp = (probe: EchoProbe, before: ScreenCapture, after: ScreenCapture): boolean =>
  isInHistory(probe, [before.screen, rowsAbove(before)], [after.screen, rowsAbove(after)]);

/** Above the box stands what stood there before the text was pasted. */
function isAsBefore(before: ScreenCapture, after: ScreenCapture): boolean {
  const [was, is] = [before, after].map((one) => comparable(one.screen.lines.slice(0, rowsAbove(one)).join("\n")));
  return was === is;
}

const rowsAbove = ({ box, screen }: ScreenCapture): number => box?.row ?? screen.lines.length;

/** Nothing but this text, or the word that stands for it, is in the box; true where the box cannot be read. */
export function holdsOnly({ box }: ScreenCapture, probe: EchoProbe, text: string, { needle }: EchoPlace): boolean {
  if (box === undefined || probe.keepsFrames) return true;
  const plain = comparedWith(text);
  if (plain(box.typed) === needle) return true;
  const rows = box.typed
    .split("\n")
    .map(plain)
    .filter((row) => row !== "");
  return rows.length > 0 && isPartOf(rows, plain(text));
}

/** Letters that a program may leave out where it wraps a row: Ink has been seen to drop one. */
const MAX_LOST_AT_WRAP = 2;

/** Whether the rows are consecutive parts of the text: a box may show only a part of a long one. */
function isPartOf([first = "", ...others]: readonly string[], text: string): boolean {
  for (let at = text.indexOf(first); at >= 0; at = text.indexOf(first, at + 1)) {
    const end = others.reduce<number | undefined>((from, row) => endOf(row, text, from), at + first.length);
    if (end !== undefined) return true;
  }
  return false;
}

/** Where the row ends when it stands here, or a few letters on. */
function endOf(row: string, text: string, from: number | undefined): number | undefined {
  if (from === undefined) return undefined;
  for (let lost = 0; lost <= MAX_LOST_AT_WRAP; lost += 1) {
    if (text.startsWith(row, from + lost)) return from + lost + row.length;
  }
  return undefined;
}
