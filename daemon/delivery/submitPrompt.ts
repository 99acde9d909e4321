/**
 * One prompt, verified: paste, see it on the screen, let the program settle, Enter by itself, see it taken
 * (docs/agentFacts.md). The dangerous key is Enter: at a dialog it approves what nobody approved. So it is pressed only on
 * an exact look that shows our text and no dialog, in the turn in which nothing else has arrived since; a paste by itself is
 * inert. Nothing is pressed twice unless our text is still in the box.
 */
import { AppError } from "../../protocol/errors.ts";
import { profileNamed } from "../readiness/profiles.ts";
import type { Profile } from "../readiness/profile.ts";
import { bracketedPasteOf } from "./bracketedPaste.ts";
import { clearBox } from "./clearBox.ts";
import { confirmTaken, DROPPED, type Entered, holdsOnly } from "./confirmTaken.ts";
import type { SubmitRequest, SubmitResult } from "./delivery.ts";
import {
  ECHO_BYTES_PER_MS,
  ECHO_WITHIN_MS,
  MAX_BOX_CHARS,
  MAX_EXACT_LOOKS,
  QUIET_WITHIN_MS,
} from "./deliveryLimits.ts";
import { drawnSince } from "./drawnText.ts";
import { type EchoPlace, type EchoProbe, echoProbe, findEcho, findShown, relocate } from "./echo.ts";
import { EnterRead } from "./enterRead.ts";
import { literalText } from "./literalText.ts";
import { type Look, takeLook } from "./look.ts";
import { type PaneWatch, wrongState } from "./paneWatch.ts";
import { needsBrackets, promptText } from "./promptText.ts";
import { untilStarted } from "./startedTitle.ts";
import { noteEnter, noteWrite, resultOf, type Work } from "./work.ts";

type PromptRequest = Pick<
  SubmitRequest,
  "text" | "whileBusy" | "whileTyping" | "whileUnknown" | "clearFirst" | "gapMs" | "literal" | "addressee"
>;

/** @throws AppError WRONG_STATE, INVALID_ARGUMENT, TIMEOUT, NOT_FOUND, RESOURCE_LIMIT, CONNECTION_LOST */
export async function submitPrompt(work: Work, request: PromptRequest): Promise<SubmitResult> {
  const { watch } = work;
  await settleState(watch);
  const profile = profileNamed(watch.state.profile);
  await watch.address(profile, request.addressee);
  requireAccepting(watch, profile, request);
  const asked = promptText(request.text);
  const text = request.literal === true ? literalText(profile, asked) : asked;
  requirePasteable(watch, profile, text);
  const hasStarted = await untilStarted(watch, profile, work.deadlineMs);
  if (request.clearFirst === true) await clearBox(work, profile);
  const gapMs = request.gapMs ?? profile.submit.gapMs;
  const paste = async (): Promise<Look> => pasteAtPrompt(work, profile, request, text);
  const result = await enterPrompt(work, { profile, text, before: await paste(), gapMs, hasStarted });
  if (result !== DROPPED) return result;
  // Once: a program that drops it twice is not understood.
  const again = await enterPrompt(work, { profile, text, before: await paste(), gapMs, hasStarted: true });
  return again === DROPPED ? resultOf(work, "echoed_unconfirmed") : again;
}

/** A title is settled within this, or the screen is not known (docs/agentFacts.md 12, 18). */
const UNKNOWN_SETTLES_MS = 500;

/** A pane that nobody has watched has not been looked at. */
export async function settleState(watch: PaneWatch): Promise<void> {
  watch.requireThere();
  if (watch.isFresh || watch.state.state === "unknown") await watch.readiness.look();
  // A title that has just changed is believed only after the frame that belongs to it.
  const untilMs = watch.clock.nowMs() + UNKNOWN_SETTLES_MS;
  while (watch.state.state === "unknown" && watch.clock.nowMs() < untilMs) {
    if (profileNamed(watch.state.profile).kind !== "agent") return;
    await watch.next(watch.version, untilMs);
  }
  watch.requireThere();
}

