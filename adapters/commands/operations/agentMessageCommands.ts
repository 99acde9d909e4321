/**
 * `tmuxwire tell`, `messages`, `cancel`: messages to agents. `agent-wait`, `answer`, `agent-interrupt`, `end`: for an agent's
 * own process, whatever its pane runs next.
 */
import {
  NATIVE_MAX_AGENT_WAIT_MS,
  NATIVE_MAX_MESSAGE_TTL_SEC,
  type MessageOutcome,
} from "../../../protocol/api/native/nativeAgentMessages.ts";
import type {
  NativeDelivery,
  NativeEndedAgent,
  NativeMessage,
  NativeTold,
  NativeWaitedAgent,
} from "../../client/client.ts";
import type { CommandCall, OptionSpec } from "../../cli/commandTypes.ts";
import { usageError } from "../../cli/parseCommand.ts";
import { printable, table } from "../../cli/textTable.ts";
import { ANSWER, ANSWER_OPTIONS, answerInput, exitCode, show } from "./deliveryCommands.ts";
import { readText } from "./inputParts.ts";
import { type GivingPositional, operationCommand } from "./operationCommand.ts";
import { AGENT, keyOption, TIMEOUT_OPTION, timeoutOf } from "./paneArguments.ts";
import { timeText } from "./waitingText.ts";

const MESSAGE: GivingPositional = {
  gives: "message",
  name: "MESSAGE",
  description: "its id, from `tmuxwire messages`",
};

/** Other exit codes, such as 10 (the agent has ended), are for errors: no message was kept. */
const EXIT_CODES: Readonly<Record<MessageOutcome, number>> = {
  waiting: 0,
  delivered: 0,
  refused: 10,
  unknown: 23,
  expired: 124,
  cancelled: 25,
  agent_ended: 26,
};

const WAIT_OPTION: OptionSpec = {
  ...TIMEOUT_OPTION,
  default: "600",
  max: NATIVE_MAX_AGENT_WAIT_MS / 1_000,
};

export const tellCommand = operationCommand<NativeTold>({
  operation: "tell",
  name: "tell",
  details: [
    "The message waits until the agent takes a prompt and nobody types into its box, survives the daemon, and goes to this " +
      "agent's process alone, in order and once. Words are joined with a space; `-` alone reads the text from standard " +
      "input; put text that begins with - after `--`. Prints the message's id, or with --wait done the agent's last words.",
    "Exit codes: 0 waiting or delivered; 10 refused; 23 unknown (it may have been taken, and is not repeated); 25 cancelled; " +
      "26 the agent ended; 124 expired, or timed out (the message stays).",
  ],
  positionals: [
    AGENT,
    { gives: "text", name: "TEXT", description: "the message; line breaks stay inside it", many: true },
  ],
  members: ["when"],
  options: [
    {
      name: "ttl",
      type: "text",
      value: "TIME",
      description: "give up if it was not typed within this time: 90, 90s, 15m, 2h, 7d",
      default: "1d",
    },
    {
      name: "wait",
      short: "w",
      type: "text",
      value: "WHAT",
      choices: ["none", "taken", "done"],
      description: "wait until it was taken, or until the turn that it began is over",
      default: "none",
    },
    { name: "or-asking", type: "flag", description: "while waiting, also return when the agent asks a question" },
    keyOption("tells nothing and returns the first message"),
    WAIT_OPTION,
  ],
  examples: [
    { line: "tmuxwire tell api 'now run the tests'", does: "as soon as it is ready" },
    { line: "tmuxwire tell api --wait done 'what is left?'", does: "prints its answer" },
    { line: "tmuxwire tell api --when now 'stop at the first failure'", does: "types it at once, or refuses" },
  ],
  input: async (call) => {
    const { options, positionals } = call;
    const ttl = options.text("ttl");
    return {
      text: await readText(call, positionals.slice(1)),
      ...timeoutOf(call),
      ...(ttl === undefined ? {} : { ttlSec: secondsOf(ttl) }),
      ...(options.flag("or-asking") ? { orAsking: true } : {}),
      wait: options.text("wait"),
    };
  },
  show: ({ io }, { id, outcome, reason, doneUnixMs, lastWords, question }) => {
    if (outcome !== "waiting" && outcome !== "delivered") return io.err(`tmuxwire: ${outcome}: ${reason ?? ""}\n`);
    if (question !== null) io.err(`tmuxwire: the agent asks: ${printable(question.text)}\n`);
    return io.out(doneUnixMs === null || lastWords === null ? `${id}\n` : `${printableLines(lastWords)}\n`);
  },
  exitCode: ({ outcome }) => EXIT_CODES[outcome],
});

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** @throws AppError INVALID_ARGUMENT */
function secondsOf(text: string): number {
  const [, digits, unit = "s"] = /^(\d{1,9})([smhd])?$/.exec(text) ?? [];
  const seconds = Number(digits) * (UNITS[unit] ?? 1);
  if (seconds >= 1 && seconds <= NATIVE_MAX_MESSAGE_TTL_SEC) return seconds;
  throw usageError(`--ttl must be a time from 1s to 30d, such as 15m, not ${JSON.stringify(text)}`);
}

