/**
 * Answers the dialog that is open. Every key goes by itself, on an exact capture that shows the dialog that was meant, and
 * the next one only when the screen shows what the one before did: a key that is still on its way could otherwise move the
 * mark after it was read. No key is pressed twice for the same step.
 */
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import type { SeenDialog } from "../../readiness/dialog.ts";
import type { Profile } from "../../readiness/profile.ts";
import type { Dialog } from "../../readiness/readiness.ts";
import type { ChooseRequest, SubmitResult } from "../delivery.ts";
import { DIALOG_STEP_MS, FRAME_MS, MAX_DIALOG_STEPS } from "../deliveryLimits.ts";
import { redrawn } from "../prompt/clearBox.ts";
import { DROPPED } from "../prompt/confirmTaken.ts";
import { enterPrompt } from "../prompt/enterPrompt.ts";
import { EnterRead } from "../pane/enterRead.ts";
import { goesOn, type ScreenCapture, captureIfThere, takeCapture } from "../screen/screenCapture.ts";
import type { PaneWatch } from "../pane/paneWatch.ts";
import { wrongState } from "../pane/wrongState.ts";
import { promptText } from "../prompt/promptText.ts";
import { boxNotEmpty, pasteAfterCapture, requirePasteable } from "../prompt/submitPrompt.ts";
import { noteEnter, noteWrite, resultOf, type Work } from "../work.ts";

type Shown = Pick<Dialog, "text" | "options" | "otherIndex" | "marked" | "multi">;

/** @throws AppError WRONG_STATE, INVALID_ARGUMENT, TIMEOUT, NOT_FOUND, CONNECTION_LOST */
export async function chooseAnswer(work: Work, { answer, dialogId, addressee }: ChooseRequest): Promise<SubmitResult> {
  const { watch, reader } = work;
  watch.requireThere();
  const { state, dialog } = await watch.readiness.probe();
  const profile = watch.profile;
  await reader.address(profile, addressee);
  if (state !== "asking") throw wrongState(watch, state, "no question is open in the pane; submit a prompt instead");
  if (dialog === undefined || dialog.options.length === 0) {
    throw wrongState(
      watch,
      state,
      "the question's options cannot be read; look at the pane and press keys with input",
      {
        reason: "question_unreadable",
      },
    );
  }
  if (dialogId !== undefined && dialogId !== dialog.id) {
    throw wrongState(watch, state, "a different question is open; read it before answering");
  }
  const asking: Asking = { work, profile, keyRead: new EnterRead(reader) };
  switch (answer.kind) {
    case "option":
      return finish(asking, await answerPage(asking, dialog, [answer.index]));
    case "multi":
      return chooseAll(asking, dialog, answer.answers);
    case "other":
      return answerFreely(asking, dialog, promptText(answer.text));
  }
}

interface Asking {
  readonly work: Work;
  readonly profile: Profile;
  /** Whether the last key that was pressed has been read. */
  readonly keyRead: EnterRead;
}

/** Pages one after the other, then the program's own page to confirm them, if it has one. */
async function chooseAll(asking: Asking, first: Shown, answers: readonly (readonly number[])[]): Promise<SubmitResult> {
  if (answers.length === 0 || answers.some((page) => page.length === 0)) {
    throw invalidArgument("answers: each question needs at least one option");
  }
  let page: Shown = first;
  let after: ScreenCapture | undefined;
  for (const [at, indices] of answers.entries()) {
    after = await answerPage(asking, page, indices);
    if (at === answers.length - 1) break;
    if (after?.dialog === undefined) {
      const { watch } = asking.work;
      throw wrongState(watch, watch.state.state, `the program asked ${at + 1} of ${answers.length} questions`, WRITTEN);
    }
    page = after.dialog;
  }
  const review = after?.dialog;
  const marked = review?.options[review.marked ?? -1];
  if (review !== undefined && review.text !== page.text && marked !== undefined && CONFIRMS.test(marked.label)) {
    after = await answerPage(asking, review, [marked.index]);
  }
  return finish(asking, after);
}

/** What the mark stands on where all that is left is to say so. */
const CONFIRMS = /^(?:submit|confirm|done|finish)\b/i;
const WRITTEN = { textWritten: true } as const;
const writtenBy = ({ progress }: Work): Partial<typeof WRITTEN> => (progress.hasWritten ? WRITTEN : {});