function requireAccepting(watch: PaneWatch, profile: Profile, { whileBusy, whileUnknown }: PromptRequest): void {
  const { name, kind, submit } = profile;
  watch.requireThere();
  const { state } = watch.state;
  switch (state) {
    case "asking":
      throw wrongState(
        watch,
        state,
        "a question is open in the pane; answer it first, text would answer it by accident",
      );
    case "starting":
      throw wrongState(watch, state, "the program is starting and would lose the prompt; wait until it is ready");
    case "dead":
      throw wrongState(watch, state, "the program in the pane has ended; start it again");
    case "busy":
      if (whileBusy !== "queue") {
        throw wrongState(watch, state, "the program is busy; wait until it is idle, or ask to queue the prompt");
      }
      if (!submit.queues) {
        throw wrongState(
          watch,
          state,
          `${name} does not queue prompts: one now would disturb its turn; wait until it is idle`,
        );
      }
      return;
    case "unknown":
      if (kind !== "agent" || whileUnknown === "type") return;
      throw wrongState(
        watch,
        state,
        `nothing that is known of ${name} is on the screen, so text may answer something; look at the pane, or ask to type ` +
          "anyhow (whileUnknown)",
      );
    case "idle":
  }
}

/**
 * Without brackets a paste is keys. To an agent a letter among them could answer a dialog that opens meanwhile; elsewhere
 * each line end would submit what is before it. An agent always asks for brackets while it reads a prompt.
 */
export function requirePasteable(watch: PaneWatch, { name, kind }: Profile, text: string): void {
  const brackets = bracketedPasteOf(watch.source);
  if (kind === "agent") {
    if (brackets !== "off") return;
    throw wrongState(
      watch,
      watch.state.state,
      `${name} does not take pastes now, so it reads no prompt; look at the pane`,
    );
  }
  if (brackets === "on" || !needsBrackets(text)) return;
  throw new AppError(
    "INVALID_ARGUMENT",
    "the program takes no bracketed paste as far as is known, so each line end would submit the line before it and tabs " +
      "would complete; give one line without tabs, or type it with input",
    { details: { bracketedPaste: brackets } },
  );
}

const encoder = new TextEncoder();

/** Returns the look before. */
async function pasteAtPrompt(work: Work, profile: Profile, request: PromptRequest, text: string): Promise<Look> {
  const { watch, deadlineMs } = work;
  return pasteAfterLook(work, profile, text, async (look) => {
    requireAccepting(watch, profile, request);
    if (look.dialog !== undefined) throw openDialog(look, "a question is open in the pane; answer it first");
    const typed = look.box?.typed ?? "";
    if (typed === "") return true;
    const { version } = watch;
    if (request.whileTyping !== "wait" || watch.clock.nowMs() >= deadlineMs) throw boxNotEmpty(watch, typed);
    await watch.next(version, deadlineMs);
    if (watch.clock.nowMs() >= deadlineMs) throw boxNotEmpty(watch, typed);
    return false;
  });
}

