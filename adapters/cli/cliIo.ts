/**
 * What a command may use of its process, arguments aside, so that a test can substitute its own. A reader that has gone
 * away (EPIPE) ends the work and is no failure; output that cannot be written for another reason (a full disk) is one, told
 * in one line.
 */
import { homedir, tmpdir } from "node:os";
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
   * Resolves when the reader has room again. Discards data once the reader is gone or a write has failed. To a terminal
   * only text and what draws is written (`QuietOutput`), whoever it comes from; `raw` is written as it is, and `anew` does
   * not continue what was written before.
   */
  out(data: string | Uint8Array, how?: "raw" | "anew"): Promise<void>;
  err(text: string): void;
  /** Whether stdout may carry colours: a terminal, and neither NO_COLOR nor TERM=dumb. */
  readonly colour: boolean;
  /** Sends SIGINT to `handle`, without aborting, until the returned function is called. */
  takeInterrupts?(handle: () => void): () => void;
  /** Aborts at the first SIGINT or SIGTERM, when stdout's reader is gone, and when it cannot be written. */
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

/** Of a command that did its work, too: nobody has read what it found. */
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
      // A file is written at once, and throws: there is nowhere left to report it.
    }
  };
  const onWriteError = (error: NodeJS.ErrnoException): void => {
    if (isOver) return;
    isOver = true;
    if (error.code === "EPIPE") controller.abort(new Interrupted(0, "the reader of the output has gone"));
    else {
      err(`${program}: cannot write to standard output (${error.message}): make room, or send it elsewhere\n`);
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
  // The second one ends the process: Node's default.
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
    cwd: process.cwd(),
    homeDir: homedir(),
    tmpDir: tmpdir(),
    platform: process.platform,
    stdin: process.stdin,
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
      // A file is written at once.
      done(error as Error);
    }
  });
}
