/** `tmuxwire send`, `capture` and `run`: type into a pane, read it, use the shell in it. */
import type { NativeRunAnswer } from "../native/client.ts";
import { CLIENT_OPTIONS, connect } from "./clientConnection.ts";
import type { CommandCall, CommandSpec, OptionSpec, PositionalSpec } from "./commandTypes.ts";
import { INPUT_OPTIONS, inputOf } from "./inputParts.ts";
import { usageError } from "./parseCommand.ts";

export const PANE: PositionalSpec = {
  name: "PANE",
  description: "a pane such as %5 or 5, or a session's name: its active pane",
};

const MAX_TIMEOUT_SEC = 3_600;
export const TIMEOUT_OPTION: OptionSpec = {
  name: "timeout",
  short: "t",
  type: "number",
  value: "SECONDS",
  description: "give up after this long, with exit code 124",
  default: "30",
  min: 0.001,
  max: MAX_TIMEOUT_SEC,
};

export const timeoutOf = ({ options }: CommandCall): { timeoutMs?: number } => {
  const seconds = options.number("timeout");
  return seconds === undefined ? {} : { timeoutMs: Math.ceil(seconds * 1_000) };
};

export const sendCommand: CommandSpec = {
  name: "send",
  summary: "type into a pane",
  details: [
    "Text arrives byte for byte, then the keys, then Enter: one job, nothing of another sender between. Words are joined " +
      "with a blank; `-` alone sends standard input; text that begins with - goes after `--`.",
  ],
  positionals: [PANE, { name: "TEXT", description: "what to type", optional: true, many: true }],
  options: [...INPUT_OPTIONS, ...CLIENT_OPTIONS],
  examples: [
    { line: "tmuxwire send work --enter 'make test'", does: "a command line" },
    { line: "tmuxwire send work --key C-c", does: "a key" },
    { line: "tmuxwire send work --paste - < notes.txt", does: "a file, as a paste" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options, positionals } = call;
    const [pane = "", ...words] = positionals;
    const parts = await inputOf(call, words);
    if (parts === undefined) throw usageError("send needs something to type: TEXT, --key or --enter");
    const receipt = await (await connect(call)).pane(pane).input(parts, { signal: io.signal });
    if (options.flag("json")) await io.out(`${JSON.stringify(receipt)}\n`);
    return 0;
  },
};

export const captureCommand: CommandSpec = {
  name: "capture",
  summary: "print what a pane shows",
  positionals: [PANE],
  options: [
    {
      name: "lines",
      short: "n",
      type: "number",
      value: "N",
      description: "the last lines of history and screen, up to 5000",
      min: 1,
      max: 5_000,
    },
    { name: "joined", type: "flag", description: "join lines that tmux wrapped" },
    { name: "ansi", type: "flag", description: "keep colours and attributes" },
    ...CLIENT_OPTIONS,
  ],
  examples: [
    { line: "tmuxwire capture work", does: "the visible screen, without blank lines at its end" },
    { line: "tmuxwire capture %5 --lines 200 --json", does: "more of it, with its position in the stream" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options, positionals } = call;
    const [pane = ""] = positionals;
    const capture = await (await connect(call)).pane(pane).capture({
      lines: options.number("lines"),
      ...(options.flag("joined") ? { joined: true } : {}),
      ...(options.flag("ansi") ? { ansi: true } : {}),
      signal: io.signal,
    });
    if (options.flag("json")) {
      await io.out(`${JSON.stringify(capture)}\n`);
      return 0;
    }
    const used = capture.lines.findLastIndex((line) => line !== "") + 1;
    await io.out(
      capture.lines
        .slice(0, used)
        .map((line) => `${line}\n`)
        .join(""),
    );
    return 0;
  },
};

export const runCommand: CommandSpec = {
  name: "run",
  summary: "run a command in a pane's shell",
  details: [
    "Prints the command's output and exits with its status. The pane must show a shell's prompt. Exit code 124 when the " +
      "time is over (the command goes on), 1 when the shell did not tell the status.",
  ],
  positionals: [
    PANE,
    { name: "COMMAND", description: "a line for the shell; words are joined with a blank", many: true },
  ],
  options: [
    TIMEOUT_OPTION,
    { name: "raw", type: "flag", description: "print the bytes as they came, colours too" },
    ...CLIENT_OPTIONS,
  ],
  examples: [
    { line: "tmuxwire run work 'make test'", does: "and know whether it worked" },
    { line: "tmuxwire run work -t 600 -- ./deploy --now", does: "for up to ten minutes" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options, positionals } = call;
    const [pane = "", ...words] = positionals;
    const raw = options.flag("raw");
    const answer = await (await connect(call)).pane(pane).run(words.join(" "), {
      ...timeoutOf(call),
      ...(raw ? { format: "raw" as const } : {}),
      signal: io.signal,
    });
    if (options.flag("json")) await io.out(`${JSON.stringify(answer)}\n`);
    else await printOutput(call, answer, raw);
    return answer.exitCode ?? 1;
  },
};

async function printOutput({ io }: CommandCall, answer: NativeRunAnswer, raw: boolean): Promise<void> {
  if (answer.gaps.length > 0) io.err("tmuxwire: the beginning of the output is missing, there was too much of it\n");
  if (raw) {
    await io.out(Buffer.from(answer.output, "base64"));
    return;
  }
  if (answer.output !== "") await io.out(answer.output.endsWith("\n") ? answer.output : `${answer.output}\n`);
}
