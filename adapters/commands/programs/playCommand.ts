/** `tmuxwire play`: a recording in this terminal, at its recorded pace. */
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { systemClock } from "../../../daemon/time/clock.ts";
import { sleep } from "../../../daemon/time/within.ts";
import { AppError } from "../../../protocol/errors.ts";
import { CastReader, type RecordedEvent } from "../../../protocol/text/castReader.ts";
import { textLines } from "../../../protocol/text/textLines.ts";
import type { CommandSpec } from "../../cli/commandTypes.ts";
import { QuietOutput, TERMINAL_AT_REST } from "../../cli/quietOutput.ts";

export const playCommand: CommandSpec = {
  name: "play",
  summary: "play a recording in this terminal",
  details: [
    "Plays asciicast 2 and 3, from `tmuxwire rec`, `start-recording` or asciinema. The terminal should be at least as large " +
      "as the recorded one. It gets only text and drawing sequences: nothing that makes it send replies, write to the " +
      "clipboard or report the mouse (docs/security.md). Ctrl-C ends it.",
  ],
  positionals: [{ name: "FILE", description: "a recording" }],
  options: [
    {
      name: "speed",
      short: "s",
      type: "number",
      value: "FACTOR",
      description: "how many times faster than recorded",
      default: "1",
      min: 0.01,
      max: 1_000_000,
    },
    {
      name: "idle",
      short: "i",
      type: "number",
      value: "SECONDS",
      description: "shorten every pause to at most this",
      min: 0,
      max: 86_400,
    },
    {
      name: "from",
      type: "number",
      value: "SECONDS",
      description: "start here; what came before is drawn at once",
      default: "0",
      min: 0,
      max: 31_536_000,
    },
  ],
  examples: [
    { line: "tmuxwire play demo.cast --speed 2 --idle 1", does: "without the pauses" },
    { line: "tmuxwire play demo.cast --from 90", does: "from 90 seconds on" },
  ],
  run: async ({ io, options, positionals: [file = ""] }) => {
    const speed = options.number("speed") ?? 1;
    const idleSec = options.number("idle") ?? Number.POSITIVE_INFINITY;
    const fromSec = options.number("from") ?? 0;
    const quiet = new QuietOutput();
    let shownSec = fromSec;
    let dueMs = systemClock.nowMs();
    let gaps = 0;
    let begun = false;
    try {
      for await (const { atSec, code, data } of readCast(resolve(io.cwd, file))) {
        io.signal.throwIfAborted();
        if (code === "m" && data.startsWith("gap: ")) {
          gaps += 1;
          quiet.reset();
        }
        if (code !== "o") continue;
        const pauseSec = Math.min(idleSec, Math.max(0, atSec - shownSec));
        shownSec = Math.max(shownSec, atSec);
        dueMs += (pauseSec * 1_000) / speed;
        await sleep(systemClock, dueMs - systemClock.nowMs(), io.signal);
        begun = true;
        await io.out(quiet.pass(data), "raw");
      }
    } finally {
      if (begun) await io.out(TERMINAL_AT_REST);
    }
    if (gaps > 0)
      io.err(`tmuxwire: output is missing at ${gaps} ${gaps === 1 ? "place" : "places"} of the recording\n`);
    return 0;
  },
};

/** A recording read from its file, event by event. @throws AppError INVALID_ARGUMENT */
async function* readCast(path: string): AsyncGenerator<RecordedEvent, void, void> {
  const reader = new CastReader(path);
  try {
    for await (const line of textLines(createReadStream(path) as AsyncIterable<Buffer>)) {
      const event = reader.take(line);
      if (event !== undefined) yield event;
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("INVALID_ARGUMENT", whyNot(path, error as NodeJS.ErrnoException), { cause: error });
  }
  reader.end();
}

function whyNot(path: string, error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case "ENOENT":
      return `there is no file ${path}; \`tmuxwire recordings\` lists those that the daemon keeps`;
    case "EACCES":
      return `${path} may not be read`;
    case "EISDIR":
      return `${path} is a directory; name a recording in it`;
    case undefined:
    default:
      return `${path} cannot be read: ${error.message}`;
  }
}
