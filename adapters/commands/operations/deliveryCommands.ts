/**
 * `tmuxwire submit` and `choose` give the program in a pane a prompt or an answer to its dialog, verify it, and exit with
 * a code for the outcome. `interrupt` and `clear` press the program's own keys.
 */
import { NATIVE_MAX_DELIVERY_MS } from "../../../protocol/api/native/nativeDelivery.ts";
import type { NativeChooseRequest, NativeDelivery } from "../../client/client.ts";
import type { CommandCall, OptionSpec } from "../../cli/commandTypes.ts";
import { readText } from "./inputParts.ts";
import { type GivingPositional, operationCommand } from "./operationCommand.ts";
import { keyOption, PANE, PANE_OR_THIS, TIMEOUT_OPTION, timeoutOf } from "./paneArguments.ts";
import { PROFILE_NAMES } from "../../agents/profileNames.ts";
import { usageError } from "../../cli/parseCommand.ts";

/** Other exit codes, such as 10 (wrong state), are for errors: nothing was delivered. */
export const SUBMIT_EXIT_CODES: Readonly<Record<NativeDelivery["outcome"], number>> = {
  submitted: 0,
  queued: 20,
  echoed_unconfirmed: 21,
  not_echoed: 22,
  indeterminate: 23,
};

const WHAT_IT_MEANS: Readonly<Record<NativeDelivery["outcome"], string>> = {
  submitted: "submitted",
  queued: "queued: the program is busy and will take it later",
  echoed_unconfirmed: "Enter was pressed, but the program did not confirm it: look at the pane",
  not_echoed: "the text did not appear on the screen, so Enter was not pressed: look at the pane",
  indeterminate: "the connection was lost before the outcome was known: look at the pane, then try again",
};

/** `screenNote` is one line. */
const noteOf = ({ details }: NativeDelivery): string =>
  details?.screenNote === undefined ? "" : ` (it shows: ${details.screenNote})`;

const KEY_AND_TIMEOUT: readonly OptionSpec[] = [
  keyOption("types nothing and returns the first outcome"),
  { ...TIMEOUT_OPTION, description: "give up after this long", default: "10", max: NATIVE_MAX_DELIVERY_MS / 1_000 },
];

/** Of the commands that answer a question. */
export const ANSWER_OPTIONS: readonly OptionSpec[] = [
  {
    name: "other",
    type: "text",
    value: "TEXT",
    description: "answer with this text instead, through the dialog's own option for it",
  },
  { name: "multi", type: "flag", description: "the dialog takes several options, even if only one is given" },
  { name: "dialog", type: "text", value: "ID", description: "answer only this dialog" },
  ...KEY_AND_TIMEOUT,
];

export const ANSWER: GivingPositional = {
  gives: "answer",
  name: "OPTION",
  description: "an option, counted from 0, or several with commas between",
  optional: true,
  many: true,
};

export const show = ({ io }: CommandCall, delivery: NativeDelivery): void => {
  if (delivery.outcome !== "submitted") io.err(`tmuxwire: ${WHAT_IT_MEANS[delivery.outcome]}${noteOf(delivery)}\n`);
};
export const exitCode = ({ outcome }: NativeDelivery): number => SUBMIT_EXIT_CODES[outcome];

