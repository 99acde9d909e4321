/**
 * What a command may use of its process, arguments aside, so that a test can substitute its own. A reader that has gone
 * away (EPIPE) ends the work and is no failure.
 */
import { homedir, tmpdir } from "node:os";
import type { Readable, Writable } from "node:stream";

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly homeDir: string;
  readonly tmpDir: string;
  readonly platform: NodeJS.Platform;
  readonly stdin: Readable;
  /** Resolves when the reader has room again. Discards data once the reader is gone. */
  out(data: string | Uint8Array): Promise<void>;
  err(text: string): void;
  /** Whether stdout may carry colours: a terminal, and neither NO_COLOR nor TERM=dumb. */
  readonly colour: boolean;
  /** Sends SIGINT to `handle`, without aborting, until the returned function is called. */
  takeInterrupts?(handle: () => void): () => void;
  /** Aborts at the first SIGINT or SIGTERM, and when stdout's reader is gone. */
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

const EXIT_SIGINT = 130;
const EXIT_SIGTERM = 143;

/** The process's own `Io`. */
export function processIo(process: NodeJS.Process): Io {
  const controller = new AbortController();
  let readerGone = false;
  const onWriteError = (error: NodeJS.ErrnoException): void => {
    if (error.code !== "EPIPE") throw error;
    readerGone = true;
    controller.abort(new Interrupted(0, "the reader of the output has gone"));
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
    out: (data) => (readerGone ? Promise.resolve() : written(process.stdout, data)),
    err: (text) => void process.stderr.write(text),
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
function written(stream: Writable, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => stream.write(data, () => resolve()));
}
