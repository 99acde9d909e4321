/** `tmuxwire submit`: a prompt for the program in a pane, verified, with an exit code that says what became of it. */
import { NATIVE_MAX_DELIVERY_MS } from "../../protocol/api/nativeDelivery.ts";
import type { NativeDelivery } from "../native/client.ts";
import { PROFILES } from "../../daemon/readiness/profiles.ts";
import { CLIENT_OPTIONS, connect } from "./clientConnection.ts";
import type { CommandCall, CommandSpec } from "./commandTypes.ts";
import { readText } from "./inputParts.ts";
import { PANE, timeoutOf } from "./paneCommands.ts";

/** 10 (wrong state) and the others of the one table are for errors: nothing was delivered. */
export const SUBMIT_EXIT_CODES: Readonly<Record<NativeDelivery["outcome"], number>> = {
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
  indeterminate: "the connection was lost meanwhile, nobody knows: look at the pane before trying again",
};

/** One line already. */
const noteOf = ({ details }: NativeDelivery): string =>
  details?.screenNote === undefined ? "" : ` (it shows: ${details.screenNote})`;

export const submitCommand: CommandSpec = {
  name: "submit",
  summary: "give a prompt to the program in a pane",
  details: [
    "Types the text, sees it on the screen, presses Enter by itself, and sees that it was taken. Nothing is typed while the " +
      "program asks something, starts, shows nothing known (but see --while-unknown), or is busy (but see --queue). Words are joined with a blank; `-` alone reads the " +
      "text from standard input; text that begins with - goes after `--`.",
    "Exit code 0 submitted, 20 queued, 21 entered but not confirmed, 22 never shown and not entered, 23 undecided because " +
      "the connection was lost, 10 the program is in another state, 124 the time was over.",
  ],
  positionals: [PANE, { name: "TEXT", description: "the prompt; line ends stay inside it", many: true }],
  options: [
    { name: "queue", short: "q", type: "flag", description: "while it is busy, give it to a program that queues" },
    {
      name: "wait",
      short: "w",
      type: "flag",
      description: "while somebody's text is in the prompt box, wait until it is empty",
    },
    { name: "while-unknown", type: "flag", description: "type also while nothing known of the agent is on the screen" },
    { name: "clear", type: "flag", description: "empty the prompt box first" },
    { name: "literal", type: "flag", description: "keep the program from taking the text for a command of its own" },
    {
      name: "profile",
      type: "text",
      value: "NAME",
      description: "what the program is",
      default: "guessed",
      complete: PROFILES.map(({ name }) => name),
    },
    {
      name: "key",
      short: "k",
      type: "text",
      value: "KEY",
      description: "idempotency key: the same one again types nothing and answers what the first one did",
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
    ...CLIENT_OPTIONS,
  ],
  examples: [
    { line: "tmuxwire submit agent 'fix the failing test'", does: "a prompt" },
    { line: "tmuxwire submit agent --queue - < task.md", does: "a file, also while it works on something" },
    { line: "tmuxwire submit %5 --key task-17 --json 'go on'", does: "safe to repeat" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options, positionals } = call;
    const [pane = "", ...words] = positionals;
    const text = await readText(call, words);
    const profile = options.text("profile");
    const key = options.text("key");
    const answer = await (await connect(call)).pane(pane).submit(text, {
      ...timeoutOf(call),
      ...(options.flag("queue") ? { whileBusy: "queue" as const } : {}),
      ...(options.flag("wait") ? { whileTyping: "wait" as const } : {}),
      ...(options.flag("while-unknown") ? { whileUnknown: "type" as const } : {}),
      ...(options.flag("clear") ? { clearFirst: true } : {}),
      ...(options.flag("literal") ? { literal: true } : {}),
      ...(profile === undefined ? {} : { profile }),
      ...(key === undefined ? {} : { idempotencyKey: key }),
      signal: io.signal,
    });
    if (options.flag("json")) await io.out(`${JSON.stringify(answer)}\n`);
    else if (answer.outcome !== "submitted") io.err(`tmuxwire: ${WHAT_IT_MEANS[answer.outcome]}${noteOf(answer)}\n`);
    return SUBMIT_EXIT_CODES[answer.outcome];
  },
};
