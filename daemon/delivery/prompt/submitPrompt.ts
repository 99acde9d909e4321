/**
 * One prompt, verified: paste, see it on the screen, let the program settle, Enter by itself, see it taken
 * (docs/agentFacts.md). Here what comes before Enter (`enterPrompt.ts`): what the program is doing, and the paste, which by
 * itself is inert. Nothing is pressed twice unless our text is still in the box.
 */
import { AppError } from "../../../protocol/errors.ts";
import { clip } from "../../../protocol/text/clip.ts";
import { encodeUtf8 } from "../../../protocol/text/utf8.ts";
import type { Profile } from "../../readiness/profile.ts";
import { bracketedPasteOf } from "../pane/bracketedPaste.ts";
import { clearBox, clearNextRow } from "./clearBox.ts";
import { DROPPED } from "./confirmTaken.ts";
import type { SubmitRequest, SubmitResult } from "../delivery.ts";
import { MAX_BOX_CHARS, MAX_CLEARED_ROWS, MAX_EXACT_CAPTURES, STARTED_WITHIN_MS } from "../deliveryLimits.ts";
import { enterPrompt, openDialog } from "./enterPrompt.ts";
import { LineCheck } from "./lineCheck.ts";
import { literalText } from "./literalText.ts";
import { goesOn, type ScreenCapture, takeCapture } from "../screen/screenCapture.ts";
import type { PaneWatch } from "../pane/paneWatch.ts";
import { wrongState } from "../pane/wrongState.ts";
import { needsBrackets, promptText } from "./promptText.ts";
import { untilStarted } from "./startedTitle.ts";
import { noteWrite, resultOf, type Work } from "../work.ts";

/** Whether a program is still new is looked at again after this: nothing tells when it has become old. */
const NEW_AGAIN_MS = 1_000;

type PromptRequest = Pick<
  SubmitRequest,
  "text" | "whileBusy" | "whileTyping" | "whileUnknown" | "clearFirst" | "gapMs" | "literal" | "addressee" | "onStage"
>;

/** @throws AppError WRONG_STATE, INVALID_ARGUMENT, TIMEOUT, NOT_FOUND, RESOURCE_LIMIT, CONNECTION_LOST */
export async function submitPrompt(work: Work, request: PromptRequest): Promise<SubmitResult> {
  const { watch, reader } = work;
  await settleState(watch);
  const profile = watch.profile;
  await reader.address(profile, request.addressee);
  await untilDrawn(work, profile, request);
  requireAccepting(watch, profile, request);
  const asked = promptText(request.text);
  const text = request.literal === true ? literalText(profile, asked) : asked;
  if (profile.kind === "agent") await untilBrackets(work);
  requirePasteable(watch, profile, text);
  const hasStarted = await untilStarted(work, profile);
  if (request.clearFirst === true) await clearBox(work, profile);
  const gapMs = request.gapMs ?? profile.submit.gapMs;
  const paste = async (): Promise<ScreenCapture> => pasteAtPrompt(work, profile, request, text);
  const result = await enterPrompt(work, { profile, text, before: await paste(), gapMs, hasStarted });
  if (result !== DROPPED) return result;
  // Once: if a program drops it twice, we do not know why.
  const again = await enterPrompt(work, { profile, text, before: await paste(), gapMs, hasStarted: true });
  return again === DROPPED ? resultOf(work, "echoed_unconfirmed") : again;
}

/**
 * A program that is starting takes a prompt once it has drawn itself: until then, or for as long as the caller waits. One
 * that has printed nothing for a while is starting, too, while it is new.
 */
async function untilDrawn(
  { watch, reader, deadlineMs }: Work,
  { kind }: Profile,
  { whileUnknown }: PromptRequest,
): Promise<void> {
  const maySoonBeKnown = (): boolean => kind === "agent" && whileUnknown !== "type" && reader.isNew;
  for (;;) {
    const { version } = watch;
    const { state } = watch.state;
    const isStarting = state === "starting" || (state === "unknown" && maySoonBeKnown());
    if (!isStarting || watch.clock.nowMs() >= deadlineMs) return;
    await watch.next(version, Math.min(watch.clock.nowMs() + NEW_AGAIN_MS, deadlineMs));
    watch.requireThere();
    reader.requireReading();
  }
}

/**
 * Until the program asks for pastes in brackets, for as long as a start takes: one may say that it is ready and draw its
 * box first, and the shell that started it has turned them off. One that is new may need as long as the caller waits.
 */
async function untilBrackets({ watch, reader, deadlineMs }: Work): Promise<void> {
  const { clock } = watch;
  const untilMs = clock.nowMs() + STARTED_WITHIN_MS;
  for (;;) {
    const { version } = watch;
    const nowMs = clock.nowMs();
    const isLate = nowMs >= deadlineMs || (nowMs >= untilMs && !reader.isNew);
    if (bracketedPasteOf(watch.source) !== "off" || isLate) return;
    await watch.next(version, Math.min(nowMs < untilMs ? untilMs : nowMs + NEW_AGAIN_MS, deadlineMs));
    watch.requireThere();
    reader.requireReading();
  }
}

