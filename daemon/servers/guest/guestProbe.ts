/**
 * Probes a guest's server before anything is attached to it: a control client that lists sessions and clients and exits.
 * It has no session, so none of the user's lists shows it, and it starts no server (`-N`). It runs on pipes: a pty can
 * lose the last output of a client that ends at once (a hang-up after a short read is taken for the end).
 */
import { ControlParser, type GuardBlock } from "../../../protocol/control/parser.ts";
import type { SessionId } from "../../../protocol/ids.ts";
import { GUEST_ATTACH_WITHIN_MS } from "../../../protocol/limits.ts";
import type { Host } from "../../host/host.ts";
import type { OpenTransport, TransportOptions } from "../../host/transport.ts";
import type { Clock } from "../../time/clock.ts";
import type { GuestTmux } from "./guestTmux.ts";
import { ourFlags } from "../orphanedClients.ts";
import { decodePresence, PRESENCE_ARGUMENTS, type Presence } from "./guestPresence.ts";

export interface GuestSpawn {
  readonly host: Host;
  readonly open: OpenTransport;
  /** For a client that does not stay. */
  readonly openProbe: OpenTransport;
  readonly tmux: string;
  /** What is known of `tmux`. */
  readonly program: GuestTmux;
  readonly env: Readonly<Record<string, string>>;
  readonly socketPath: string;
}

/** How to start a control client on this server, with `command` as its first command. */
export const guestSpawn = (
  spawn: GuestSpawn,
  command: readonly string[],
): Omit<TransportOptions, "onData" | "onClose"> => ({
  tmux: spawn.tmux,
  tmuxVersion: spawn.program.version,
  args: ["-u", "-N", "-S", spawn.socketPath, ...command],
  env: spawn.env,
  cwd: "/",
});

/** `-E`: nothing of our environment reaches the user's session. `ignore-size`: no window is resized (docs/tmuxFacts.md 31). */
export const attachCommand = (session: SessionId, ...flags: string[]): readonly string[] => {
  const all = [ourFlags(), ...flags].join(",");
  return ["attach-sessio", "-E", "-t", session, "-f", all];
};

/** Undefined when there is no server, or it does not respond. */
export function probeServer(spawn: GuestSpawn, clock: Clock, signal: AbortSignal): Promise<Presence | undefined> {
  return new Promise((resolve) => {
    const blocks: GuardBlock[] = [];
    const end = (): void => {
      timer.cancel();
      signal.removeEventListener("abort", close);
      const [sessions, clients] = blocks;
      const isWhole = sessions?.ok === true && clients?.ok === true;
      resolve(isWhole ? decodePresence(sessions.body, clients.body) : undefined);
    };
    const parser = new ControlParser({
      output: () => undefined,
      expect: () => undefined,
      block: (block) => blocks.push(block),
      notification: () => undefined,
    });
    const transport = spawn.openProbe({
      ...guestSpawn(spawn, PRESENCE_ARGUMENTS),
      onData: (chunk) => {
        try {
          parser.push(chunk);
        } catch {
          transport.close();
        }
      },
      onClose: end,
    });
    const close = (): void => transport.close();
    const timer = clock.callAt(clock.nowMs() + GUEST_ATTACH_WITHIN_MS, close);
    signal.addEventListener("abort", close, { once: true });
    if (signal.aborted) close();
  });
}
