/** `tmuxwire send`, `capture`, `snapshot` and `resize`: type into a pane, read it, change its size. */
import type { NativeCapture, NativeSnapshot } from "../../client/client.ts";
import { INPUT_OPTIONS, inputOf } from "./inputParts.ts";
import { operationCommand } from "./operationCommand.ts";
import { PANE, PANE_OR_THIS } from "./paneArguments.ts";
import { PROFILE_NAMES } from "../../agents/profileNames.ts";
import { usageError } from "../../cli/parseCommand.ts";

export const sendCommand = operationCommand({
  operation: "input",
  name: "send",
  details: [
    "Types the text byte for byte, then the keys, then Enter, as one job that other senders cannot interrupt. Words are " +
      "joined with a space; `-` alone sends standard input; put text that begins with - after `--`.",
  ],
  positionals: [PANE, { gives: "parts", name: "TEXT", description: "what to type", optional: true, many: true }],
  tweak: { profile: { value: "NAME", complete: PROFILE_NAMES } },
  options: INPUT_OPTIONS,
  examples: [
    { line: "tmuxwire send work --enter 'make test'", does: "type a command line" },
    { line: "tmuxwire send work --key C-c", does: "press a key" },
    { line: "tmuxwire send work --profile shell --enter ls", does: "only while a shell reads from the pane" },
    { line: "tmuxwire send work --paste - < notes.txt", does: "paste a file" },
  ],
  input: async (call) => {
    const parts = await inputOf(call, call.positionals.slice(1));
    if (parts === undefined) throw usageError("nothing to send: give TEXT, --key or --enter");
    return { parts };
  },
});

export const captureCommand = operationCommand<NativeCapture>({
  operation: "capture",
  name: "capture",
  positionals: [PANE_OR_THIS],
  tweak: { lines: { short: "n" } },
  examples: [
    { line: "tmuxwire capture work", does: "the visible screen, without blank lines at its end" },
    { line: "tmuxwire capture %5 --lines 200 --json", does: "with history, and its position in the stream" },
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
  details: [
    "They begin with a full reset. A terminal gets only the drawing sequences. With --json they are base64, with their position in the stream.",
  ],
  positionals: [PANE_OR_THIS],
  examples: [
    { line: "tmuxwire snapshot work > screen.ansi", does: "show it later with `cat` in a terminal of that size" },
  ],
  show: ({ io }, { data }) => io.out(Buffer.from(data, "base64")),
});

export const resizeCommand = operationCommand({
  operation: "resize",
  name: "resize",
  positionals: [
    PANE,
    { gives: "cols", name: "COLS", description: "width in columns" },
    { gives: "rows", name: "ROWS", description: "height in rows", optional: true },
  ],
  respelled: ([pane = "", cols = "", ...rest]) => {
    const [, width, height] = /^(\d+)x(\d+)$/.exec(cols) ?? [];
    if (width !== undefined && height !== undefined && rest.length === 0) return [pane, width, height];
    if (rest.length === 0) throw usageError(`resize: give COLS and ROWS, such as ${pane} 120 40 or ${pane} 120x40`);
    return [pane, cols, ...rest];
  },
  examples: [
    { line: "tmuxwire resize work 120 40", does: "resizes every pane of its window" },
    { line: "tmuxwire resize work 120x40", does: "the same" },
  ],
});
