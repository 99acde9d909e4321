/** The MCP tools that read one pane or run a command in it. A program's text comes back framed, visible and bounded. */
import * as v from "valibot";
import { AnsiStripper, stripRoom } from "../../../daemon/panes/vt/ansi.ts";
import type { Timer } from "../../../daemon/time/clock.ts";
import { headOf, type OutputSource } from "../../../daemon/tmux/outputSource.ts";
import type { NativeCapture, NativeGap, NativeRunResponse } from "../../../protocol/api/native/nativeResponses.ts";
import { captureRequestSchema, runRequestSchema, timeoutMs } from "../../../protocol/api/native/nativeRequests.ts";
import { optional } from "../../../protocol/api/described.ts";
import { invalidArgument } from "../../../protocol/errors.ts";
import { formatGap, formatPosition, gapWithin, parsePosition } from "../../../protocol/position.ts";
import { DEFAULT_TEXT_BYTES, framed, shortened, newest, visible } from "./foreignText.ts";
import { mcpTool, PANE, TEXT_BOUND, type ToolCall } from "./mcpTool.ts";

/** Without trailing blank rows. */
export const shown = (lines: readonly string[]): string => {
  const used = lines.findLastIndex((line) => line !== "") + 1;
  return lines.slice(0, used).join("\n");
};

const how = (pane: string, position: string): string =>
  `capture pane ${pane} since ${position} with a larger maxOutputBytes, or lines: N for the last N lines`;

const { lines: captureLines, joined, ansi } = captureRequestSchema.entries;

export const captureTool = mcpTool({
  name: "capture",
  title: "Read a pane",
  description:
    "Read a pane: its screen, its last `lines`, or with `since` only the output after a position from an earlier result, so " +
    "that nothing is read twice. Changes nothing. Never call it in a loop: `wait`.",
  effect: "reads",
  input: v.strictObject({
    ...PANE,
    lines: captureLines,
    joined,
    ansi,
    since: optional(
      v.pipe(v.string(), v.regex(/^[0-9A-Za-z]{1,32}:\d{1,16}$/, "since must be a position such as k3Jd9:1024")),
      "A position from an earlier result: return only what was printed after it, as plain text.",
    ),
    ...TEXT_BOUND,
  }),
  words: {
    lines: "The last so many lines of history and screen, up to 5000; default: the screen.",
    since: "A position from an earlier result: only what was printed after it, as plain text.",
  },
  run: async (call, { server, pane, since, maxOutputBytes = DEFAULT_TEXT_BYTES, ...input }) => {
    if (since !== undefined) {
      if (Object.values(input).some((value) => value !== undefined))
        throw invalidArgument("since reads output, not the screen: give it without lines, joined and ansi");
      const found = call.pane({ server, pane });
      const { output, position, gaps } = readSince(found.server.output(found.pane.id), since);
      const { text, cut, note } = shortened(output, maxOutputBytes, how(pane, since));
      const lost = gaps.length === 0 ? "" : ` ${gaps.length} gaps in it: that output is lost.`;
      return {
        text: `Output of pane ${pane} up to ${position}.${lost}${note}\n${framed(text)}`,
        structured: { output: text, position, gaps, ...cut, untrusted: ["output"] },
      };
    }
    const { lines, position, cols, rows, alternateScreen, cursor } = await call.onPane<NativeCapture>(
      "capture",
      { server, pane },
      input,
    );
    const fewer = "ask for fewer lines, or for a larger maxOutputBytes";
    const { text, cut, note } = shortened(shown(lines), maxOutputBytes, fewer);
    return {
      text: `Pane ${pane}, ${cols}x${rows}, cursor at column ${cursor.col}, row ${cursor.row}; position ${position}.${note}\n${framed(text)}`,
      structured: { output: text, position, cols, rows, alternateScreen, cursor, ...cut, untrusted: ["output"] },
    };
  },
});

const { command } = runRequestSchema.entries;