export const boxNotEmpty = (
  watch: PaneWatch,
  typed: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError =>
  wrongState(
    watch,
    watch.state.state,
    "somebody's text stands in the prompt box, and both would become one prompt; empty it (clearFirst), or wait " +
      "(whileTyping)",
    { reason: "box_not_empty", box: typed.slice(0, MAX_BOX_CHARS), ...details },
  );

/**
 * What is not in brackets could answer a dialog: then nothing may have arrived between the look and the paste.
 * @param require false: look again
 */
export async function pasteAfterLook(
  work: Work,
  profile: Profile,
  text: string,
  require: (look: Look) => boolean | Promise<boolean>,
): Promise<Look> {
  const { watch, deadlineMs } = work;
  const parts = [{ kind: "paste", bytes: encoder.encode(text) }] as const;
  const beforeWrite = (): void => noteWrite(work);
  const isInert = profile.kind === "agent" && bracketedPasteOf(watch.source) === "on";
  for (let tries = 1; tries <= MAX_EXACT_LOOKS && watch.clock.nowMs() < deadlineMs;) {
    const look = await takeLook(watch, profile);
    if (!(await require(look))) continue;
    tries += 1;
    if (isInert) await watch.type(parts, beforeWrite);
    else if (!(await watch.typeOn(look.capture, parts, beforeWrite))) continue;
    work.progress.hasWritten = true;
    return look;
  }
  throw new AppError("TIMEOUT", "the pane never held still, so nothing was typed; try again when less is printed");
}

export interface Pasted {
  readonly profile: Profile;
  readonly text: string;
  /** The screen before the paste. */
  readonly before: Look;
  readonly gapMs: number;
  /** It had said that it has started: what it is given now it does not drop. Default true. */
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
  if (entered === undefined) return resultOf(work, watch.state.state === "busy" ? "submitted" : "indeterminate");
  const { before, within, hasStarted = true } = pasted;
  return confirmTaken(work, { profile, probe, before, within, hasStarted, ...entered });
}

/** Looks whenever something was drawn, until the text is there or it is time. */
async function seeEcho(work: Work, pasted: Pasted, probe: EchoProbe): Promise<EchoPlace | undefined> {
  const { watch } = work;
  const { text, before, profile } = pasted;
  const withinMs = ECHO_WITHIN_MS + Buffer.byteLength(text) / ECHO_BYTES_PER_MS;
  const untilMs = Math.min(work.deadlineMs, watch.clock.nowMs() + withinMs);
  const from = work.progress.position?.outputSeq ?? watch.source.outputSeq;
  let lookedAt = from;
  for (;;) {
    const { version } = watch;
    requireNoDialog(watch, undefined, pasted);
    if (watch.source.outputSeq !== lookedAt) {
      const look = await takeLook(watch, profile);
      requireNoDialog(watch, look, pasted);
      const found =
        findEcho(probe, before.screen, look.screen) ??
        (drawnSince(watch.source, from, probe) ? findShown(probe, look.screen) : undefined);
      if (found !== undefined) return found;
      lookedAt = look.capture.exact ? look.capture.position.outputSeq : -1;
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
): Promise<Pick<Entered, "place" | "atEnter" | "enterSeq" | "enterRead"> | undefined> {
  const { watch, deadlineMs } = work;
  const { profile, probe, pastedMs, readyMs } = seen;
  let missing = 0;
  while (watch.clock.nowMs() < deadlineMs) {
    const { quietMs } = profile.submit;
    await untilQuiet(watch, pastedMs, readyMs, profile.kind === "agent" ? Math.max(quietMs, FRAME_MS) : quietMs);
    requireNoDialog(watch, undefined, seen);
    const { version } = watch;
    const look = await takeLook(watch, profile);
    requireNoDialog(watch, look, seen);
    const place = relocate(probe, seen.seen, look.screen);
    if (place === undefined) {
      // A frame that is being drawn lacks it for a moment.
      if ((missing += 1) > MAX_LOOKS_WITHOUT) return undefined;
      await watch.next(version, watch.clock.nowMs() + MISSING_MS);
      continue;
    }
    if (seen.within === undefined && !holdsOnly(look, probe, seen.text, place)) {
      if ((missing += 1) > MAX_LOOKS_WITHOUT) {
        if (look.box?.typed === "") return undefined;
        throw boxChanged(watch, look.box?.typed ?? "");
      }
      await watch.next(version, watch.clock.nowMs() + MISSING_MS);
      continue;
    }
    const atEnter = watch.state;
    let enterSeq = 0;
    const enterRead = new EnterRead(watch);
    const beforeWrite = (): void => {
      enterSeq = watch.source.outputSeq;
      enterRead.isPressed();
      requireNoDialog(watch, undefined, seen);
      noteEnter(work);
    };
    if (!(await watch.press(["Enter"], look.capture, beforeWrite))) continue;
    work.progress.enterPresses += 1;
    return { place, atEnter, enterSeq, enterRead };
  }
  throw new AppError("TIMEOUT", "the text is in the prompt, but the pane never held still, so Enter was not pressed", {
    details: { textWritten: true, enterPresses: 0 },
  });
}

const boxChanged = (watch: PaneWatch, typed: string): AppError =>
  wrongState(
    watch,
    watch.state.state,
    "somebody typed into the prompt box meanwhile, so Enter was not pressed; the text is in the box, look at the pane",
    { reason: "box_changed", box: typed.slice(0, MAX_BOX_CHARS), textWritten: true, enterPresses: 0 },
  );

const MAX_LOOKS_WITHOUT = 3;
const MISSING_MS = 200;

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
function requireNoDialog(watch: PaneWatch, look: Look | undefined, { within }: Pasted): void {
  watch.requireThere();
  watch.requireAddressee();
  const message =
    "a question has opened before Enter was pressed; answer it, then look whether the text is in the prompt";
  if (look?.dialog !== undefined && look.dialog.text !== within) throw openDialog(look, message, { textWritten: true });
  if (look === undefined && within === undefined && watch.state.state === "asking") {
    throw wrongState(watch, "asking", message, { textWritten: true, enterPresses: 0 });
  }
}

function openDialog(
  { dialog, profile }: Look,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError {
  const seen = dialog === undefined ? undefined : { ...dialog, id: dialog.digest };
  return wrongState({ state: { profile: profile.name, dialog: seen } }, "asking", message, details);
}
