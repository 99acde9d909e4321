/**
 * The parts of its process that a command uses, besides the arguments, so that a test can substitute its own. If the reader
 * of the output goes away (EPIPE), the command ends without a failure; output that cannot be written for another reason (a
 * full disk) is a failure, reported in one line.
 */
import { homedir, tmpdir } from "node:os";
import { isAbsolute } from "node:path";
import type { Readable, Writable } from "node:stream";
import { QuietOutput } from "./quietOutput.ts";

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly homeDir: string;
  readonly tmpDir: string;
  readonly platform: NodeJS.Platform;
  readonly stdin: Readable;
  /**
   * Resolves when the reader has room again. Discards data once the reader is gone or a write has failed. A terminal gets
   * only text and drawing sequences (`QuietOutput`), whatever the source; `raw` writes the data unchanged, and `anew` means
   * that the data does not continue what was written before.
   */
  out(data: string | Uint8Array, how?: "raw" | "anew"): Promise<void>;
  err(text: string): void;
  /** Whether to use colours on stdout: it is a terminal, and neither NO_COLOR nor TERM=dumb is set. */
  readonly colour: boolean;
  /** Passes SIGINT to `handle` instead of aborting, until the returned function is called. */
  takeInterrupts?(handle: () => void): () => void;
  /** Aborts at the first SIGINT or SIGTERM, when stdout's reader is gone, and when stdout cannot be written. */
  readonly signal: AbortSignal;
}

/** Why `Io.signal` aborted, with the process's exit code. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.name = "Interrupted";
    this.exitCode = exitCode;
  }
}

/** Also for a command that succeeded, because nobody could read its output. */
export class OutputLost extends Interrupted {}

const EXIT_LOST = 1;
const EXIT_SIGINT = 130;
const EXIT_SIGTERM = 143;

/** The process's own `Io`. @param program its name in messages */
export function processIo(process: NodeJS.Process, program: string): Io {
  const controller = new AbortController();
  let isOver = false;
  const err = (text: string): void => {
    try {
      process.stderr.write(text);
    } catch {
      // A write to a file is synchronous and throws; there is nowhere left to report it.
    }
  };
  const onWriteError = (error: NodeJS.ErrnoException): void => {
    if (isOver) return;
    isOver = true;
    if (error.code === "EPIPE") controller.abort(new Interrupted(0, "the reader of the output has gone"));
    else {
      err(
        `${program}: cannot write to standard output (${error.message}): free some space, or redirect it elsewhere\n`,
      );
      controller.abort(new OutputLost(EXIT_LOST, "the output cannot be written"));
    }
  };
  const quiet = process.stdout.isTTY ? new QuietOutput() : undefined;
  const shown: Io["out"] = (data, how) => {
    if (how === "anew") quiet?.reset();
    return written(process.stdout, quiet === undefined || how === "raw" ? data : quiet.pass(data), onWriteError);
  };
  process.stdout.on("error", onWriteError);
  process.stderr.on("error", () => undefined);
  // The second one ends the process, which is Node's default.
  const onInterrupt = (): void => {
    if (taken === undefined) {
      process.off("SIGINT", onInterrupt);
      controller.abort(new Interrupted(EXIT_SIGINT, "interrupted"));
    } else taken();
  };
  let taken: (() => void) | undefined;
  process.on("SIGINT", onInterrupt);
  process.once("SIGTERM", () => controller.abort(new Interrupted(EXIT_SIGTERM, "terminated")));
  return {
    env: process.env,
    cwd: workingDirectory(process),
    homeDir: homedir(),
    tmpDir: tmpdir(),
    platform: process.platform,
    // Not before it is asked for: it takes a while to make.
    get stdin() {
      return process.stdin;
    },
    out: (data, how) => (isOver ? Promise.resolve() : shown(data, how)),
    err,
    colour: process.stdout.isTTY && !isSet(process.env["NO_COLOR"]) && process.env["TERM"] !== "dumb",
    takeInterrupts: (handle) => {
      taken = handle;
      return () => (taken = undefined);
    },
    signal: controller.signal,
  };
}

/** Where this process was started, also if that has been removed since, as a worktree is under the shell of its pane. */
function workingDirectory(process: NodeJS.Process): string {
  try {
    return process.cwd();
  } catch {
    const { PWD = "/" } = process.env;
    return isAbsolute(PWD) ? PWD : "/";
  }
}

/** Standard input as it comes. A read that waits ends with the signal, too. @throws the signal's reason */
export async function* stdinOf({
  stdin,
  signal,
}: Pick<Io, "stdin" | "signal">): AsyncGenerator<Uint8Array, void, void> {
  signal.throwIfAborted();
  const stop = (): void => void stdin.destroy(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  try {
    yield* stdin as AsyncIterable<Uint8Array>;
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== "";

/** Resolves when the write has succeeded or failed. */
function written(stream: Writable, data: string | Uint8Array, failed: (error: Error) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = (error?: Error | null): void => {
      if (error !== undefined && error !== null) failed(error);
      resolve();
    };
    try {
      stream.write(data, done);
    } catch (error) {
      // A write to a file is synchronous.
      done(error as Error);
    }
  });
}
