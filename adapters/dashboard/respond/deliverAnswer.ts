/**
 * How an answer reaches the program: by its dialog when one is open, by its prompt box when none is. Where that is unknown,
 * because no profile knows the program or its question, the keys that the contract names are pressed. Text is never pressed
 * into a dialog with Enter: that would accept its default.
 */
import { type AddresseeRequest, findAddressee } from "../../../daemon/delivery/pane/addressee.ts";
import type { Delivery, PressStep, SubmitResult } from "../../../daemon/delivery/delivery.ts";
import type { Dialog, PaneReadiness, Readiness } from "../../../daemon/readiness/readiness.ts";
import { GENERIC_PROFILE } from "../../../daemon/readiness/profiles.ts";
import { sleep } from "../../../daemon/time/within.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { OpenQuestion } from "../agents/questions.ts";
import type { DashboardParts } from "../dashboardParts.ts";
import { knowsProgram } from "../panes/screenStates.ts";
import type { MultiAnswer, RespondRequest } from "./respondRequest.ts";

interface DeliverTarget {
  readonly pane: PaneId;
  readonly watch: PaneReadiness | undefined;
  readonly question: OpenQuestion | undefined;
  readonly addressee: AddresseeRequest;
}

export interface Delivered extends SubmitResult {
  /** The program's hook reports it as a prompt. */
  readonly isPrompt: boolean;
}

/** Two keys in one read count as a paste to some programs (docs/agentFacts.md). */
const KEY_GAP_MS = 60;

/** In the agent's timeline. */
const BY = "dashboard";

/** All but keys, which go to the pane as they are. */
export type Answer = Exclude<RespondRequest, { mode: "keys" }>;

/** @throws AppError as `Delivery`; INVALID_ARGUMENT for an option that the dialog does not have */
export async function deliverAnswer(
  context: DashboardParts,
  target: DeliverTarget,
  answer: Answer,
): Promise<Delivered> {
  const readiness = await readinessFor(target, answer);
  const isAsking = readiness?.state === "asking";
  if (isAsking && readiness.dialog !== undefined) return toDialog(context, target, readiness.dialog, answer);
  if (isAsking) {
    // The number of options is unknown, and Enter on one of them would choose it.
    const needsOptions = answer.mode === "text" || answer.mode === "other";
    if (needsOptions && (target.question?.options.length ?? 0) === 0) {
      throw new AppError("WRONG_STATE", "The agent asks something that could not be read; answer it in its pane.");
    }
    return pressKeys(context, target, answer);
  }
  if (answer.dialogId !== undefined) throw dialogGone();
  const isKnown = readiness !== undefined && knowsProgram(readiness.profile);
  if (answer.mode === "text" && (isKnown || (target.question?.options.length ?? 0) === 0)) {
    return submit(context, target, answer.text);
  }
  if (isKnown) throw dialogGone();
  return pressKeys(context, target, answer);
}

const dialogGone = (): AppError =>
  new AppError("WRONG_STATE", "The question is no longer on the agent's screen: it has been answered or taken back.");

/** Captures the screen again where a dialog is expected and none has been seen. */
async function readinessFor({ watch, question }: DeliverTarget, { mode }: Answer): Promise<Readiness | undefined> {
  if (watch === undefined) return undefined;
  const { current } = watch;
  const hasDialog = current.state === "asking" && current.dialog !== undefined;
  const expectsDialog = mode !== "text" || question?.kind !== "text" || current.state === "asking";
  return hasDialog || !expectsDialog ? current : watch.probe();
}

async function toDialog(
  context: DashboardParts,
  { pane, addressee }: DeliverTarget,
  dialog: Dialog,
  answer: Answer,
): Promise<Delivered> {
  const { server, delivery } = context;
  if (answer.dialogId !== undefined && answer.dialogId !== dialog.id) {
    throw new AppError("WRONG_STATE", "Another question has taken the place of this one; read it before you answer.");
  }
  const choose = async (how: Parameters<Delivery["choose"]>[0]["answer"]): Promise<Delivered> => {
    const result = await delivery.choose({ server, pane, answer: how, dialogId: dialog.id, addressee, by: BY });
    return { ...result, isPrompt: how.kind === "other" };
  };
  const chooseOption = (index: number): Promise<Delivered> =>
    choose(dialog.multi ? { kind: "multi", answers: [[index]] } : { kind: "option", index });
  switch (answer.mode) {
    case "text": {
      const option = optionMeant(dialog.options, answer.text);
      if (option !== undefined) return chooseOption(option);
      requireOther(dialog);
      return choose({ kind: "other", text: answer.text });
    }
    case "other":
      requireOther(dialog);
      return choose({ kind: "other", text: answer.text });
    case "select": {
      const option = dialog.options[answer.index];
      if (option === undefined) {
        const range = `option_index must be from 0 to ${dialog.options.length - 1}: ${optionList(dialog)}.`;
        throw new AppError("INVALID_ARGUMENT", range, { details: { field: "option_index" } });
      }
      if (answer.label !== undefined && !isSameLabel(answer.label, option.label)) {
        throw new AppError("WRONG_STATE", "The question has changed since you saw it; read it before you answer.");
      }
      return chooseOption(answer.index);
    }
    case "multi_select":
      return choose({ kind: "multi", answers: answer.answers.map(({ indices }) => indices) });
  }
}

