/**
 * The program of one session: lines of JSON out of it, lines into it, and its end. It always ends the same way: its
 * group gets SIGTERM, and SIGKILL five seconds later. So does the group of a program that ends by itself.
 */
import type { JsonLine } from "../../agents/jsonFields.ts";
import { constants } from "node:os";
import { LineSplitter } from "../../../protocol/control/lines.ts";
import { AppError } from "../../../protocol/errors.ts";
import { jsonShape, MAX_JSON_DEPTH } from "../../../protocol/text/jsonShape.ts";
import { decodeUtf8 } from "../../../protocol/text/utf8.ts";
import {
  GROUP_ENDS_WITHIN_MS,
  type GroupedProgram,
  type GroupedProgramOptions,
  type ProgramEnd,
  startGroupedProgram,
} from "../../../daemon/host/groupedProgram.ts";
import { AnsiStripper, stripRoom } from "../../../daemon/panes/vt/ansi.ts";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import type { ExitStatus } from "../../../daemon/tmux/outputSource.ts";
import {
  INPUT_TAKEN_WITHIN_MS,
  LAST_WORDS_CHARS,
  MAX_PROGRAM_LINE_BYTES,
  MAX_UNTAKEN_INPUT_BYTES,
  OUTPUT_DRAINS_WITHIN_MS,
} from "../freshellLimits.ts";

export type ProgramPlan = Pick<GroupedProgramOptions, "file" | "args" | "cwd" | "env" | "hasInput">;

interface ProgramListener {
  readonly onLine: (line: JsonLine) => void;
  /** It printed a line that is not JSON: reported once, however many follow. */
  readonly onBadLine: (what: string) => void;
  readonly onErrors: (text: string) => void;
  /** A whole chunk has been passed on. */
  readonly onPause: () => void;
  readonly onEnded: (status: ExitStatus) => void;
}

export class SessionProgram {
  readonly #hasInput: boolean;
  readonly #clock: Clock;
  readonly #listener: ProgramListener;
  readonly #program: GroupedProgram;
  readonly #lines: LineSplitter;
  readonly #errors = new TextDecoder();
  readonly ended: Promise<ExitStatus>;
  #resolveEnded: (status: ExitStatus) => void = () => undefined;
  #status: ExitStatus | undefined;
  #hasEnded = false;
  #saidBadLine = false;
  #isEnding = false;
  #kill: Timer | undefined;
  #drain: Timer | undefined;
  #lastWords = "";

