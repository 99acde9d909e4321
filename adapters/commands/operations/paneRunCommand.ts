/**
 * `tmuxwire run`: runs a command line in a pane's shell, like `ssh` and `docker exec`. Streams its output, forwards Ctrl-C,
 * and exits with the command's own status, or with one of ours.
 */
import { AnsiStripper, stripRoom } from "../../../daemon/panes/vt/ansi.ts";
import type { ErrorCode } from "../../../protocol/errors.ts";
import type { NativeRunResponse, PaneClient, RunOptions } from "../../client/client.ts";
import { Interrupted } from "../../cli/cliIo.ts";
import type { CommandCall, CommandSpec, OptionSpec } from "../../cli/commandTypes.ts";
import { isServerElsewhere } from "../../cli/parseCommand.ts";
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
  { ...TIMEOUT_OPTION, default: "none" },
  { name: "raw", type: "flag", description: "print the bytes unchanged, with colours, even to a terminal" },
  ...CLIENT_OPTIONS,
];

export const runCommand: CommandSpec = {
  name: "run",
  summary: "run a command in a pane's shell",
  details: [
    "Prints the command's output as it comes and exits with its status. The pane must show a shell's prompt. Everything " +
      "after PANE is the command, including options: the words are joined with a space and read by the pane's shell, as ssh " +
      "does; a single word may be a whole line. Put options of run before PANE; one at the end of the command is refused. " +
      "A -- right after PANE is dropped; a command that begins with a dash, or ends in an option of run, needs " +
      "it. `--server SERVER@HOST` alone is read as an option of run at the end, too.",
    "Ctrl-C is sent to the pane, and run exits with the command's status; before the command is typed, it ends run. " +
      "Ctrl-\\ ends run and leaves the command running. Exits with 125 if run itself failed (nothing was typed, or the shell " +
      "reported no status), 124 on a timeout (the command keeps running), 255 if the connection was lost. A command that " +
      "exits with one of these itself prints nothing on stderr; --json distinguishes them. With --json, one object is " +
      "printed at the end.",
  ],
  positionals: [
    PANE,
    {
      name: "COMMAND",
      description: "the command line for the shell: all remaining words",
      many: true,
      takesRest: true,
    },
  ],
  options: OPTIONS,
  examples: [
    { line: "tmuxwire run work make test", does: "exits with make's status" },
    { line: "tmuxwire run work ls -d /usr", does: "options after PANE belong to the command" },
    {
      line: "tmuxwire run -t 600 work 'cd app && ./deploy --now'",
      does: "a whole line, with a timeout of ten minutes",
    },
  ],
  exitCodeOf,
  run: async (call: CommandCall): Promise<number> => {
    const { io, options, positionals } = call;
    const [pane, ...given] = positionals;
    const { server, words } = serverBehind(given);
    const raw = options.flag("raw");
    const json = options.flag("json");
    const client = await connect(call);
    const target = (server === undefined ? client : client.on(server)).pane(await paneNamed(call, pane));
    const interrupts = new Interrupts(call, target);
    const settings = {
      timeoutMs: null,
      ...timeoutOf(call),
      ...(raw && json ? { format: "raw" as const } : {}),
      signal: interrupts.signal,
    };
    const printed = new Printed(call, raw);
    // Streamed output is not returned again in the response.
    const listener: RunOptions = json
      ? { onOutput: () => undefined }
      : { maxOutputBytes: 1, onOutput: (bytes) => printed.add(bytes), onSkipped: (bytes) => printed.skipped(bytes) };
    try {
      // Once the command is typed, Ctrl-C is forwarded to the pane.
      const response = await target.run(words.join(" "), { ...settings, ...listener, onTyped: interrupts.forward });
      if (json) await io.out(`${JSON.stringify(response)}\n`);
      else await printed.end(response);
      return statusOf(call, response, interrupts.forwarded);
    } finally {
      interrupts[Symbol.dispose]();
    }
  },
};

/** `--server main@build` as the last words. */
function serverBehind(words: readonly string[]): {
  readonly server: string | undefined;
  readonly words: readonly string[];
} {
  const [option, name = ""] = words.slice(-2);
  const isOurs = words.length > 2 && option === "--server" && isServerElsewhere(name);
  return isOurs ? { server: name, words: words.slice(0, -2) } : { server: undefined, words };
}

function statusOf({ io, options }: CommandCall, { exitCode }: NativeRunResponse, wasInterrupted: boolean): number {
  if (exitCode !== null) return exitCode;
  if (wasInterrupted) return EXIT_INTERRUPTED;
  if (!options.flag("json")) io.err("tmuxwire: the shell is back at its prompt but reported no exit status\n");
  return EXIT_OURS;
}

/** Handles Ctrl-C, before the command is typed and after. */
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

/** Prints output as it comes, to a terminal or a pipe. */
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
    this.#call.io.err(`tmuxwire: ${bytes} bytes of output are missing here: they were read too slowly\n`);
  }

  /** Ends the text with a newline. */
  async end({ gaps }: NativeRunResponse): Promise<void> {
    if (this.#isLineOpen && this.#stripper !== undefined) await this.#call.io.out("\n");
    // `evicted` gaps were reported as they came.
    const holes = gaps.filter(({ reason }) => reason !== "evicted").length;
    if (holes > 0)
      this.#call.io.err(
        `tmuxwire: output is missing in ${holes} ${holes === 1 ? "place" : "places"}: the connection to tmux was too slow\n`,
      );
  }

  #text(bytes: Uint8Array, stripper: AnsiStripper): Uint8Array {
    const out = Buffer.allocUnsafe(stripRoom(bytes.length));
    return out.subarray(0, stripper.strip(bytes, out, 0));
  }
}

const LF = 0x0a;
