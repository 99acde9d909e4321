/**
 * How a control client is run: `tmux -CC` on a pty (the kernel tells tmux when we die, docs/tmuxFacts.md 3) or
 * `tmux -C` on pipes (bench baseline, and platforms without the native module). The only file that imports node-pty,
 * and one of the few that may start a process: it starts the control client, and with it an owned server.
 */
import { spawn as spawnChild } from "node:child_process";
import { spawn as spawnPty } from "@homebridge/node-pty-prebuilt-multiarch";

export interface TransportOptions {
  /** The tmux executable. */
  readonly tmux: string;
  /** Arguments after `-CC`/`-C`: socket, configuration, and the command to attach with. */
  readonly args: readonly string[];
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
  /** ASCII only: the command encoder sees to that. Kept in order; never blocks. */
  write(text: string): void;
  /** Ends the control client. `onClose` follows. Safe to call twice. */
  close(): void;
}

export type OpenTransport = (options: TransportOptions) => Transport;

/** `tmux -CC` on a pty. */
export const openPtyTransport: OpenTransport = (options) => {
  const pty = spawnPty(options.tmux, ["-CC", ...options.args], {
    // null gives Buffers; the typings know strings only.
    encoding: null,
    env: { ...options.env },
    cwd: options.cwd,
    name: "xterm-256color",
    cols: 80,
    rows: 24,
  });
  let closed = false;
  pty.onData((data) => options.onData(data as unknown as Uint8Array));
  pty.onExit(() => {
    closed = true;
    options.onClose();
  });
  return {
    pid: pty.pid,
    write: (text) => {
      if (!closed) pty.write(text);
    },
    close: () => {
      if (!closed) pty.kill("SIGHUP");
    },
  };
};

/** `tmux -C` on pipes. */
export const openPipeTransport: OpenTransport = (options) => {
  const child = spawnChild(options.tmux, ["-C", ...options.args], {
    env: { ...options.env },
    cwd: options.cwd,
    stdio: ["pipe", "pipe", "ignore"],
  });
  let closed = false;
  const close = (): void => {
    if (closed) return;
    closed = true;
    options.onClose();
  };
  child.stdout.on("data", (chunk: Uint8Array) => options.onData(chunk));
  child.once("close", close);
  child.once("error", close);
  // A write after the client has gone is reported by `close`, not here.
  child.stdin.on("error", () => undefined);
  return {
    pid: child.pid ?? -1,
    write: (text) => {
      if (!closed) child.stdin.write(text);
    },
    close: () => {
      if (!closed) child.kill("SIGHUP");
    },
  };
};