  constructor(plan: ProgramPlan, clock: Clock, listener: ProgramListener) {
    this.#hasInput = plan.hasInput;
    this.#clock = clock;
    this.#listener = listener;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    this.#lines = new LineSplitter(
      (buffer, from, to) => this.#line(buffer, from, to),
      () => this.#tooLong(),
      MAX_PROGRAM_LINE_BYTES,
    );
    this.#program = startGroupedProgram({
      ...plan,
      onOutput: (chunk) => {
        if (this.#hasEnded) return;
        this.#lines.push(chunk);
        listener.onPause();
      },
      onErrors: (chunk) => this.#said(chunk),
      onExit: (end) => this.#exited(statusOf(end)),
      onClosed: () => this.#close(),
    });
  }

  /** Undefined once it has ended. */
  get pid(): number | undefined {
    return this.#status === undefined && !this.#hasEnded ? this.#program.pid : undefined;
  }

  /** The end of its standard error, as plain text in one line. */
  get lastWords(): string {
    const bytes = Buffer.from(this.#lastWords);
    const plain = Buffer.alloc(stripRoom(bytes.length));
    const text = plain.toString("utf8", 0, new AnsiStripper().strip(bytes, plain, 0));
    return text
      .replaceAll(/[\p{C}\s]+/gu, " ")
      .trim()
      .slice(-LAST_WORDS_CHARS);
  }

  /** Resolves once the program has been handed all of it. @throws AppError INVALID_TARGET, RESOURCE_LIMIT, COMMAND_TIMEOUT */
  async write(text: string): Promise<void> {
    this.#requireRunning();
    if (!this.#hasInput) {
      throw new AppError(
        "INVALID_TARGET",
        "the session's program has its prompt and takes no more input; create another session, or an sdk session",
      );
    }
    const bytes = Buffer.from(text, "utf8");
    if (this.#program.unwrittenBytes + bytes.length > MAX_UNTAKEN_INPUT_BYTES) {
      const details = { limit: "untakenInputBytes", max: MAX_UNTAKEN_INPUT_BYTES };
      const message = "the session's program does not read what was sent before; try again later";
      throw new AppError("RESOURCE_LIMIT", message, { details });
    }
    await new Promise<void>((resolve, reject) => {
      const late = this.#clock.callAt(this.#clock.nowMs() + INPUT_TAKEN_WITHIN_MS, () => reject(notTaken()));
      this.#program.write(bytes, (error) => {
        late.cancel();
        if (error === null || error === undefined) resolve();
        else reject(this.#status === undefined ? inputClosed(error) : ended());
      });
    });
  }

  /** Stops what it is doing, as Ctrl-C does. @throws AppError INVALID_TARGET */
  interrupt(): void {
    this.#requireRunning();
    this.#program.signal("SIGINT");
  }

  /** Also not being ended: what it were given now would be lost. @throws AppError INVALID_TARGET */
  #requireRunning(): void {
    if (this.#hasEnded || this.#isEnding || this.#status !== undefined) throw ended();
  }

  /** Safe to call twice. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#program.signal("SIGTERM");
    this.#kill = this.#clock.callAt(this.#clock.nowMs() + GROUP_ENDS_WITHIN_MS, () => {
      this.#program.signal("SIGKILL");
      this.#program.letGo();
    });
  }

  /** Leaves ending it to the guard: this process is about to end. Safe to call twice. */
  letGo(): void {
    this.end();
    this.#kill?.cancel();
    this.#program.letGo();
  }

  #exited(status: ExitStatus): void {
    this.#status = status;
    this.end();
    // Others of the group may hold the pipes.
    this.#drain = this.#clock.callAt(this.#clock.nowMs() + OUTPUT_DRAINS_WITHIN_MS, () => {
      this.#program.stopReading();
      this.#close();
    });
  }

  #close(): void {
    if (this.#hasEnded) return;
    this.#drain?.cancel();
    // A last line without a line end.
    if (this.#lines.carriedBytes > 0) this.#lines.push(Buffer.from("\n"));
    this.#hasEnded = true;
    this.end();
    const status = this.#status ?? {};
    this.#listener.onPause();
    this.#listener.onEnded(status);
    this.#resolveEnded(status);
  }

  #line(buffer: Uint8Array, from: number, to: number): void {
    if (this.#hasEnded) return;
    const text = decodeUtf8(buffer.subarray(from, to));
    if (text.trim() === "") return;
    let line: unknown;
    try {
      line = JSON.parse(text);
    } catch {
      this.#bad("the program prints lines that are not JSON");
      return;
    }
    if (typeof line !== "object" || line === null || Array.isArray(line)) {
      this.#bad("the program prints lines that are not JSON objects");
    } else if (jsonShape(text).depth > MAX_JSON_DEPTH) this.#bad("the program prints JSON that is nested too deeply");
    else this.#listener.onLine(line as JsonLine);
  }

  #bad(what: string): void {
    if (this.#saidBadLine) return;
    this.#saidBadLine = true;
    this.#listener.onBadLine(`${what}; they are skipped`);
  }

  #tooLong(): void {
    if (this.#hasEnded || this.#isEnding) return;
    this.#listener.onBadLine(`the program printed a line of more than ${MAX_PROGRAM_LINE_BYTES} bytes, and is ended`);
    this.end();
  }

  #said(chunk: Uint8Array): void {
    const text = this.#errors.decode(chunk, { stream: true });
    if (text === "") return;
    this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS_CHARS);
    this.#listener.onErrors(text);
  }
}

function statusOf({ exitCode, signal }: ProgramEnd): ExitStatus {
  if (signal !== undefined) return { signal: constants.signals[signal] };
  return exitCode === undefined ? {} : { exitCode };
}

const ended = (): AppError =>
  new AppError("INVALID_TARGET", "the session has ended; create another one, with resumeSessionId to continue it");
const inputClosed = (cause: Error): AppError =>
  new AppError("INVALID_TARGET", "the session's program has closed its input and takes no more", { cause });
const notTaken = (): AppError =>
  new AppError(
    "COMMAND_TIMEOUT",
    `the session's program did not accept it within ${INPUT_TAKEN_WITHIN_MS / 1_000} s; it may still do so`,
    { details: { delivery: "indeterminate" } },
  );