/** Returns the first capture that shows something else; undefined when nothing changed in time. */
async function answerPage(asking: Asking, page: Shown, indices: readonly number[]): Promise<ScreenCapture | undefined> {
  const { watch } = asking.work;
  const wanted = [...new Set(indices)];
  const outside = wanted.find((index) => page.options[index] === undefined);
  if (outside !== undefined) {
    throw wrongState(
      watch,
      "asking",
      `the question has ${page.options.length} options and none with the number ${outside + 1}`,
    );
  }
  if (!page.multi && wanted.length > 1) {
    throw wrongState(watch, "asking", "the question takes one option, not several");
  }
  // Where several may be chosen, some may be already: what is chosen in the end is what was asked for.
  const pressed = page.multi
    ? page.options.map(({ index }) => index).filter((index) => isChecked(page, index) !== wanted.includes(index))
    : wanted;
  for (const index of pressed) {
    const from = await pressOption(asking, page, index);
    if (page.options[index]?.checked !== undefined) {
      const isSwitched = (now: Shown): boolean => isChecked(now, index) === wanted.includes(index);
      await untilShown(asking, page, isSwitched, from, "the option was not switched");
    } else if (page.multi) await redrawn(watch, from, asking.profile);
  }
  if (page.multi) {
    const isAsWanted = ({ options }: Shown): boolean =>
      options.every(({ index, checked = wanted.includes(index) }) => checked === wanted.includes(index));
    await pressOn(asking, page, ["Enter"], isAsWanted);
  }
  return changed(asking, page);
}

const isChecked = ({ options }: Shown, index: number): boolean => options[index]?.checked === true;

/**
 * Walks to an option and presses what chooses it (or, where several may be chosen, switches it). Returns the output after
 * which that shows.
 */
async function pressOption(asking: Asking, page: Shown, index: number): Promise<number> {
  const { work } = asking;
  const { watch } = work;
  for (let step = 0; step < MAX_DIALOG_STEPS; step += 1) {
    const { dialog } = await capturePage(asking, page);
    const keys = dialog.options[index]?.keys ?? [];
    const [key] = keys;
    if (key === undefined) {
      throw wrongState(watch, "asking", "nothing shows where the question's mark stands; press keys with input", {
        reason: "question_unreadable",
        ...writtenBy(work),
      });
    }
    const from = watch.source.outputSeq;
    const leads = ({ options }: Shown): boolean => options[index]?.keys[0] === key;
    if (!ARROWS.has(key)) {
      await pressOn(asking, page, keys, leads);
      return from;
    }
    await pressOn(asking, page, [key], leads);
    await untilShown(asking, page, ({ marked }) => marked !== dialog.marked, from, "the question's mark did not move");
  }
  throw wrongState(watch, "asking", "the question's mark could not be brought to the option", WRITTEN);
}

const ARROWS: ReadonlySet<string> = new Set(["Up", "Down", "Left", "Right"]);

/** The keys, once, on a screen that shows this page, on which they still do what is wanted. */
async function pressOn(
  asking: Asking,
  page: Shown,
  keys: readonly string[],
  isStill: (now: Shown) => boolean,
): Promise<void> {
  const { work } = asking;
  const { watch, deadlineMs } = work;
  while (watch.clock.nowMs() < deadlineMs) {
    const { now, dialog } = await capturePage(asking, page);
    if (!isStill(dialog)) {
      throw wrongState(
        watch,
        "asking",
        "somebody else moved the question's mark, or changed what is chosen",
        writtenBy(work),
      );
    }
    const beforeWrite = (): void => {
      asking.keyRead.isPressed();
      if (ARROWS.has(keys[0]!)) noteWrite(work);
      else noteEnter(work);
    };
    if (!(await work.keys.press(keys, now.capture, beforeWrite))) continue;
    work.progress.hasWritten = true;
    if (keys.at(-1) === "Enter") work.progress.enterPresses += 1;
    return;
  }
  throw new AppError("TIMEOUT", "the pane kept changing, so the question was not answered; try again", {
    details: writtenBy(work),
  });
}

/** A capture that shows this page; one without it may be a frame that is being drawn. @throws AppError WRONG_STATE */
async function capturePage(
  { work, profile }: Asking,
  page: Shown,
): Promise<{ now: ScreenCapture; dialog: SeenDialog }> {
  const { watch } = work;
  const untilMs = Math.min(work.deadlineMs, watch.clock.nowMs() + DIALOG_STEP_MS / 4);
  for (;;) {
    watch.requireThere();
    const { version } = watch;
    const now = await takeCapture(watch, profile);
    if (now.dialog !== undefined && isSame(now.dialog, page)) return { now, dialog: now.dialog };
    if (watch.clock.nowMs() >= untilMs) {
      throw wrongState(watch, watch.state.state, "that question is no longer open", writtenBy(work));
    }
    await watch.next(version, untilMs);
  }
}

const isSame = (a: Shown, b: Shown): boolean =>
  a.text === b.text &&
  a.options.length === b.options.length &&
  a.options.every((option, index) => option.label === b.options[index]?.label);

