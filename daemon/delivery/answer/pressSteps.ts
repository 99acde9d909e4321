/** Steps given by the caller, typed one by one for one process: nothing is started that cannot be finished. */
import { invalidArgument } from "../../../protocol/errors.ts";
import { encodeUtf8 } from "../../../protocol/text/utf8.ts";
import { isKeyName } from "../../panes/input/keys.ts";
import type { InputPart } from "../../tmux/io.ts";
import type { PressRequest, PressStep, SubmitResult } from "../delivery.ts";
import { promptText } from "../prompt/promptText.ts";
import { requirePasteable } from "../prompt/submitPrompt.ts";
import { noteEnter, noteWrite, resultOf, type Work } from "../work.ts";

/** @throws AppError WRONG_STATE, INVALID_ARGUMENT, NOT_FOUND, CONNECTION_LOST */
export async function pressSteps(work: Work, { steps, gapMs, addressee }: PressRequest): Promise<SubmitResult> {
  const { watch, reader, keys } = work;
  watch.requireThere();
  const profile = watch.profile;
  await reader.address(profile, addressee);
  const parts = steps.map(partOf);
  for (const step of steps) if (step.kind === "paste") requirePasteable(watch, profile, step.text);
  for (const [at, part] of parts.entries()) {
    if (at > 0) await watch.until(watch.clock.nowMs() + gapMs);
    const isEnter = part.kind === "keys" && part.keys[0] === "Enter";
    await keys.type([part], () => (isEnter ? noteEnter(work) : noteWrite(work)));
    work.progress.hasWritten = true;
    if (isEnter) work.progress.enterPresses += 1;
  }
  return resultOf(work, "echoed_unconfirmed");
}

function partOf(step: PressStep): InputPart {
  if (step.kind === "paste") return { kind: "paste", bytes: encodeUtf8(promptText(step.text)) };
  if (isKeyName(step.key)) return { kind: "keys", keys: [step.key] };
  throw invalidArgument(`Invalid key token: ${step.key}`);
}