export const runTool = mcpTool({
  name: "run",
  title: "Run a command",
  description:
    "Run one command line in a pane's shell, which must be at its prompt, and get output and exit code when it has ended. After " +
    "`timeoutMs` it fails with TIMEOUT and the command runs on: `wait` or `interrupt`. For programs that ask for input or " +
    "never end, use `send` and `wait`.",
  effect: "works",
  input: v.strictObject({ ...PANE, command, timeoutMs, ...TEXT_BOUND }),
  words: { command: "Typed into the shell as one line.", timeoutMs: "Default 30000." },
  run: async (call, { server, pane, maxOutputBytes = DEFAULT_TEXT_BYTES, ...input }) => {
    using progress = outputProgress(call);
    const response = await call.onPane<NativeRunResponse>("run", { server, pane }, input, {
      onOutput: progress.onOutput,
    });
    const { exitCode, from, to, gaps, elapsedMs } = response;
    const { text, cut, note } = shortened(response.output, maxOutputBytes, how(pane, from));
    const status = exitCode === null ? "Ended; the shell reported no exit code" : `Exit code ${exitCode}`;
    return {
      text: `${status}, after ${Math.round(elapsedMs)} ms.${note}\n${framed(text)}`,
      structured: { output: text, exitCode, from, to, gaps, elapsedMs, ...cut, untrusted: ["output"] },
    };
  },
});

/** Interval of notifications: fast enough for a person, and at most ten messages a second. */
const PROGRESS_EVERY_MS = 100;
const PROGRESS_BYTES = 4_096;
/** Characters buffered until the next notification, including escape sequences. */
const GATHERED_CHARS = 4 * PROGRESS_BYTES;

interface OutputProgress extends Disposable {
  /** Absent if not requested. */
  readonly onOutput: ((bytes: Uint8Array) => void) | undefined;
}

/** Sends a command's output as progress: plain text, batched, and only the newest part if there is much. */
function outputProgress({ progress, context: { clock } }: ToolCall): OutputProgress {
  if (progress === undefined) return { onOutput: undefined, [Symbol.dispose]: () => undefined };
  const stripper = new AnsiStripper();
  let bytesSeen = 0;
  let gathered = "";
  let timer: Timer | undefined;
  const tell = (): void => {
    timer = undefined;
    progress({ bytes: bytesSeen, text: newest(visible(gathered), PROGRESS_BYTES).text });
    gathered = "";
  };
  return {
    onOutput: (bytes) => {
      bytesSeen += bytes.length;
      const out = Buffer.allocUnsafe(stripRoom(bytes.length));
      gathered = (
        gathered + out.toString("utf8", 0, stripper.strip(bytes, out, 0, 0, { mark: () => undefined }))
      ).slice(-GATHERED_CHARS);
      timer ??= clock.callAt(clock.nowMs() + PROGRESS_EVERY_MS, tell);
    },
    [Symbol.dispose]: () => timer?.cancel(),
  };
}

interface OutputSince {
  readonly output: string;
  /** Where the text ends. */
  readonly position: string;
  readonly gaps: readonly NativeGap[];
}

/**
 * A pane's output after a position, as plain text, from what the daemon has kept.
 * @throws AppError INVALID_ARGUMENT
 */
function readSince(source: OutputSource, since: string): OutputSince {
  const { epoch, outputSeq } = parsePosition(since);
  const gaps: NativeGap[] = [];
  const kept: Buffer[] = [];
  const stripper = new AnsiStripper();
  // From an earlier connection: all output of this one is newer, and the output in between is unknown.
  const isPast = epoch !== source.epoch;
  if (isPast) gaps.push({ from: since, to: formatPosition({ epoch: source.epoch, outputSeq: 0 }), reason: "epoch" });
  let at = isPast ? 0 : outputSeq;
  for (let slice = source.read(at); slice.kind !== "end"; slice = source.read(at)) {
    if (slice.kind === "gap") {
      gaps.push(formatGap(gapWithin(source.epoch, slice.gap)));
      at = slice.gap.to;
      continue;
    }
    const out = Buffer.allocUnsafe(stripRoom(slice.bytes.length));
    kept.push(out.subarray(0, stripper.strip(slice.bytes, out, 0, 0, { mark: () => undefined })));
    at = slice.to;
  }
  return { output: Buffer.concat(kept).toString("utf8"), position: formatPosition(headOf(source)), gaps };
}
