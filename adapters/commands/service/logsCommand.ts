/** `tmuxwire logs`: the daemon's log, from the journal or a file, depending on how the daemon was started. */
import { once } from "node:events";
import { existsSync, watch } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { AppError } from "../../../protocol/errors.ts";
import { CLIENT_OPTIONS, daemonAddress } from "../connection/clientConnection.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { inForeground } from "../../cli/foregroundProgram.ts";
import { SYSTEMD_UNIT, logPlaces } from "./serviceUnits.ts";

const DEFAULT_LINES = 100;
const MAX_LINES = 100_000;
/** Read at most this much from a log's end: more than a person asks for in practice. */
const MAX_TAIL_BYTES = 16_777_216;

export const logsCommand: CommandSpec = {
  name: "logs",
  summary: "print the daemon's log",
  details: [
    "JSON lines. A service made by `tmuxwire service install` logs to the system's journal (on macOS to a file); a daemon " +
      "that a command started logs to daemon.log beside its socket. A daemon that runs in a terminal logs there, on stderr.",
  ],
  positionals: [],
  options: [
    { name: "follow", short: "f", type: "flag", description: "keep printing new lines" },
    {
      name: "lines",
      short: "n",
      type: "number",
      value: "N",
      description: "how many lines from the end",
      default: String(DEFAULT_LINES),
      min: 1,
      max: MAX_LINES,
    },
    ...CLIENT_OPTIONS.filter(({ name }) => name === "socket"),
  ],
  examples: [{ line: "tmuxwire logs -f | jq -c 'select(.level != \"debug\")'", does: "new lines as they are logged" }],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options } = call;
    const lines = Math.trunc(options.number("lines") ?? DEFAULT_LINES);
    const { socketPath } = await daemonAddress(call);
    const places = logPlaces({ platform: io.platform, homeDir: io.homeDir, env: io.env, socketPath });
    if (places.unit !== undefined && existsSync(places.unit)) {
      const args = ["--user", "-u", SYSTEMD_UNIT, "-o", "cat", "-n", String(lines)];
      const more = options.flag("follow") ? ["-f"] : ["--no-pager"];
      return inForeground(io, { program: "journalctl", args: [...args, ...more], env: io.env });
    }
    const path = places.files.find((each) => existsSync(each));
    if (path === undefined) {
      throw new AppError(
        "NOT_FOUND",
        `no log at ${places.files.join(" or ")}, and no service: a daemon in a terminal logs to its stderr`,
      );
    }
    await using file = await open(path, "r");
    let at = await printTail(call, file, lines);
    if (!options.flag("follow")) return 0;
    const watcher = watch(path);
    try {
      for (;;) {
        // Armed before reading, so that what is logged meanwhile triggers the next read.
        const changed = once(watcher, "change", { signal: io.signal });
        changed.catch(() => undefined);
        at = await printFrom(call, file, at);
        await changed;
      }
    } finally {
      watcher.close();
    }
  },
};

/** Returns the offset of the file's end. */
async function printTail({ io }: CommandCall, file: FileHandle, count: number): Promise<number> {
  const { size } = await file.stat();
  const from = Math.max(0, size - MAX_TAIL_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
  const text = buffer.subarray(0, bytesRead);
  let start = text.length;
  for (let left = count; left > 0 && start > 0; left -= 1) start = text.lastIndexOf(LF, start - 2) + 1;
  await io.out(text.subarray(start));
  return from + bytesRead;
}

const LF = 0x0a;
const PIECE_BYTES = 65_536;

async function printFrom({ io }: CommandCall, file: FileHandle, from: number): Promise<number> {
  const piece = Buffer.alloc(PIECE_BYTES);
  // A file that has shrunk was truncated.
  let at = (await file.stat()).size < from ? 0 : from;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    if (bytesRead === 0) return at;
    at += bytesRead;
    // oxlint-disable-next-line no-await-in-loop -- in order
    await io.out(piece.subarray(0, bytesRead));
  }
}
