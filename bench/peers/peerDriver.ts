/**
 * What the drivers of the peers bench share. A driver is a process of its own that does one job as the ordinary user of a
 * tool does it. It says `ready` once its panes are there, begins at the first line on stdin, says `done` when there is
 * nothing more to do, and ends with its stdin. In between it prints `sample MS`, `known AT UNIX_MS`,
 * `ran MS STATUS HEX`, `seen LINES`, `told delivered` or `told refused WHY`; before `ready` it prints `tmux SOCKET` if it has a tmux
 * server. `libtmuxPeer.py` and `expectPeer.exp` say the same.
 */
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { check } from "../figures.ts";

/** Between two looks at a screen, for those who have to look; `libtmuxPeer.py` has the same. */
export const POLL_MS = 100;
/** Scripts wait this long between a prompt's text and Enter; `expectPeer.exp` has the same. */
export const PAUSE_MS = 500;
/** A shell drops what it reads while it gets over an interrupt; the scripts beside this have the same. */
export const INTERRUPT_MS = 200;
/** A screen that has not changed for so long is taken for one that waits. */
export const QUIET_MS = 300;
/** As many lines of history as tools capture that read more than the screen. */
export const HISTORY_LINES = 200;
/** What the flooding program prints last. */
export const END_OF_LINES = "END-OF-LINES";

const environment = (name: string): string => {
  const value = process.env[name];
  check(value !== undefined, `${name} is missing`);
  return value;
};

/** A driver's part of a run. */
export class PeerTask {
  readonly job = environment("PEER_JOB");
  readonly directory = environment("PEER_DIR");
  readonly count = Number(environment("PEER_COUNT"));
  /** What runs in a pane; its mark keeps its CPU time out of the peer's. */
  readonly argv = ["env", "PEER_PANE=1", "sh", "-c", environment("PEER_COMMAND")];
  readonly #lines = createInterface({ input: process.stdin });
  readonly #waiting: string[] = [];
  readonly #ended: Promise<unknown>;
  #isOver = false;
  #mayEnd = false;
  #wake: () => void = () => undefined;

  constructor() {
    this.#lines.on("line", (line) => {
      this.#waiting.push(line);
      this.#wake();
    });
    this.#lines.once("close", () => {
      // In the middle of a job: the bench was ended.
      if (!this.#mayEnd) process.exit(1);
      this.#isOver = true;
      this.#wake();
    });
    process.once("SIGTERM", () => process.exit(1));
    this.#ended = once(this.#lines, "close");
  }

  say(...words: readonly (string | number)[]): void {
    process.stdout.write(`${words.join(" ")}\n`);
  }

  /** The next line from the bench; undefined when there is none any more. */
  async heard(): Promise<string | undefined> {
    while (this.#waiting.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#waiting.shift();
  }

  async begin(): Promise<void> {
    this.say("ready");
    await this.heard();
  }

  async end(): Promise<void> {
    this.#mayEnd = true;
    this.say("done");
    await this.#ended;
  }

  /** `launch LINE` and `prompt TEXT`, one after the other, until the bench has no more. */
  async serve(launch: (line: string) => Promise<void>, prompt: (text: string) => Promise<string>): Promise<void> {
    this.#mayEnd = true;
    this.say("ready");
    for (let line = await this.heard(); line !== undefined; line = await this.heard()) {
      const space = line.indexOf(" ");
      const text = line.slice(space + 1);
      if (line.startsWith("launch ")) await launch(text);
      else if (line.startsWith("prompt ")) this.say("told", await prompt(text));
    }
  }
}

/** A command line for a shell, as one types it to learn its status from what is on the screen. */
export const withStatus = (command: string): string => `${command}; echo status:$?`;

/** What stands between the line that was typed and the status that follows the command's output. */
export function ranOf(text: string, command: string): { readonly status: number; readonly hex: string } {
  const typed = text.lastIndexOf(withStatus(command));
  const rest = text.slice(text.indexOf("\n", typed) + 1);
  const status = /status:(\d+)/.exec(rest);
  const output = status === null ? rest : rest.slice(0, status.index);
  return { status: Number(status?.[1] ?? -1), hex: Buffer.from(output.replaceAll("\r", "")).toString("hex") };
}

/** Counts numbered lines, each once, in a stream's pieces or on screens that overlap. */
export class LineCount {
  #last = 0;
  #carry = "";
  seen = 0;

  screen(text: string): void {
    for (const [, digits] of text.matchAll(/L(\d{6}) /g)) {
      const number = Number(digits);
      if (number <= this.#last) continue;
      this.#last = number;
      this.seen += 1;
    }
  }

  piece(text: string): void {
    const whole = this.#carry + text;
    const end = whole.lastIndexOf("\n") + 1;
    this.#carry = whole.slice(end);
    this.screen(whole.slice(0, end));
  }
}

let tokens = 0;
/** Six bytes never typed before. */
export const peerToken = (): string => String(100_000 + (tokens += 1));

export const unixMsNow = (): number => performance.timeOrigin + performance.now();

/** Looks every `POLL_MS`, the first time at once. */
export async function polled(look: () => Promise<boolean>): Promise<void> {
  while (!(await look())) await delay(POLL_MS);
}
