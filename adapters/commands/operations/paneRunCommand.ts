/**
 * `tmuxwire run`: a command line for a pane's shell, like `ssh` and `docker exec`. Streams, forwards Ctrl-C, and exits with
 * the command's own status, or with one of ours.
 */
import { AnsiStripper, stripRoom } from "../../../daemon/panes/vt/ansi.ts";
import type { ErrorCode } from "../../../protocol/errors.ts";
import type { NativeRunResponse, PaneClient, RunOptions } from "../../client/client.ts";
import { Interrupted } from "../../cli/cliIo.ts";
import type { CommandCall, CommandSpec, OptionSpec } from "../../cli/commandTypes.ts";
import { CLIENT_OPTIONS, connect, paneNamed } from "../connection/clientConnection.ts";
import { PANE, TIMEOUT_OPTION, timeoutOf } from "./paneArguments.ts";

const EXIT_OURS = 125;
const EXIT_TIMEOUT = 124;
const EXIT_CONNECTION = 255;
const EXIT_INTERRUPTED = 130;

const CONNECTION: ReadonlySet<ErrorCode> = new Set([
  "CONNECTION_LOST",
  "SHUTTING_DOWN",
  "DAEMON_UNREACHABLE",
  "PROTOCOL_ERROR",
]);

function exitCodeOf(code: ErrorCode): number {
  if (code === "TIMEOUT") return EXIT_TIMEOUT;
  return CONNECTION.has(code) ? EXIT_CONNECTION : EXIT_OURS;
}

const OPTIONS: readonly OptionSpec[] = [
  { ...TIMEOUT_OPTION, default: "as long as it takes" },
  { name: "raw", type: "flag", description: "print the bytes as they came, colours and all, to a terminal too" },
  ...CLIENT_OPTIONS,
];

export const runCommand: CommandSpec = {
  name: "run",
  summary: "run a command in a pane's shell",
  details: [
    "Prints the command's output as it comes and exits with its status. The pane must show a shell's prompt. Everything " +
      "behind PANE is the command, options too: the words are joined with a blank and read by the pane's shell, as ssh " +
      "does; one word is a whole line. Options of run stand before PANE. One -- behind PANE is left out; without it the " +
      "command cannot begin with a dash.",
    "Ctrl-C is pressed in the pane, and the command's status follows; before the command is typed it ends run. With " +
      "Ctrl-\\ run ends and the command goes on. Exits with 125 when run itself failed (nothing was typed, or the shell " +
      "reported no status), 124 when the time is over (the command goes on), 255 when the connection was lost; a command that " +
      "ends with one of these prints nothing on stderr, and --json tells them apart. With --json one object is printed " +
      "at the end.",
  ],
  positionals: [
    PANE,
    {
      name: "COMMAND",
      description: "a line for the shell; all that is left is part of it",
      many: true,
      takesRest: true,
    },
  ],
  options: OPTIONS,
  examples: [
    { line: "tmuxwire run work make test", does: "and know whether it worked" },
    { line: "tmuxwire run work ls -d /usr", does: "options behind PANE are the command's" },
    { line: "tmuxwire run -t 600 work 'cd app && ./deploy --now'", does: "a whole line, for up to ten minutes" },
  ],
  exitCodeOf,
  run: async (call: CommandCall): Promise<number> => {
    const { io, options, positionals } = call;
    const [pane, ...words] = positionals;
    const raw = options.flag("raw");
    const json = options.flag("json");
    const target = (await connect(call)).pane(await paneNamed(call, pane));
    const interrupts = new Interrupts(call, target);
    const settings = {
      timeoutMs: null,
      ...timeoutOf(call),
      ...(raw && json ? { format: "raw" as const } : {}),
      signal: interrupts.signal,
    };
    const printed = new Printed(call, raw);
    // Output that was streamed is not returned again.
    const listener: RunOptions = json
      ? { onOutput: () => undefined }
      : { maxOutputBytes: 1, onOutput: (bytes) => printed.add(bytes), onSkipped: (bytes) => printed.skipped(bytes) };
    try {
      // Once the command is typed, Ctrl-C goes to the pane.
      const response = await target.run(words.join(" "), { ...settings, ...listener, onTyped: interrupts.forward });
      if (json) await io.out(`${JSON.stringify(response)}\n`);
      else await printed.end(response);
      return statusOf(call, response, interrupts.forwarded);
    } finally {
      interrupts[Symbol.dispose]();
    }
  },
};

function statusOf({ io, options }: CommandCall, { exitCode }: NativeRunResponse, wasInterrupted: boolean): number {
  if (exitCode !== null) return exitCode;
  if (wasInterrupted) return EXIT_INTERRUPTED;
  if (!options.flag("json")) io.err("tmuxwire: the shell is back at its prompt and reported no status\n");
  return EXIT_OURS;
}

/** Ctrl-C, before the command is typed and after. */
class Interrupts implements Disposable {
  readonly #call: CommandCall;
  readonly #pane: PaneClient;
  readonly #left = new AbortController();
  readonly #release: (() => void) | undefined;
  #isTyped = false;
  forwarded = false;

  constructor(call: CommandCall, pane: PaneClient) {
    this.#call = call;
    this.#pane = pane;
    this.#release = call.io.takeInterrupts?.(() => this.#interrupted());
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.#left.signal, this.#call.io.signal]);
  }

  readonly forward = (): void => {
    this.#isTyped = true;
  };

  [Symbol.dispose](): void {
    this.#release?.();
  }

  #interrupted(): void {
    if (!this.#isTyped) return this.#left.abort(new Interrupted(EXIT_INTERRUPTED, "interrupted"));
    this.forwarded = true;
    this.#pane.keys(["C-c"]).catch((error: unknown) => this.#left.abort(error));
  }
}

/** Output for a person or a pipe, as it comes. */
class Printed {
  readonly #call: CommandCall;
  readonly #stripper: AnsiStripper | undefined;
  #isLineOpen = false;

  constructor(call: CommandCall, raw: boolean) {
    this.#call = call;
    this.#stripper = raw ? undefined : new AnsiStripper();
  }

  async add(bytes: Uint8Array): Promise<void> {
    const shown = this.#stripper === undefined ? bytes : this.#text(bytes, this.#stripper);
    if (shown.length === 0) return;
    this.#isLineOpen = shown.at(-1) !== LF;
    await this.#call.io.out(shown, this.#stripper === undefined ? "raw" : undefined);
  }

  skipped(bytes: number): void {
    this.#call.io.err(`tmuxwire: ${bytes} bytes of output are missing here: it was read too slowly\n`);
  }

  /** Ends text with a line end. */
  async end({ gaps }: NativeRunResponse): Promise<void> {
    if (this.#isLineOpen && this.#stripper !== undefined) await this.#call.io.out("\n");
    // `evicted` gaps were reported as they came.
    const holes = gaps.filter(({ reason }) => reason !== "evicted").length;
    if (holes > 0)
      this.#call.io.err(`tmuxwire: output is missing in ${holes} places: the connection to tmux was slow\n`);
  }

  #text(bytes: Uint8Array, stripper: AnsiStripper): Uint8Array {
    const out = Buffer.allocUnsafe(stripRoom(bytes.length));
    return out.subarray(0, stripper.strip(bytes, out, 0));
  }
}

const LF = 0x0a;
