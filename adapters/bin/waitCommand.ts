/** `tmuxwire wait`: until a pane shows something, falls silent, is at its prompt, or ends. */
import type { NativePredicates, NativeWaitRequest } from "../native/client.ts";
import { READINESS_STATE_NAMES } from "../../protocol/api/nativeReadiness.ts";
import { CLIENT_OPTIONS, connect } from "./clientConnection.ts";
import type { CommandCall, CommandSpec } from "./commandTypes.ts";
import { INPUT_OPTIONS, inputOf } from "./inputParts.ts";
import { PANE, TIMEOUT_OPTION, timeoutOf } from "./paneCommands.ts";
import { usageError } from "./parseCommand.ts";
import { printable } from "./textTable.ts";

export const waitCommand: CommandSpec = {
  name: "wait",
  summary: "wait for output, silence, a prompt or the end",
  details: [
    "All that is asked for must hold; with --any one of them is enough. Only output from now on counts, unless --from says " +
      "otherwise. With --send the wait is armed before the text is typed, and its echo does not count. Prints the matched " +
      "text. Exits with 124 when the time is over.",
  ],
  positionals: [PANE],
  options: [
    { name: "text", type: "text", value: "TEXT", description: "this text, as it is" },
    {
      name: "regex",
      type: "text",
      value: "REGEX",
      description: "this regular expression (RE2); ^ and $ at every line",
    },
    { name: "ignore-case", short: "i", type: "flag", description: "with --regex: upper and lower case are the same" },
    { name: "stable", type: "number", value: "SECONDS", description: "no output for this long", min: 0.01, max: 3_600 },
    { name: "exit", type: "flag", description: "the program has ended" },
    { name: "prompt", type: "flag", description: "the output ends in what looks like a shell's prompt" },
    { name: "gone", type: "flag", description: "the pane is gone" },
    {
      name: "ready",
      type: "text",
      value: "STATE",
      description: "its program is in this state",
      choices: READINESS_STATE_NAMES,
      implied: "idle",
    },
    { name: "any", type: "flag", description: "one of these is enough" },
    {
      name: "from",
      type: "text",
      value: "WHERE",
      description: "where to begin to look: now, tail:LINES, or a position such as k3Jd9:1024",
      default: "now",
      complete: ["now"],
    },
    {
      name: "on",
      type: "text",
      value: "WHERE",
      description: "stream: the output; screen: also what the screen shows of it, blanks trimmed",
      default: "stream",
      choices: ["stream", "screen"],
    },
    { name: "send", short: "s", type: "text", value: "TEXT", description: "type this once the wait is armed" },
    ...INPUT_OPTIONS,
    TIMEOUT_OPTION,
    ...CLIENT_OPTIONS,
  ],
  examples: [
    {
      line: "tmuxwire wait work --send 'make test' --enter --regex '(passed|failed)$'",
      does: "type, and know the end",
    },
    {
      line: "tmuxwire wait work --send python3 --enter --regex '>>>$' --on screen",
      does: "a prompt as a capture shows it",
    },
    { line: "tmuxwire wait work --prompt --stable 0.5", does: "the shell is back and quiet" },
    { line: "tmuxwire wait agent --ready --timeout 600", does: "an agent that takes a prompt again" },
    { line: "tmuxwire wait build --exit --timeout 600", does: "a program that was made with `new --keep`" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options, positionals } = call;
    const [pane = ""] = positionals;
    const sent = options.text("send");
    const parts = await inputOf(call, sent === undefined ? [] : [sent]);
    const request: NativeWaitRequest = {
      ...asked(call),
      ...(options.text("from") === undefined ? {} : { from: options.text("from") }),
      ...(options.text("on") === "screen" ? { on: "screen" as const } : {}),
      ...timeoutOf(call),
      ...(parts === undefined ? {} : { send: { parts } }),
    };
    const answer = await (await connect(call)).pane(pane).wait(request, { signal: io.signal });
    if (options.flag("json")) {
      await io.out(`${JSON.stringify(answer)}\n`);
      return 0;
    }
    const text = answer.matched.find((match) => match.text !== undefined)?.text;
    if (text !== undefined) await io.out(`${text.split("\n").map(printable).join("\n")}\n`);
    return 0;
  },
};

/** The predicates, together or each on its own. @throws AppError INVALID_ARGUMENT when there is none. */
function asked({ options }: CommandCall): NativePredicates | { anyOf: NativePredicates[] } {
  const [text, regex, stable] = [options.text("text"), options.text("regex"), options.number("stable")];
  const ready = options.text("ready");
  const any = options.flag("any");
  if (text !== undefined && regex !== undefined && !any) {
    throw usageError("--text and --regex go together with --any only: a wait has one pattern");
  }
  const ignoreCase = options.flag("ignore-case");
  const sets: NativePredicates[] = [
    ...(text === undefined ? [] : [{ pattern: { literal: text } }]),
    ...(regex === undefined ? [] : [{ pattern: { regex, ...(ignoreCase ? { ignoreCase } : {}) } }]),
    ...(stable === undefined ? [] : [{ stableSec: stable }]),
    ...(ready === undefined ? [] : [{ ready: ready as NonNullable<NativePredicates["ready"]> }]),
    ...(["exit", "prompt", "gone"] as const).filter((name) => options.flag(name)).map((name) => ({ [name]: true })),
  ];
  if (sets.length === 0) {
    throw usageError(
      "wait needs something to wait for: --text, --regex, --stable, --exit, --prompt, --gone or --ready",
    );
  }
  return any ? { anyOf: sets } : Object.assign({}, ...sets);
}