export const submitCommand = operationCommand<NativeDelivery>({
  operation: "submit",
  name: "submit",
  details: [
    "Types the text, waits until the screen shows it, presses Enter, and verifies that the program took it. Types nothing " +
      "while the program has a question open, is starting, is in an unknown state (see --while-unknown) or is busy (see " +
      "--queue). Words are joined with a space; `-` alone reads the text from standard input; put text that begins with - " +
      "after `--`.",
    "Exit codes: 0 submitted; 20 queued; 21 entered but not confirmed; 22 never shown, so not entered; 23 unknown because " +
      "the connection was lost; 10 the program was in another state; 124 timed out.",
  ],
  positionals: [
    PANE,
    { gives: "text", name: "TEXT", description: "the prompt; line breaks stay inside it", many: true },
  ],
  members: ["literal"],
  options: [
    {
      name: "queue",
      short: "q",
      type: "flag",
      description: "submit also while the program is busy, if it queues prompts",
    },
    {
      name: "wait",
      short: "w",
      type: "flag",
      description: "while the prompt box or the line holds text, wait until it is empty",
    },
    { name: "while-unknown", type: "flag", description: "type also while the agent's state is unknown" },
    { name: "clear", type: "flag", description: "empty the prompt box or the line first" },
    {
      name: "profile",
      type: "text",
      value: "NAME",
      description: "the program's profile",
      default: "guessed",
      complete: PROFILE_NAMES,
    },
    ...KEY_AND_TIMEOUT,
  ],
  examples: [
    { line: "tmuxwire submit agent 'fix the failing test'", does: "a prompt" },
    { line: "tmuxwire submit agent --queue - < task.md", does: "a file, even while the agent is busy" },
    { line: "tmuxwire submit %5 --key task-17 --json 'go on'", does: "safe to repeat" },
  ],
  input: async (call) => {
    const { options, positionals } = call;
    return {
      text: await readText(call, positionals.slice(1)),
      ...timeoutOf(call),
      ...(options.flag("queue") ? { whileBusy: "queue" } : {}),
      ...(options.flag("wait") ? { whileTyping: "wait" } : {}),
      ...(options.flag("while-unknown") ? { whileUnknown: "type" } : {}),
      ...(options.flag("clear") ? { clearFirst: true } : {}),
      profile: options.text("profile"),
    };
  },
  show,
  exitCode,
});

export const chooseCommand = operationCommand<NativeDelivery>({
  operation: "choose",
  name: "choose",
  details: [
    "`tmuxwire show PANE --json` shows the dialog: its id, and its options counted from 0. One index chooses that option; " +
      "with several arguments, each answers one question, with commas between the options of one. Exit codes are those of " +
      "`submit`.",
  ],
  positionals: [PANE, ANSWER],
  members: [],
  options: ANSWER_OPTIONS,
  examples: [
    { line: "tmuxwire choose agent 0", does: "the first option" },
    { line: "tmuxwire choose agent --other 'use the other file'", does: "with your own text" },
    { line: "tmuxwire choose agent 0,2 1", does: "two options of the first question, one of the second" },
  ],
  input: answerInput,
  show,
  exitCode,
});

/** @throws AppError INVALID_ARGUMENT */
export function answerInput(call: CommandCall): object {
  return { answer: answerOf(call), ...timeoutOf(call), dialogId: call.options.text("dialog") };
}

/** @throws AppError INVALID_ARGUMENT */
function answerOf({ options, positionals }: CommandCall): NativeChooseRequest["answer"] {
  const text = options.text("other");
  const words = positionals.slice(1);
  if ((text === undefined) === (words.length === 0)) throw usageError("give either OPTION or --other TEXT");
  if (text !== undefined) return { kind: "other", text };
  const answers = words.map((word) => word.split(",").map(indexOf));
  const [[index = 0, ...rest] = [], ...others] = answers;
  const isMulti = options.flag("multi") || rest.length > 0 || others.length > 0;
  return isMulti ? { kind: "multi", answers } : { kind: "option", index };
}

function indexOf(word: string): number {
  if (!/^\d{1,3}$/.test(word)) throw usageError(`OPTION must be an integer from 0, not ${JSON.stringify(word)}`);
  return Number(word);
}

export const interruptCommand = operationCommand({
  operation: "interrupt",
  name: "interrupt",
  positionals: [PANE_OR_THIS],
  examples: [{ line: "tmuxwire interrupt agent", does: "returns when its turn has ended" }],
});

export const clearCommand = operationCommand({
  operation: "clear",
  name: "clear",
  positionals: [PANE_OR_THIS],
  examples: [{ line: "tmuxwire clear agent", does: "empty its prompt box" }],
});