/** A pane that was not watched has not been captured yet. */
export async function settleState(watch: PaneWatch): Promise<void> {
  watch.requireThere();
  if (watch.isFresh || watch.state.state === "unknown") await watch.readiness.probe();
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
      throw stillStarting(watch);
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
        `nothing that is known of ${name} is on the screen, so the text could answer something else; look at the pane, run ` +
          `\`tmuxwire wait ${watch.pane} --ready\` if it is starting, or ask to type anyhow (whileUnknown)`,
        { reason: "screen_unknown" },
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
      `${name} accepts no paste now, so it is not reading a prompt; look at the pane`,
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

/** Returns the capture made before it. */
async function pasteAtPrompt(
  work: Work,
  profile: Profile,
  request: PromptRequest,
  text: string,
): Promise<ScreenCapture> {
  const { watch, deadlineMs, reader } = work;
  let line = new LineCheck(work, profile);
  let clearsLeft = request.clearFirst === true && profile.kind !== "agent" ? MAX_CLEARED_ROWS : 0;
  return pasteAfterCapture(work, profile, text, async (now, version) => {
    requireAccepting(watch, profile, request);
    // One that runs what somebody has entered takes none meanwhile.
    if (profile.kind !== "agent") requirePasteable(watch, profile, text);
    if (now.dialog !== undefined) throw openDialog(now, "a question is open in the pane; answer it first");
    // It may be ready by the title that its predecessor has left, or by the box.
    const isDrawn = goesOn(now) && !(profile.kind === "agent" && reader.hasPrintedNothing);
    if (!isDrawn && reader.isNew && request.whileUnknown !== "type") {
      await untilNext(work, version);
      return false;
    }
    const typed = now.box?.typed ?? (await line.typed(now.capture));
    if (typed === undefined) return false;
    if (typed === "") return true;
    if (clearsLeft > 0 && line.isEdited) {
      clearsLeft -= (await clearNextRow(work, profile, now)) ?? clearsLeft;
      line = new LineCheck(work, profile);
      return false;
    }
    if (request.whileTyping !== "wait" || watch.clock.nowMs() >= deadlineMs) throw boxNotEmpty(watch, typed);
    request.onStage?.("held");
    // Others may interrupt a turn or answer a question meanwhile.
    await work.whileFree(async () => {
      await watch.next(version, Math.min(line.againAtMs, deadlineMs));
      if (watch.clock.nowMs() >= deadlineMs) throw boxNotEmpty(watch, typed);
    });
    return false;
  });
}

/** Until something shows, or the program is not new any more. @throws AppError WRONG_STATE when the caller waits no longer */
async function untilNext({ watch, deadlineMs, whileFree }: Work, version: number): Promise<void> {
  const { clock } = watch;
  await whileFree(async () => {
    await watch.next(version, Math.min(clock.nowMs() + NEW_AGAIN_MS, deadlineMs));
    if (clock.nowMs() >= deadlineMs) throw stillStarting(watch);
  });
}

const stillStarting = (watch: PaneWatch): AppError =>
  wrongState(
    watch,
    "starting",
    `the program is still starting and would lose the prompt; run \`tmuxwire wait ${watch.pane} --ready\` first`,
  );

export const boxNotEmpty = (
  watch: PaneWatch,
  typed: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError =>
  wrongState(
    watch,
    watch.state.state,
    watch.profile.kind === "agent"
      ? "the prompt box already holds text, and both would become one prompt; empty it (clearFirst), or wait (whileTyping)"
      : "the line already holds text, and both would be run as one; empty it (clearFirst), or wait (whileTyping)",
    { reason: "box_not_empty", box: clip(typed, MAX_BOX_CHARS), ...details },
  );

/**
 * What is not in brackets could answer a dialog: then nothing may have arrived between the capture and the paste.
 * @param require gets the capture, and the version before it; false: capture again
 */
export async function pasteAfterCapture(
  work: Work,
  profile: Profile,
  text: string,
  require: (now: ScreenCapture, version: number) => boolean | Promise<boolean>,
): Promise<ScreenCapture> {
  const { watch, reader, keys, deadlineMs } = work;
  const parts = [{ kind: "paste", bytes: encodeUtf8(text) }] as const;
  const beforeWrite = (): void => noteWrite(work);
  const isInert = profile.kind === "agent" && bracketedPasteOf(watch.source) === "on";
  for (let tries = 1; tries <= MAX_EXACT_CAPTURES && watch.clock.nowMs() < deadlineMs;) {
    const { version } = watch;
    const now = await takeCapture(watch, profile);
    // What is on the screen then belongs to another program.
    reader.requireReading();
    if (!(await require(now, version))) continue;
    tries += 1;
    if (isInert) await keys.type(parts, beforeWrite);
    else if (!(await keys.typeOn(now.capture, parts, beforeWrite))) continue;
    work.progress.hasWritten = true;
    return now;
  }
  throw new AppError("TIMEOUT", "the pane kept changing, so nothing was typed; try again when less is printed");
}
