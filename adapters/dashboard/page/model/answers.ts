/** A person's answer, as the body of `POST /api/respond/:id`. */
import type { NativeChooseRequest } from "../../../../protocol/api/native/nativeDelivery.ts";
import type { Question, QuestionOption } from "./agentCard.ts";

/** tmux key names of the quick keys, and their buttons' labels. */
export const QUICK_KEYS = [
  { keys: ["Enter"], label: "Enter", says: "Press Enter" },
  { keys: ["Escape"], label: "Esc", says: "Press Escape: reject the dialog or interrupt" },
  { keys: ["C-c"], label: "C-c", says: "Press Control-C: may end the program" },
  { keys: ["1"], label: "1", says: "Press 1" },
  { keys: ["2"], label: "2", says: "Press 2" },
  { keys: ["3"], label: "3", says: "Press 3" },
  { keys: ["y"], label: "y", says: "Press y" },
  { keys: ["n"], label: "n", says: "Press n" },
] as const;

interface Choice {
  readonly indices: readonly number[];
  readonly isMulti: boolean;
}

export type Answer =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "option"; readonly option: QuestionOption }
  | { readonly kind: "other"; readonly text: string }
  /** One for each part of the question, in its order. */
  | { readonly kind: "several"; readonly choices: readonly Choice[] }
  | { readonly kind: "keys"; readonly keys: readonly string[] };

/** `dialog_id` keeps an answer from reaching a dialog that has replaced the one shown. */
export function respondBody(answer: Answer, question: Question | undefined): Readonly<Record<string, unknown>> {
  const dialog = question === undefined || question.dialog_id === null ? {} : { dialog_id: question.dialog_id };
  switch (answer.kind) {
    case "text":
      return { mode: "text", text: answer.text };
    case "option":
      return { mode: "select", option_index: answer.option.index, option_label: answer.option.label, ...dialog };
    case "other":
      return { mode: "other", text: answer.text, ...dialog };
    case "several":
      return {
        mode: "multi_select",
        answers: answer.choices.map(({ indices, isMulti }) =>
          isMulti ? { option_indices: [...indices].sort((a, b) => a - b) } : { option_index: indices[0] },
        ),
        ...dialog,
      };
    case "keys":
      return { mode: "keys", keys: answer.keys };
  }
}

/** The same for an agent on another machine: the body of its operation `answer`; undefined: it takes no such answer. */
export function farAnswerBody(answer: Answer, question: Question | undefined): NativeChooseRequest | undefined {
  const dialog = question === undefined || question.dialog_id === null ? {} : { dialogId: question.dialog_id };
  switch (answer.kind) {
    case "option":
      return { answer: { kind: "option", index: answer.option.index }, ...dialog };
    case "other":
      return { answer: { kind: "other", text: answer.text }, ...dialog };
    case "several":
      return { answer: { kind: "multi", answers: answer.choices.map(({ indices }) => [...indices]) }, ...dialog };
    case "text":
    case "keys":
      return undefined;
  }
}

type TextUse = "text" | "other" | "none";

/** What typed text would be: an answer, the dialog's own "other", or nothing that the dialog accepts. */
export function textUseOf(question: Question | undefined): TextUse {
  if (question === undefined || question.options.length === 0) return "text";
  return question.other_index === null ? "none" : "other";
}

/** The option for a number key: the one with this number, or in a list without numbers the one at this position. */
export function optionForDigit(question: Question | undefined, digit: string): QuestionOption | undefined {
  const options = question?.options ?? [];
  const numbered = options.some((option) => option.number !== null);
  return numbered ? options.find((option) => option.number === digit) : options[Number(digit) - 1];
}

/** Whether these are the same question to a person who is about to press a button. */
export const sameQuestion = (a: Question | undefined, b: Question | undefined): boolean =>
  a?.dialog_id === b?.dialog_id &&
  a?.text === b?.text &&
  a?.kind === b?.kind &&
  a?.options.length === b?.options.length &&
  (a?.options.every((option, place) => option.label === b?.options[place]?.label) ?? true);

/** Whether a press meant for `before` could answer `now`: not when it is the same question with more details. */
export const replaces = (before: Question | undefined, now: Question | undefined): boolean =>
  before !== undefined &&
  (before.turn_id !== now?.turn_id || (before.dialog_id !== null && before.dialog_id !== now?.dialog_id));