/** What the last key did. @throws AppError WRONG_STATE when it does not show: pressing again could do it twice. */
async function untilShown(
  { work, profile }: Asking,
  page: Shown,
  isIt: (now: Shown) => boolean,
  seq: number,
  otherwise: string,
): Promise<void> {
  const { watch } = work;
  const untilMs = watch.clock.nowMs() + DIALOG_STEP_MS;
  let capturedAt = seq;
  for (;;) {
    const { version } = watch;
    watch.requireThere();
    if (watch.source.outputSeq !== capturedAt) {
      const { capture, dialog } = await takeCapture(watch, profile);
      if (dialog !== undefined && isSame(dialog, page) && isIt(dialog)) return;
      capturedAt = capture.exact ? capture.position.outputSeq : -1;
    }
    if (watch.clock.nowMs() >= untilMs) break;
    await watch.next(version, untilMs);
  }
  throw wrongState(watch, "asking", `${otherwise}; look at the pane`, WRITTEN);
}

async function changed({ work, profile }: Asking, page: Shown): Promise<ScreenCapture | undefined> {
  const { watch } = work;
  const untilMs = watch.clock.nowMs() + DIALOG_STEP_MS;
  let capturedAt = -1;
  let bare: ScreenCapture | undefined;
  let seen: ScreenCapture | undefined;
  for (;;) {
    const { version } = watch;
    if (watch.hasEnded || watch.isLost) return undefined;
    if (watch.source.outputSeq !== capturedAt) {
      const now = await captureIfThere(watch, profile);
      if (now === undefined) return undefined;
      if (isAnother(now, page) && goesOn(now)) {
        // What looks like another question, or like none, may be this one, which is being drawn.
        const isBack = now.dialog === undefined && now.box !== undefined;
        const isWhole = isBack || (seen !== undefined && isSameOrNone(now.dialog, seen.dialog));
        if (isWhole || watch.clock.nowMs() >= untilMs) return now;
        seen = now;
        await watch.until(watch.clock.nowMs() + FRAME_MS);
        continue;
      }
      seen = undefined;
      bare = isAnother(now, page) ? now : undefined;
      capturedAt = now.capture.exact ? now.capture.position.outputSeq : -1;
    }
    if (bare !== undefined && (work.reader.isGone || watch.state.state === "busy")) return bare;
    if (watch.clock.nowMs() >= untilMs) return bare;
    await watch.next(version, untilMs);
  }
}

const isSameOrNone = (a: Shown | undefined, b: Shown | undefined): boolean =>
  a === undefined || b === undefined ? a === b : isSame(a, b);

const isAnother = ({ dialog }: ScreenCapture, page: Shown): boolean => dialog === undefined || !isSame(dialog, page);

async function finish({ work, profile, keyRead }: Asking, after: ScreenCapture | undefined): Promise<SubmitResult> {
  const { watch } = work;
  // A program that ends takes its question off the screen as well.
  const goes = profile.kind !== "agent" || after === undefined || (await work.reader.goesOnAfter(profile, keyRead));
  if (watch.isLost) return resultOf(work, "indeterminate");
  if (watch.hasEnded || watch.server.findPane(watch.pane) === undefined || work.reader.isGone) {
    // Whether the answer ended an agent is unknown once it has ended.
    return profile.kind === "agent" ? resultOf(work, "echoed_unconfirmed") : resultOf(work, "submitted", "readiness");
  }
  return after === undefined || !goes ? resultOf(work, "echoed_unconfirmed") : resultOf(work, "submitted", "screen");
}

/** Through the dialog's own way: its field for text, or the prompt box behind a dialog that closes. */
async function answerFreely(asking: Asking, dialog: Shown, text: string): Promise<SubmitResult> {
  const { work, profile } = asking;
  const { watch } = work;
  const { otherIndex } = dialog;
  if (otherIndex === undefined) {
    throw wrongState(watch, "asking", "the question takes one of its options, no other text; choose an option");
  }
  requirePasteable(watch, profile, text);
  const from = await pressOption(asking, dialog, otherIndex);
  await redrawn(watch, from, profile, DIALOG_STEP_MS);
  await watch.readiness.probe();
  let within: string | undefined;
  const before = await pasteAfterCapture(work, profile, text, (now) => {
    watch.requireThere();
    within = now.dialog?.text;
    if (within !== undefined && within !== dialog.text) throw anotherOpened(watch);
    const typed = within === undefined ? (now.box?.typed ?? "") : "";
    if (typed !== "") throw boxNotEmpty(watch, typed, WRITTEN);
    return true;
  });
  const result = await enterPrompt(work, { profile, text, before, gapMs: profile.submit.gapMs, within });
  return result === DROPPED ? resultOf(work, "echoed_unconfirmed") : result;
}

const anotherOpened = (watch: PaneWatch): AppError =>
  wrongState(watch, "asking", "another question has opened meanwhile; read it before answering", WRITTEN);
