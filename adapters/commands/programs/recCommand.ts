/** `tmuxwire rec`: records a pane into a file that is valid at any time. */
import { type FileHandle, open } from "node:fs/promises";
import { resolve } from "node:path";
import { CAST_ENDS, type CastEnd, RecordingEncoder } from "../../../daemon/recordings/recordingEncoder.ts";
import { DEFAULT_RECORDING_BYTES, DEFAULT_RECORDING_SEC } from "../../../daemon/recordings/recordingLimits.ts";
import { unwritable } from "../../../daemon/ops/privateFiles.ts";
import { systemClock, type Timer } from "../../../daemon/time/clock.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneEvent } from "../../client/client.ts";
import { CLIENT_OPTIONS, connect } from "../connection/clientConnection.ts";
import { Interrupted, type Io } from "../../cli/cliIo.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { memberOptions } from "../operations/operationCommand.ts";
import { PANE } from "../operations/paneArguments.ts";
import { usageError } from "../../cli/parseCommand.ts";
import { BOUND_OPTIONS } from "../operations/recordingCommands.ts";

export const recCommand: CommandSpec = {
  name: "rec",
  summary: "record a pane into a file",
  details: [
    "Writes asciicast, which `tmuxwire play`, asciinema and web players read: the current screen, then every byte with its " +
      "time, resizes, and how the program ended. A gap in the output is recorded as a marker, followed by the screen from " +
      "which the recording goes on. Ends with Ctrl-C or with the pane; the file is complete either way. The file holds " +
      "everything the screen showed, secrets included.",
  ],
  positionals: [PANE],
  options: [
    {
      name: "output",
      short: "o",
      type: "text",
      value: "FILE",
      description: "the file to write; `-` is stdout",
      complete: "file",
    },
    { name: "force", short: "f", type: "flag", description: "overwrite an existing file" },
    { name: "title", type: "text", value: "TEXT", description: "the title that players show" },
    ...memberOptions("startRecording", ["version", "maxBytes", "maxSeconds", "input"], BOUND_OPTIONS).values(),
    ...CLIENT_OPTIONS,
  ],
  examples: [
    { line: "tmuxwire rec work -o demo.cast", does: "until Ctrl-C" },
    { line: "tmuxwire rec work -o - --max-seconds 60 | gzip > demo.cast.gz", does: "for a pipe" },
  ],
  run: async (call) => {
    const { io, options, positionals } = call;
    const [pane = ""] = positionals;
    const output = options.text("output");
    if (output === undefined) throw usageError("missing -o FILE; `-` is stdout");
    const client = (await connect(call)).pane(pane);
    // Before the file is made, so that a missing pane leaves no file behind.
    await client.info({ signal: io.signal });
    const target = await openTarget(io, output, options.flag("force"));
    const age = new AbortController();
    const givenSec = options.number(BOUND_OPTIONS.maxSeconds.name);
    let timer: Timer | undefined;
    const begin = (): void => {
      timer = systemClock.callAt(systemClock.nowMs() + (givenSec ?? DEFAULT_RECORDING_SEC) * 1_000, () =>
        age.abort(AGE),
      );
    };
    const signal = AbortSignal.any([io.signal, age.signal]);
    try {
      const encoder = encoderFor(call, target.add);
      const events = client.follow({ from: "snapshot", input: options.flag("input") || undefined, signal });
      const why = await record(io, encoder, { events, begin, ...target });
      if (why instanceof Interrupted) return why.exitCode === EXIT_CTRL_C ? 0 : why.exitCode;
      // An end that a flag asked for is not reported.
      if (why !== "pane" && !(why === "age" && givenSec !== undefined))
        io.err(`tmuxwire: the recording ended: ${CAST_ENDS[why]}\n`);
      return 0;
    } finally {
      timer?.cancel();
      await target.close();
    }
  },
};

const AGE = new Error("the bound of time");
/** The normal end. */
const EXIT_CTRL_C = 130;

interface Target {
  /** Buffered until `flush`. */
  readonly add: (line: string) => void;
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** @throws AppError INVALID_ARGUMENT; CONFIGURATION_INVALID when it cannot be written to */
async function openTarget(io: Io, output: string, force: boolean): Promise<Target> {
  let lines: string[] = [];
  const add = (line: string): void => void lines.push(line);
  const taken = (): string => {
    const text = lines.join("");
    lines = [];
    return text;
  };
  if (output === "-") return { add, flush: () => io.out(taken()), close: async () => undefined };
  const path = resolve(io.cwd, output);
  const file = await openFile(path, force);
  const flush = (): Promise<void> =>
    file.writeFile(taken()).catch((error: unknown) => {
      throw unwritable(path, error);
    });
  return { add, flush, close: () => file.close() };
}

async function openFile(path: string, force: boolean): Promise<FileHandle> {
  try {
    return await open(path, force ? "w" : "wx", 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const text = code === "EEXIST" ? `${path} already exists; overwrite it with --force` : message;
    throw new AppError("INVALID_ARGUMENT", text, { cause: error });
  }
}

function encoderFor({ options }: CommandCall, write: (line: string) => void): RecordingEncoder {
  return new RecordingEncoder({
    version: options.number(BOUND_OPTIONS.version.name) === 3 ? 3 : 2,
    maxBytes: options.number(BOUND_OPTIONS.maxBytes.name) ?? DEFAULT_RECORDING_BYTES,
    nowMs: () => systemClock.nowMs(),
    startedUnixMs: Date.now(),
    title: options.text("title"),
    input: options.flag("input"),
    write,
    onEnd: () => undefined,
  });
}

interface Recorded extends Target {
  readonly events: AsyncIterable<PaneEvent>;
  /** Called when recording begins. */
  readonly begin: () => void;
}

/** Resolves with why it ended, once everything is written. @throws what the stream throws */
async function record(
  io: Io,
  encoder: RecordingEncoder,
  { events, begin, flush }: Recorded,
): Promise<CastEnd | Interrupted> {
  const end = async (why: CastEnd): Promise<CastEnd> => {
    encoder.end(why);
    await flush();
    return encoder.ended ?? why;
  };
  try {
    for await (const event of events) {
      if (event.kind === "open") begin();
      take(encoder, event);
      await flush();
      if (encoder.ended !== undefined) break;
    }
    return await end("pane");
  } catch (error) {
    if (error === AGE) return end("age");
    const reason: unknown = io.signal.reason;
    if (reason instanceof Interrupted) {
      await end("stopped");
      return reason;
    }
    await end("connection").catch(() => undefined);
    throw error;
  }
}

function take(encoder: RecordingEncoder, event: PaneEvent): void {
  switch (event.kind) {
    case "open":
      encoder.open(event, event);
      return;
    case "output":
      encoder.output(event.bytes);
      return;
    case "snapshot":
      encoder.snapshot(event, event.bytes);
      return;
    case "gap":
      encoder.gap(event);
      return;
    case "resize":
      encoder.resized(event);
      return;
    case "input":
      encoder.input(event);
      return;
    case "exit":
      encoder.exited(event);
      return;
    case "closed":
      encoder.end("pane");
      return;
    case "readiness":
      return;
  }
}
