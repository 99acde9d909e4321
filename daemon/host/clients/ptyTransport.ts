/**
 * `tmux -CC` on a pty, so that the kernel tells tmux when we die (docs/tmuxFacts.md 3). The only file that imports node-pty,
 * and only when a pty is first needed: if that native module is not installed, pipes are used instead.
 */
import { writeSync } from "node:fs";
import { createRequire } from "node:module";
import type { IPty, spawn } from "@homebridge/node-pty-prebuilt-multiarch";
import { type Clock, systemClock, type Timer } from "../../time/clock.ts";
import { countSpawn } from "../spawnCount.ts";
import { commandLine, type OpenTransport } from "./transport.ts";

/** The package to reinstall if the module is missing. */
export const PTY_PACKAGE = "@homebridge/node-pty-prebuilt-multiarch";

const require = createRequire(import.meta.url);

interface PtyModule {
  readonly spawn: typeof spawn;
}

let loaded: PtyModule | Error | undefined;

function ptyModule(): PtyModule | Error {
  if (loaded !== undefined) return loaded;
  // The module prints why it cannot be loaded; `doctor` and the log report that themselves.
  const print = console.error;
  console.error = () => undefined;
  try {
    loaded = require("@homebridge/node-pty-prebuilt-multiarch") as PtyModule;
  } catch (error) {
    loaded = error instanceof Error ? error : new Error(String(error));
  } finally {
    console.error = print;
  }
  return loaded;
}

/** Why ptys are not available; undefined if they are. */
export function ptyProblem(): string | undefined {
  const found = ptyModule();
  return found instanceof Error ? (found.message.split("\n")[0] ?? "") : undefined;
}

/** The pty module's members that its typings lack. */
interface PtyInternals {
  readonly fd: number;
  /** Closes our end at once; SIGHUP for the client follows. */
  destroy(): void;
  readonly _socket: { readonly destroyed: boolean };
}

/** Writes what fits into the pty and returns how much; a closed pty accepts everything. */
function writeWhatFits(pty: IPty, bytes: Uint8Array): number {
  const { fd, _socket } = pty as unknown as PtyInternals;
  // The descriptor is closed with the stream, before `onExit`, so its number may already belong to another file.
  if (_socket.destroyed) return bytes.length;
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EAGAIN" || code === "EINTR" ? 0 : bytes.length;
  }
}

/** `tmux -CC` on a pty. */
export const openPtyTransport: OpenTransport = (options) => {
  const found = ptyModule();
  if (found instanceof Error) throw found;
  const { spawn: spawnPty } = found;
  const { file, args } = commandLine(options, "-CC");
  const pty = spawnPty(file, args, {
    // null makes it pass Buffers; the typings only allow strings.
    encoding: null,
    env: { ...options.env },
    cwd: options.cwd,
    // tmux sends the server a message per terminal capability, and a control client uses none.
    name: "dumb",
    cols: 80,
    rows: 24,
  });
  countSpawn(pty.pid);
  let closed = false;
  const writer = new PtyWriter({ clock: systemClock, write: (bytes) => writeWhatFits(pty, bytes) });
  pty.onData((data) => {
    options.onData(data as unknown as Uint8Array);
    writer.drain();
  });
  pty.onExit(() => {
    closed = true;
    writer.close();
    options.onClose();
  });
  return {
    pid: pty.pid,
    write: (text) => writer.push(Buffer.from(text, "latin1")),
    close: () => {
      writer.close();
      // A signal alone is not enough: an exiting client sets its terminal to blocking while the server still reads
      // from that (client.c), and the server then hangs in the read until our end is closed.
      if (!closed) (pty as unknown as PtyInternals).destroy();
      closed = true;
    },
  };
};

/** tmux reads 4 KiB at a time and usually reads again at once. */
const RETRY_MIN_MS = 1;
/** How late we notice, at most, that a stopped tmux continues. */
const RETRY_MAX_MS = 20;

interface PtyWriterOptions {
  readonly clock: Clock;
  /** Writes what fits and returns how much. */
  readonly write: (bytes: Uint8Array) => number;
}

/**
 * Writes to a pty without ever blocking the process. The pty module's own stream is a libuv terminal, whose writes spin until
 * the other side has read, so a stopped or dead tmux would stop the daemon too. Here a write that does not fit waits, and is
 * retried when tmux has sent something (so it is also reading) and after a short while.
 */
export class PtyWriter {
  readonly #options: PtyWriterOptions;
  #waiting: Uint8Array[] = [];
  #timer: Timer | undefined;
  #retryMs = RETRY_MIN_MS;
  #closed = false;

  constructor(options: PtyWriterOptions) {
    this.#options = options;
  }

  push(bytes: Uint8Array): void {
    if (this.#closed) return;
    this.#waiting.push(bytes);
    if (this.#waiting.length === 1) this.drain();
  }

  /** Writes what is waiting. */
  drain(): void {
    while (!this.#closed && this.#waiting.length > 0) {
      const [first] = this.#waiting as [Uint8Array];
      const written = this.#options.write(first);
      if (written === first.length) {
        this.#waiting.shift();
        this.#retryMs = RETRY_MIN_MS;
        continue;
      }
      if (written > 0) {
        this.#waiting[0] = first.subarray(written);
        this.#retryMs = RETRY_MIN_MS;
      }
      this.#retryLater();
      return;
    }
  }

  /** Drops what is waiting. Safe to call twice. */
  close(): void {
    this.#closed = true;
    this.#waiting = [];
    this.#timer?.cancel();
  }

  #retryLater(): void {
    if (this.#timer !== undefined) return;
    const { clock } = this.#options;
    this.#timer = clock.callAt(clock.nowMs() + this.#retryMs, () => {
      this.#timer = undefined;
      this.#retryMs = Math.min(RETRY_MAX_MS, this.#retryMs * 2);
      this.drain();
    });
  }
}
