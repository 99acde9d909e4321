/** `tmuxwire notify`: where people are told what agents need when no page is open. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ADDRESS_KINDS, type NativeChannel, NOTICE_KINDS } from "../../../protocol/api/native/nativeNotifications.ts";
import type { OperationName } from "../../../protocol/api/operationRoutes.ts";
import { ERROR_SURFACES, invalidArgument } from "../../../protocol/errors.ts";
import type { CommandCall, CommandSpec, OptionSpec } from "../../cli/commandTypes.ts";
import { actionWords } from "../../cli/parseCommand.ts";
import { printable } from "../../cli/textTable.ts";
import { CLIENT_OPTIONS, connect } from "../connection/clientConnection.ts";
import { memberOptions } from "./operationCommand.ts";
import { timeText } from "./waitingText.ts";

const ACTIONS = ["ls", "add", "rm", "test"] as const;
type Action = (typeof ACTIONS)[number];
const OPERATION: Readonly<Record<Action, OperationName>> = {
  ls: "listChannels",
  add: "addChannel",
  rm: "removeChannel",
  test: "testChannel",
};
/** How many words each takes after itself. */
const WORDS: Readonly<Record<Action, readonly string[]>> = {
  ls: [],
  add: ["KIND", "URL"],
  rm: ["NAME"],
  test: ["NAME"],
};
const MEMBERS = memberOptions("addChannel", ["name", "on", "text", "quiet", "answers"], {
  on: { value: "EVENT[,…]", description: `what is told: ${NOTICE_KINDS.join(", ")}; default: all but stalled` },
  text: { description: "send the question's text and an agent's last words, too; default: only names" },
  quiet: { value: "FROM-TO", description: "when nothing is sent, by the daemon's clock, such as 22:00-07:00" },
  answers: {
    value: "ADDRESS",
    description: "ntfy: the dashboard's address as the phone reaches it: buttons answer questions; sends text, too",
  },
});
const BEARER_FILE: OptionSpec = {
  name: "bearer-file",
  type: "text",
  value: "FILE",
  description: "has the token that ntfy or the webhook wants",
  complete: "file",
};

export const notifyCommand: CommandSpec = {
  name: "notify",
  summary: "tell your phone or a chat when an agent asks or is done",
  details: [
    "A channel is an ntfy topic, a Slack or Discord webhook, or any URL that takes JSON. Only names are sent (of the agent, " +
      "its program and its directory) unless --text is given. Keep addresses secret: whoever knows one can read along or write.",
    "A browser is added on the dashboard's page (Notify me), and listed, tested and removed here: its kind is push.",
    "test exits with 69 when the test could not be sent.",
  ],
  positionals: [
    { name: "ACTION", description: "what to do", choices: ACTIONS, optional: true },
    { name: "KIND", description: `${ADDRESS_KINDS.join(", ")}; or the channel's name`, optional: true },
    { name: "URL", description: "where it is sent", optional: true },
  ],
  options: [...MEMBERS.values(), BEARER_FILE, ...CLIENT_OPTIONS.filter(({ name }) => name !== "server")],
  examples: [
    { line: "tmuxwire notify add ntfy https://ntfy.sh/my-secret-topic", does: "every question, to your phone" },
    { line: "tmuxwire notify test ntfy", does: "sends a test" },
    { line: "tmuxwire notify", does: "each channel, and whether it can be reached" },
    { line: "tmuxwire notify rm ntfy", does: "nothing more is sent" },
  ],
  run: async (call) => {
    const { io, options } = call;
    const [action, ...words] = actionWords(call.positionals, WORDS);
    const [first = "", url = ""] = words;
    const input = { ...optionsOf(call, action), ...(action === "add" ? { kind: first, url } : {}) };
    const names = action === "rm" || action === "test" ? { notification: first } : {};
    const client = await connect(call);
    const output = await client.perform<object>(OPERATION[action], names, input, { signal: io.signal });
    if (options.flag("json")) await io.out(`${JSON.stringify(output)}\n`);
    if (options.flag("json") || action === "rm" || action === "test") return 0;
    const channels = "channels" in output ? (output.channels as readonly NativeChannel[]) : [output as NativeChannel];
    await io.out(channels.map((channel) => `${line(channel)}\n`).join(""));
    const isFailing = channels.some(({ failingSinceUnixMs }) => failingSinceUnixMs !== null);
    return isFailing ? ERROR_SURFACES.DAEMON_UNREACHABLE.exitCode : 0;
  },
};

function optionsOf({ io, options }: CommandCall, action: Action): object {
  const file = options.text(BEARER_FILE.name);
  const on = options.list("on").flatMap((word) => word.split(","));
  const given = {
    name: options.text("name"),
    on: on.length === 0 ? undefined : on,
    text: options.flag("text") ? true : undefined,
    quiet: options.text("quiet"),
    answers: options.text("answers"),
    token: file === undefined ? undefined : tokenIn(resolve(io.cwd, file)),
  };
  const members = Object.entries(given).filter(([, value]) => value !== undefined);
  const [member] = members;
  if (member !== undefined && action !== "add") {
    throw invalidArgument(`--${member[0] === "token" ? BEARER_FILE.name : member[0]} belongs to \`notify add\``);
  }
  return Object.fromEntries(members);
}

function tokenIn(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw invalidArgument(`--bearer-file cannot be read: ${(error as Error).message}`);
  }
}

/** `phone: ntfy https://ntfy.sh/..., tells asking, host; sent 12:04:11`. */
function line(channel: NativeChannel): string {
  const { name, kind, url, on, quiet, answers, waiting, lost, sentUnixMs, failingSinceUnixMs, why } = channel;
  const words = [
    `${kind} ${url}`,
    `tells ${on.join(" ")}`,
    ...(answers ? ["buttons answer"] : []),
    ...(quiet === null ? [] : [`quiet ${quiet}`]),
    ...(sentUnixMs === null ? [] : [`sent ${timeText(sentUnixMs)}`]),
    ...(waiting === 0 ? [] : [`${waiting} waiting`]),
    ...(lost === 0 ? [] : [`${lost} lost`]),
    ...(failingSinceUnixMs === null ? [] : [`fails since ${timeText(failingSinceUnixMs)}: ${why ?? ""}`]),
  ];
  return printable(`${name}: ${words.join(", ")}`);
}
