/**
 * Starts a tmux server without a session, which would end at once (docs/tmuxFacts.md 7): it stays while a client is
 * connected, so tmux's own client starts it and waits for its input to end. The kernel ends that input when the daemon
 * dies, and the server with it.
 */
import { openPiped } from "./pipeTransport.ts";
import { launcher } from "./launcher.ts";
import type { TransportOptions } from "./transport.ts";

export interface HeldServer {
  /** `3.3a`; empty if no server could be started. */
  readonly version: string;
  /** Call when a session exists. Safe to call twice. */
  readonly release: () => void;
}

/** Starts the server, or finds the one that runs. @param args socket and configuration */
export type HoldServer = (
  options: Pick<TransportOptions, "tmux" | "tmuxVersion" | "args" | "env" | "cwd">,
) => Promise<HeldServer>;

const WAIT = ["start-serve", ";", "display-messag", "-p", "#{version}", ";", "source-fil", "-"];

export const holdServer: HoldServer = ({ tmux, tmuxVersion, args, env, cwd }) =>
  new Promise((resolve) => {
    let printed = "";
    const [file = tmux, ...words] = [...launcher(env, tmuxVersion), tmux, ...args, ...WAIT];
    const client = openPiped({
      file,
      args: words,
      env,
      cwd,
      onData: (chunk) => {
        printed += Buffer.from(chunk).toString("latin1");
        if (printed.includes("\n")) resolve({ version: printed.trim(), release: client.endInput });
      },
      onClose: () => resolve({ version: "", release: () => undefined }),
    });
  });
