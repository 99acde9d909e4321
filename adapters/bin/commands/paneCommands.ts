/** `tmuxwire send`, `capture`, `snapshot`, `resize` and `run`: type into a pane, read it, use the shell in it. */
import type { NativeCapture, NativeRunAnswer, NativeSnapshot } from "../../client/client.ts";
import type { CommandCall } from "../cli/commandTypes.ts";
import { INPUT_OPTIONS, inputOf } from "../cli/inputParts.ts";
import { operationCommand } from "../cli/operationCommand.ts";
import { PANE, TIMEOUT_OPTION, timeoutOf } from "../cli/paneArguments.ts";
import { usageError } from "../cli/parseCommand.ts";

export const sendCommand = operationCommand({
  operation: "input",
  name: "send",
  details: [
    "Text arrives byte for byte, then the keys, then Enter: one job, nothing of another sender between. Words are joined " +
      "with a blank; `-` alone sends standard input; text that begins with - goes after `--`.",
  ],
  positionals: [PANE, { gives: "parts", name: "TEXT", description: "what to type", optional: true, many: true }],
  options: INPUT_OPTIONS,
  examples: [
    { line: "tmuxwire send work --enter 'make test'", does: "a command line" },
    { line: "tmuxwire send work --key C-c", does: "a key" },
    { line: "tmuxwire send work --paste - < notes.txt", does: "a file, as a paste" },
  ],
  input: async (call) => {
    const parts = await inputOf(call, call.positionals.slice(1));
    if (parts === undefined) throw usageError("send needs something to type: TEXT, --key or --enter");
    return { parts };
  },
});

export const captureCommand = operationCommand<NativeCapture>({
  operation: "capture",
  name: "capture",
  positionals: [PANE],
  tweak: { lines: { short: "n" } },
  examples: [
    { line: "tmuxwire capture work", does: "the visible screen, without blank lines at its end" },
    { line: "tmuxwire capture %5 --lines 200 --json", does: "more of it, with its position in the stream" },
  ],
  show: ({ io }, { lines }) => {
    const used = lines.findLastIndex((line) => line !== "") + 1;
    return io.out(
      lines
        .slice(0, used)
        .map((line) => `${line}\n`)
        .join(""),
    );
  },
});

export const snapshotCommand = operationCommand<NativeSnapshot>({
  operation: "snapshot",
  name: "snapshot",
  details: ["They begin with a full reset. With --json they are base64, with their place in the stream."],
  positionals: [PANE],
  examples: [{ line: "tmuxwire snapshot work > screen.ansi", does: "for `cat`, in a terminal of that size" }],
  show: ({ io }, { data }) => io.out(Buffer.from(data, "base64")),
});

export const resizeCommand = operationCommand({
  operation: "resize",
  name: "resize",
  positionals: [
    PANE,
    { gives: "cols", name: "COLS", description: "width in columns" },
    { gives: "rows", name: "ROWS", description: "height in rows" },
  ],
  examples: [{ line: "tmuxwire resize work 120 40", does: "and every pane of its window with it" }],
});

export const runCommand = operationCommand<NativeRunAnswer>({
  operation: "run",
  name: "run",
  details: [
    "Prints the command's output and exits with its status. The pane must show a shell's prompt. Exit code 124 when the " +
      "time is over (the command goes on), 1 when the shell did not tell the status.",
  ],
  positionals: [
    PANE,
    {
      gives: "command",
      name: "COMMAND",
      description: "a line for the shell; words are joined with a blank",
      many: true,
    },
  ],
  members: [],
  options: [TIMEOUT_OPTION, { name: "raw", type: "flag", description: "print the bytes as they came, colours too" }],
  examples: [
    { line: "tmuxwire run work 'make test'", does: "and know whether it worked" },
    { line: "tmuxwire run work -t 600 -- ./deploy --now", does: "for up to ten minutes" },
  ],
  input: (call) => ({ ...timeoutOf(call), ...(call.options.flag("raw") ? { format: "raw" } : {}) }),
  show: (call, answer) => printOutput(call, answer, call.options.flag("raw")),
  exitCode: ({ exitCode }) => exitCode ?? 1,
});

async function printOutput({ io }: CommandCall, answer: NativeRunAnswer, raw: boolean): Promise<void> {
  if (answer.gaps.length > 0) io.err("tmuxwire: the beginning of the output is missing, there was too much of it\n");
  if (raw) {
    await io.out(Buffer.from(answer.output, "base64"));
    return;
  }
  if (answer.output !== "") await io.out(answer.output.endsWith("\n") ? answer.output : `${answer.output}\n`);
}
