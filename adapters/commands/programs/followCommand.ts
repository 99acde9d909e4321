/** `tmuxwire follow`: prints a pane's output as it comes, every byte once, across lost connections and daemon restarts. */
import { type PaneEvent, TmuxwireError } from "../../client/client.ts";
import { isPassing } from "../../client/clientHttp.ts";
import { AnsiStripper, stripRoom } from "../../../daemon/panes/vt/ansi.ts";
import { CLIENT_OPTIONS, connect, paneNamed } from "../connection/clientConnection.ts";
import { HOST_OPTION, isFromNats, NATS_OPTIONS, refuseHost } from "../connection/natsOptions.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import type { Io } from "../../cli/cliIo.ts";
import { PANE_OR_THIS } from "../operations/paneArguments.ts";
import { waitingText } from "../operations/waitingText.ts";
import { usageError } from "../../cli/parseCommand.ts";

export const followCommand: CommandSpec = {
  name: "follow",
  summary: "print a pane's output as it comes",
  details: [
    "Prints every byte unchanged, except to a terminal: that gets only text and drawing sequences (docs/security.md), so " +
      "that a program cannot make it do anything else. A gap in the output is reported on stderr and followed by a snapshot " +
      "of the screen. Ends when the pane does. --text prints whole lines without escape sequences, for grep and the like, " +
      "and no snapshots. --json prints each event as a line; output is base64, and --from can resume at its `position`.",
  ],
  positionals: [PANE_OR_THIS],
  options: [
    {
      name: "from",
      type: "text",
      value: "WHERE",
      description:
        "where to start: now, snapshot, tail:LINES, or a position such as k3Jd9:1024; with --nats also start, but not tail",
      default: "now",
      complete: ["now", "snapshot"],
    },
    { name: "text", type: "flag", description: "whole lines of plain text instead of bytes" },
    {
      name: "raw",
      type: "flag",
      description: "print every byte even to a terminal: unsafe, as programs can then make it send replies",
    },
    { name: "readiness", type: "flag", description: "with --json: report what the program is doing as well" },
    { name: "no-resume", type: "flag", description: "end when the connection is lost instead of reconnecting" },
    ...NATS_OPTIONS,
    HOST_OPTION,
    ...CLIENT_OPTIONS,
  ],
  examples: [
    { line: "tmuxwire follow work --from snapshot", does: "its screen, then its output" },
    { line: "tmuxwire follow work --text --from tail:100 | grep ERROR", does: "for grep" },
    { line: "tmuxwire follow work --json --from k3Jd9:1024", does: "resume where an earlier one stopped" },
    {
      line: "tmuxwire follow %5 --nats nats://127.0.0.1 --host build7 --from start",
      does: "all that NATS keeps of it",
    },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const { options } = call;
    if (options.flag("text") && (options.flag("json") || options.text("from") === "snapshot"))
      throw usageError("--text cannot be combined with --json or --from snapshot; use --from tail:100");
    return isFromNats(call) ? followFromNats(call) : followFromDaemon(call);
  },
};

async function followFromNats(call: CommandCall): Promise<number> {
  const { io, options, positionals } = call;
  if (options.flag("readiness") || options.flag("no-resume"))
    throw usageError("--readiness and --no-resume cannot be combined with --nats");
  const { paneInFleet, withFleet } = await import("../connection/fleetConnection.ts");
  return withFleet(call, async (fleet) => {
    const address = await paneInFleet(fleet, call, positionals[0]);
    return print(call, fleet.follow({ ...address, from: options.text("from"), signal: io.signal }));
  });
}

async function followFromDaemon(call: CommandCall): Promise<number> {
  const { io, options, positionals } = call;
  refuseHost(call);
  const client = (await connect(call)).pane(await paneNamed(call, positionals[0]));
  // Failing to open the stream is an error; a stream lost later is resumed.
  await client.info({ signal: io.signal });
  const events = client.follow({
    from: options.text("from"),
    resume: !options.flag("no-resume"),
    ...(options.flag("json") && options.flag("readiness") ? { readiness: true } : {}),
    signal: io.signal,
  });
  return print(call, events);
}

async function print({ io, options }: CommandCall, events: AsyncIterable<PaneEvent>): Promise<number> {
  const json = options.flag("json");
  const raw = options.flag("raw") ? "raw" : undefined;
  const text = options.flag("text") ? new TextLines(io) : undefined;
  for await (const event of events) {
    // The connection ended, not the pane, so report it as an error.
    if (event.kind === "closed" && isPassing(event.code)) throw new TmuxwireError(event.code, event.message);
    if (json) await io.out(`${JSON.stringify(jsonEvent(event))}\n`);
    else if (text !== undefined && event.kind === "output") await text.add(event.bytes);
    else if (text === undefined || event.kind !== "snapshot") await show(io, event, raw);
  }
  await text?.end();
  return 0;
}

/** The stream as lines; text before a carriage return is a line of its own. */
class TextLines {
  readonly #io: Io;
  readonly #stripper = new AnsiStripper();
  /** The unfinished line. */
  #open = Buffer.alloc(0);

  constructor(io: Io) {
    this.#io = io;
  }

  async add(bytes: Uint8Array): Promise<void> {
    const plain = Buffer.allocUnsafe(stripRoom(bytes.length));
    const length = this.#stripper.strip(bytes, plain, 0);
    const all = Buffer.concat([this.#open, plain.subarray(0, length)]);
    // An overlong line is printed in pieces.
    const end = all.length > MAX_LINE_BYTES ? all.length : all.lastIndexOf(LF) + 1;
    this.#open = all.subarray(end);
    if (end > 0) await this.#io.out(all.subarray(0, end));
  }

  async end(): Promise<void> {
    if (this.#open.length > 0) await this.#io.out(Buffer.concat([this.#open, Buffer.of(LF)]));
  }
}

const LF = 0x0a;
const MAX_LINE_BYTES = 65_536;

function jsonEvent(event: PaneEvent): object {
  if (!("bytes" in event)) return event;
  const { bytes, ...rest } = event;
  return { ...rest, data: Buffer.from(bytes).toString("base64") };
}

async function show(io: Io, event: PaneEvent, raw: "raw" | undefined): Promise<void> {
  switch (event.kind) {
    case "output":
      await io.out(event.bytes, raw);
      return;
    case "snapshot":
      // The output before it may have been cut off in the middle of a sequence.
      await io.out(event.bytes, raw ?? "anew");
      return;
    case "gap":
      io.err(`tmuxwire: output from ${event.from} to ${event.to} is missing (${event.reason})\n`);
      return;
    case "open":
      if (event.waiting !== undefined) io.err(`tmuxwire: waiting ${waitingText(event.waiting)}\n`);
      return;
    case "resize":
    case "exit":
    case "input":
    case "readiness":
    case "closed":
      return;
  }
}