function requireOther(dialog: Dialog): void {
  if (dialog.otherIndex !== undefined) return;
  throw new AppError("WRONG_STATE", `A dialog is open that takes no free text; its options are ${optionList(dialog)}.`);
}

type OptionName = Pick<Dialog["options"][number], "index" | "number" | "label">;

/** The option that a person means who types its number or its label. */
function optionMeant(options: readonly OptionName[], text: string): number | undefined {
  const typed = normal(text).replace(/^(\d{1,2})[.)]$/, "$1");
  const isNumbered = options.some(({ number }) => number !== undefined);
  return options.find(
    ({ index, number, label }) => (isNumbered ? number : String(index + 1)) === typed || normal(label) === typed,
  )?.index;
}

/** Labels on a screen may be cut, or followed by more than the tool called them. */
function isSameLabel(reported: string, shown: string): boolean {
  const [a, b] = [normal(reported), normal(shown)];
  return a === "" || b === "" || a.startsWith(b) || b.startsWith(a);
}

const normal = (text: string): string =>
  text
    .trim()
    .replaceAll(/\s+/g, " ")
    .replace(/(?:…|\.\.\.)$/, "")
    .toLowerCase();

const optionList = ({ options }: Dialog): string =>
  options.map(({ index, number, label }) => `${number ?? index + 1}. ${label}`).join(" / ");

async function submit(
  { server, delivery, settings: { clearFirst, gapMs } }: DashboardParts,
  { pane, addressee }: DeliverTarget,
  text: string,
): Promise<Delivered> {
  const how = { whileBusy: "queue", clearFirst, gapMs, addressee, by: BY } as const;
  return { ...(await delivery.submit({ server, pane, text, ...how })), isPrompt: true };
}

/**
 * For a question that cannot be read: the keys of the contract, one after the other, and text behind the last option.
 * Nothing shows whether they were right.
 */
async function pressKeys(
  { server, delivery }: DashboardParts,
  { pane, question, addressee }: DeliverTarget,
  answer: Answer,
): Promise<Delivered> {
  const steps = contractSteps(question?.options ?? [], answer);
  const result = await delivery.press({ server, pane, steps, gapMs: KEY_GAP_MS, addressee, by: BY });
  return { ...result, isPrompt: steps.some(({ kind }) => kind === "paste") };
}

function contractSteps(options: OpenQuestion["options"], answer: Answer): readonly PressStep[] {
  switch (answer.mode) {
    case "text":
    case "other": {
      // Where the program stands is not read, so its own numbers say nothing.
      const places = options.map(({ index, label }) => ({ index, label }));
      const meant = answer.mode === "text" ? optionMeant(places, answer.text) : undefined;
      if (meant !== undefined) return chosen([{ indices: [meant], isMulti: false }]);
      return [...down(options.length), ENTER, { kind: "paste", text: answer.text }, ENTER];
    }
    case "select":
      return chosen([{ indices: [answer.index], isMulti: false }]);
    case "multi_select":
      return [...chosen(answer.answers), ENTER];
  }
}

const key = (name: string): PressStep => ({ kind: "key", key: name });
const ENTER = key("Enter");
const down = (times: number): readonly PressStep[] => Array.from({ length: times }, () => key("Down"));

/** `Down` to each option, `Space` where several may be chosen, `Enter` after each question. */
const chosen = (answers: readonly MultiAnswer[]): readonly PressStep[] =>
  answers.flatMap(({ indices, isMulti }) => [
    ...indices.flatMap((index, at) => [...down(index - (indices[at - 1] ?? 0)), ...(isMulti ? [key("Space")] : [])]),
    ENTER,
  ]);

/**
 * Keys that a person presses from afar: at once, whatever is being delivered, and for the agent alone.
 * @throws AppError WRONG_STATE, NOT_FOUND, CONNECTION_LOST
 */
export async function pressSlowly(
  { server, clock }: DashboardParts,
  { pane, addressee: request }: Pick<DeliverTarget, "pane" | "addressee">,
  keys: readonly string[],
): Promise<void> {
  const arrival = { readers: request.readers, isNamed: false, hadAgent: false };
  const addressee = await findAddressee(server, pane, GENERIC_PROFILE, arrival, request);
  for (const [at, name] of keys.entries()) {
    if (at > 0) await sleep(clock, KEY_GAP_MS);
    await addressee.type(server, pane, [{ kind: "keys", keys: [name] }], at > 0);
  }
}