/** Foreign text of several lines. */
const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");

const showMessages = ({ io }: CommandCall, { messages }: { readonly messages: readonly NativeMessage[] }) =>
  io.out(table(["MESSAGE", "AGENT", "OUTCOME", "TOLD", "WHY", "TEXT"], messages.map(messageRow)));

const messageRow = ({ id, name, outcome, createdUnixMs, doneUnixMs, reason, text }: NativeMessage): string[] => [
  id,
  name,
  outcome === "delivered" && doneUnixMs !== null ? "done" : outcome,
  timeText(createdUnixMs),
  reason ?? "-",
  text,
];

export const messagesCommand = operationCommand<{ readonly messages: readonly NativeMessage[] }>({
  operation: "listMessages",
  name: "messages",
  positionals: [{ ...AGENT, optional: true }],
  examples: [
    { line: "tmuxwire messages", does: "to every agent" },
    { line: "tmuxwire messages api", does: "to one" },
  ],
  show: showMessages,
});

export const agentMessagesCommand = operationCommand<{ readonly messages: readonly NativeMessage[] }>({
  operation: "agentMessages",
  name: "agent-messages",
  positionals: [AGENT],
  examples: [{ line: "tmuxwire agent-messages api", does: "the same as `tmuxwire messages api`" }],
  show: showMessages,
});

export const cancelCommand = operationCommand<NativeMessage>({
  operation: "cancelMessage",
  name: "cancel",
  positionals: [MESSAGE],
  examples: [{ line: "tmuxwire cancel msg-0a1b2c3d4e5f607182", does: "unless it is being typed" }],
});

export const agentWaitCommand = operationCommand<NativeWaitedAgent>({
  operation: "waitAgent",
  name: "agent-wait",
  details: [
    "Prints what the wait ended with, and the agent's last words or its question. Exit codes: 0 ready or done; 27 asking; 26 " +
      "ended; 28 stalled; 124 timed out.",
  ],
  positionals: [AGENT],
  members: [],
  options: [
    {
      name: "for",
      short: "f",
      type: "text",
      value: "WHAT",
      description: "any of ready, done, asking, ended, stalled, with commas between",
      default: "done,asking",
    },
    {
      name: "stalled",
      type: "number",
      value: "SECONDS",
      description: "stalled: busy and silent for so long",
      default: "120",
      min: 1,
      max: 3_600,
    },
    WAIT_OPTION,
  ],
  examples: [
    { line: "tmuxwire agent-wait api", does: "until it is done or asks" },
    { line: "tmuxwire agent-wait api --for done,asking,stalled --stalled 60 --timeout 3600", does: "or hangs" },
  ],
  input: (call) => {
    const stalled = call.options.number("stalled");
    return {
      for: (call.options.text("for") ?? "done,asking").split(","),
      ...(stalled === undefined ? {} : { stalledSec: stalled }),
      ...timeoutOf(call),
    };
  },
  show: ({ io }, { reached, agent, lastWords }) => {
    const words = reached === "asking" ? agent.question?.text : lastWords;
    return io.out(`${reached}\n${words === undefined || words === null ? "" : `${printableLines(words)}\n`}`);
  },
  exitCode: ({ reached }) => ({ ready: 0, done: 0, asking: 27, ended: 26, stalled: 28 })[reached],
});

export const answerCommand = operationCommand<NativeDelivery>({
  operation: "answerAgent",
  name: "answer",
  details: [
    "`tmuxwire agent AGENT --json` shows the question: its id, and its options counted from 0. OPTION and exit codes are " +
      "those of `tmuxwire choose`; only this agent's process is answered.",
  ],
  positionals: [AGENT, ANSWER],
  members: [],
  options: ANSWER_OPTIONS,
  examples: [
    { line: "tmuxwire answer api 0", does: "the first option" },
    { line: "tmuxwire answer api --other 'use the other file'", does: "with your own text" },
  ],
  input: answerInput,
  show,
  exitCode,
});

export const agentInterruptCommand = operationCommand({
  operation: "interruptAgent",
  name: "agent-interrupt",
  positionals: [AGENT],
  examples: [{ line: "tmuxwire agent-interrupt api", does: "returns when its turn has ended" }],
});

export const endCommand = operationCommand<NativeEndedAgent>({
  operation: "endAgent",
  name: "end",
  positionals: [AGENT],
  members: ["force"],
  options: [{ ...TIMEOUT_OPTION, description: "how long its own way may take", default: "10", max: 600 }],
  examples: [
    { line: "tmuxwire end api", does: "unless something would be lost" },
    { line: "tmuxwire end api --force", does: "whatever would be lost" },
  ],
  input: timeoutOf,
  show: ({ io }, { endedBy, cancelled }) => {
    if (cancelled > 0) io.err(`tmuxwire: ${cancelled} messages that waited were cancelled\n`);
    return endedBy === "itself" ? undefined : io.out(`${endedBy}\n`);
  },
});
