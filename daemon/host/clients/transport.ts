/**
 * A control client of tmux as a byte stream, and how to open one: `tmux -CC` on a pty (`ptyTransport.ts`) or `tmux -C`
 * on pipes (`pipeTransport.ts`).
 */
import { launcher } from "./launcher.ts";

export interface TransportOptions {
  /** The tmux executable. */
  readonly tmux: string;
  /** Arguments after `-CC`/`-C`: socket, configuration, and the command to attach with. */
  readonly args: readonly string[];
  /** The output of `tmux -V`, if known. */
  readonly tmuxVersion?: string | undefined;
  /** The whole environment of the process; nothing else is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Called with a chunk, which is valid until the next call. */
  readonly onData: (chunk: Uint8Array) => void;
  /** Called once, when nothing more will come. */
  readonly onClose: () => void;
}

export interface Transport {
  readonly pid: number;
  /** ASCII only, which the command encoder ensures. Keeps the order; never blocks. */
  write(text: string): void;
  /** Ends the control client. `onClose` follows. Safe to call twice. */
  close(): void;
}

export type OpenTransport = (options: TransportOptions) => Transport;

/** The launcher's command line; it becomes tmux in this mode. */
export function commandLine(
  options: TransportOptions,
  mode: string,
  input?: "used" | "unused",
): { readonly file: string; readonly args: string[] } {
  const { tmux, tmuxVersion, env } = options;
  const [file = tmux, ...args] = [...launcher(env, tmuxVersion, input), tmux, mode, ...options.args];
  return { file, args };
}
