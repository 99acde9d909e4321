/**
 * `tmuxwire submit` and `choose`: a prompt for the program in a pane, an answer to its dialog, verified, with an exit code
 * for the outcome. `interrupt` and `clear`: the program's own keys.
 */
import { NATIVE_MAX_DELIVERY_MS } from "../../../protocol/api/nativeDelivery.ts";
import type { NativeChooseRequest, NativeDelivery } from "../../client/client.ts";
import type { CommandCall, OptionSpec } from "../../cli/commandTypes.ts";
import { readText } from "./inputParts.ts";
import { operationCommand } from "./operationCommand.ts";
import { PANE, PANE_OR_THIS, profileNames, timeoutOf } from "./paneArguments.ts";
import { usageError } from "../../cli/parseCommand.ts";

/** 10 (wrong state) and the table's other codes are for errors: nothing was delivered. */
const SUBMIT_EXIT_CODES: Readonly<Record<NativeDelivery["outcome"], number>> = {
  submitted: 0,
  queued: 20,
  echoed_unconfirmed: 21,
  not_echoed: 22,
  indeterminate: 23,
};

const WHAT_IT_MEANS: Readonly<Record<NativeDelivery["outcome"], string>> = {
  submitted: "submitted",
  queued: "queued: the program is busy and keeps it for later",
  echoed_unconfirmed: "Enter was pressed, but nothing says that the program took it: look at the pane",
  not_echoed: "the program never showed the text, so Enter was not pressed: look at the pane",
  indeterminate: "the connection was lost before the outcome was known: look at the pane before trying again",
};

/** `screenNote` is one line. */
const noteOf = ({ details }: NativeDelivery): string =>
  details?.screenNote === undefined ? "" : ` (it shows: ${details.screenNote})`;

const DELIVERY_OPTIONS: readonly OptionSpec[] = [
  {
    name: "key",
    short: "k",
    type: "text",
    value: "KEY",
    description: "idempotency key: the same one again types nothing and returns what the first one did",
  },
  {
    name: "timeout",
    short: "t",
    type: "number",
    value: "SECONDS",
    description: "give up after this long",
    default: "10",
    min: 0.001,
    max: NATIVE_MAX_DELIVERY_MS / 1_000,
  },
];

const idempotencyKey = ({ options }: CommandCall): string | undefined => options.text("key");

const show = ({ io }: CommandCall, delivery: NativeDelivery): void => {
  if (delivery.outcome !== "submitted") io.err(`tmuxwire: ${WHAT_IT_MEANS[delivery.outcome]}${noteOf(delivery)}\n`);
};
const exitCode = ({ outcome }: NativeDelivery): number => SUBMIT_EXIT_CODES[outcome];

export const submitCommand = operationCommand<NativeDelivery>({
  operation: "submit",
  name: "submit",
  details: [
    "Types the text, sees it on the screen, presses Enter by itself, and sees that it was taken. Nothing is typed while the " +
      "program asks something, starts, shows nothing known (but see --while-unknown), or is busy (but see --queue). Words are joined with a blank; `-` alone reads the " +
      "text from standard input; text that begins with - goes after `--`.",
    "Exit code 0 submitted, 20 queued, 21 entered but not confirmed, 22 never shown and not entered, 23 undecided because " +
      "the connection was lost, 10 the program is in another state, 124 the time was over.",
  ],
  positionals: [PANE, { gives: "text", name: "TEXT", description: "the prompt; line ends stay inside it", many: true }],
  members: ["literal"],
  options: [
    { name: "queue", short: "q", type: "flag", description: "while it is busy, give it to a program that queues" },
    {
      name: "wait",
      short: "w",
      type: "flag",
      description: "while the prompt box holds somebody's text, wait until it is empty",
    },
    { name: "while-unknown", type: "flag", description: "type also while nothing known of the agent is on the screen" },
    { name: "clear", type: "flag", description: "empty the prompt box first" },
    {
      name: "profile",
      type: "text",
      value: "NAME",
      description: "what the program is",
      default: "guessed",
      complete: profileNames,
    },
    ...DELIVERY_OPTIONS,
  ],
  examples: [
    { line: "tmuxwire submit agent 'fix the failing test'", does: "a prompt" },
    { line: "tmuxwire submit agent --queue - < task.md", does: "a file, also while it works on something" },
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
  idempotencyKey,
  show,
  exitCode,
});

export const chooseCommand = operationCommand<NativeDelivery>({
  operation: "choose",
  name: "choose",
  details: [
    "`tmuxwire pane PANE --json` shows the dialog: its id, and its options from 0. One index chooses that option; several " +
      "arguments answer one question each, with commas between the options of one. Exit codes are those of `submit`.",
  ],
  positionals: [
    PANE,
    {
      gives: "answer",
      name: "OPTION",
      description: "which option, from 0, or several with commas between",
      optional: true,
      many: true,
    },
  ],
  members: [],
  options: [
    { name: "other", type: "text", value: "TEXT", description: "free text instead, in the dialog's own way for it" },
    { name: "multi", type: "flag", description: "options that are switched, also where only one is given" },
    { name: "dialog", type: "text", value: "ID", description: "the dialog that is meant; another one is not answered" },
    ...DELIVERY_OPTIONS,
  ],
  examples: [
    { line: "tmuxwire choose agent 0", does: "the first option" },
    { line: "tmuxwire choose agent --other 'use the other file'", does: "in one's own words" },
    { line: "tmuxwire choose agent 0,2 1", does: "two options of the first question, one of the second" },
  ],
  input: (call) => ({ answer: answerOf(call), ...timeoutOf(call), dialogId: call.options.text("dialog") }),
  idempotencyKey,
  show,
  exitCode,
});

/** @throws AppError INVALID_ARGUMENT */
function answerOf({ options, positionals }: CommandCall): NativeChooseRequest["answer"] {
  const text = options.text("other");
  const words = positionals.slice(1);
  if ((text === undefined) === (words.length === 0)) throw usageError("choose needs OPTION, or --other TEXT");
  if (text !== undefined) return { kind: "other", text };
  const answers = words.map((word) => word.split(",").map(indexOf));
  const [[index = 0, ...rest] = [], ...others] = answers;
  const isMulti = options.flag("multi") || rest.length > 0 || others.length > 0;
  return isMulti ? { kind: "multi", answers } : { kind: "option", index };
}

function indexOf(word: string): number {
  if (!/^\d{1,3}$/.test(word)) throw usageError(`OPTION is a number from 0, not ${JSON.stringify(word)}`);
  return Number(word);
}

export const interruptCommand = operationCommand({
  operation: "interrupt",
  name: "interrupt",
  positionals: [PANE_OR_THIS],
  examples: [{ line: "tmuxwire interrupt agent", does: "its turn has ended when this returns" }],
});

export const clearCommand = operationCommand({
  operation: "clear",
  name: "clear",
  positionals: [PANE_OR_THIS],
  examples: [{ line: "tmuxwire clear agent", does: "empty its prompt box" }],
});
