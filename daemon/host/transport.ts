/**
 * How a control client is run: `tmux -CC` on a pty (the kernel tells tmux when we die, docs/tmuxFacts.md 3) or
 * `tmux -C` on pipes (bench baseline, and platforms without the native module). The only file that imports node-pty,
 * and one of the few that may start a process: it starts the control client, and with it an owned server.
 */
import { spawn as spawnChild } from "node:child_process";
import { writeSync } from "node:fs";
import { type IPty, spawn as spawnPty } from "@homebridge/node-pty-prebuilt-multiarch";
import { BusyPoll } from "../time/busyPoll.ts";
import { type Clock, systemClock } from "../time/clock.ts";
import { launcher } from "./launcher.ts";
import { PtyWriter } from "./ptyWriter.ts";
import { countSpawn } from "./spawnCount.ts";

export interface TransportOptions {
  /** The tmux executable. */
  readonly tmux: string;
  /** Arguments after `-CC`/`-C`: socket, configuration, and the command to attach with. */
  readonly args: readonly string[];
  /** What `tmux -V` says, where that is known. */
  readonly tmuxVersion?: string | undefined;
  /** The whole environment of the process; nothing else is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** A chunk that belongs to the receiver until the next call. */
  readonly onData: (chunk: Uint8Array) => void;
  /** Once, when nothing more will come. */
  readonly onClose: () => void;
}

export interface Transport {
  readonly pid: number;
  /** Keeps this process awake while tmux answers; none where nothing is woken by a kernel. */
  readonly busyPoll?: BusyPoll | undefined;
  /** ASCII only: the command encoder sees to that. Kept in order; never blocks. */
  write(text: string): void;
  /** Ends the control client. `onClose` follows. Safe to call twice. */
  close(): void;
}

export type OpenTransport = (options: TransportOptions) => Transport;

/** What the pty module has besides its typings. */
interface PtyInternals {
  readonly fd: number;
  /** Closes our end at once; SIGHUP for the client follows. */
  destroy(): void;
  readonly _socket: { readonly destroyed: boolean };
}

/** Writes what fits into the pty and returns how much that was; a pty that is gone takes everything. */
function writeWhatFits(pty: IPty, bytes: Uint8Array): number {
  const { fd, _socket } = pty as unknown as PtyInternals;
  // The descriptor is closed with the stream, before `onExit`: its number may be another file's by now.
  if (_socket.destroyed) return bytes.length;
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EAGAIN" || code === "EINTR" ? 0 : bytes.length;
  }
}

function commandLine(options: TransportOptions, mode: string): { readonly file: string; readonly args: string[] } {
  const { tmux, tmuxVersion, env } = options;
  const [file = tmux, ...args] = [...launcher(env, tmuxVersion), tmux, mode, ...options.args];
  return { file, args };
}

/** `tmux -CC` on a pty. */
export const ptyTransport =
  (clock: Clock): OpenTransport =>
  (options) => {
    const { file, args } = commandLine(options, "-CC");
    const pty = spawnPty(file, args, {
      // null gives Buffers; the typings know strings only.
      encoding: null,
      env: { ...options.env },
      cwd: options.cwd,
      name: "xterm-256color",
      cols: 80,
      rows: 24,
    });
    countSpawn(pty.pid);
    let closed = false;
    const writer = new PtyWriter({ clock, write: (bytes) => writeWhatFits(pty, bytes) });
    const busyPoll = new BusyPoll({ clock });
    pty.onData((data) => {
      options.onData(data as unknown as Uint8Array);
      writer.drain();
    });
    pty.onExit(() => {
      closed = true;
      writer.close();
      busyPoll.close();
      options.onClose();
    });
    return {
      pid: pty.pid,
      busyPoll,
      write: (text) => writer.push(Buffer.from(text, "latin1")),
      close: () => {
        writer.close();
        busyPoll.close();
        // Not by a signal alone: a client that leaves makes its terminal blocking while the server still reads from it
        // (client.c), and the server then hangs in that read until our end is closed.
        if (!closed) (pty as unknown as PtyInternals).destroy();
        closed = true;
      },
    };
  };

export const openPtyTransport: OpenTransport = ptyTransport(systemClock);

/** `tmux -C` on pipes. */
export const openPipeTransport: OpenTransport = (options) => {
  const { file, args } = commandLine(options, "-C");
  const child = spawnChild(file, args, {
    env: { ...options.env },
    cwd: options.cwd,
    stdio: ["pipe", "pipe", "ignore"],
  });
  countSpawn(child.pid);
  const busyPoll = new BusyPoll({ clock: systemClock });
  let closed = false;
  const close = (): void => {
    if (closed) return;
    closed = true;
    busyPoll.close();
    options.onClose();
  };
  child.stdout.on("data", (chunk: Uint8Array) => options.onData(chunk));
  child.once("close", close);
  child.once("error", close);
  // A write after the client has gone is reported by `close`, not here.
  child.stdin.on("error", () => undefined);
  return {
    pid: child.pid ?? -1,
    busyPoll,
    write: (text) => {
      if (!closed) child.stdin.write(text);
    },
    close: () => {
      if (!closed) child.kill("SIGHUP");
    },
  };
};
