/**
 * Who is attached where on a guest's server, and which tmux it is, before any control client goes to it: a plain client
 * prints it and ends. It has no session, so none of the user's lists shows it, it starts no server (`-N`), and what tmux
 * tells all control clients does not concern it. The version decides how a control client of ours introduces itself.
 */
import type { SessionId } from "../../../protocol/ids.ts";
import { GUEST_ATTACH_WITHIN_MS } from "../../../protocol/limits.ts";
import { releaseOf } from "../../connection/tmuxVersion.ts";
import type { OpenDirect } from "../../host/directTransport.ts";
import type { Host } from "../../host/host.ts";
import type { OpenTransport, TransportOptions } from "../../host/transport.ts";
import type { GuestTmux } from "./guestTmux.ts";
import { ourFlags } from "../orphanedClients.ts";
import { decodeProbe, PRESENCE_ARGUMENTS } from "./guestPresence.ts";

export interface GuestSpawn {
  readonly host: Host;
  readonly open: OpenTransport;
  readonly openDirect: OpenDirect | undefined;
  readonly tmux: string;
  /** What is known of `tmux`. */
  readonly program: GuestTmux;
  readonly env: Readonly<Record<string, string>>;
  readonly socketPath: string;
}

/**
 * How a control client introduces itself without ending the server (docs/tmuxFacts.md 50): as tmux's own does, from 3.7
 * on; by a message order of our own, in the releases whose messages are known; else as tmux's own does, but only while
 * the server is calm.
 */
export type Introduction = "any" | "direct" | "calm";

export interface ProbedServer {
  /** `3.3a` */
  readonly version: string;
  readonly introduction: Introduction;
}

/** The first release that tells nothing to a client that is introducing itself. */
const SOUND = 307;
/** The first release with other messages (compat/imsg.h). */
const NEW_MESSAGES = 306;
const OLDEST = 302;

/** @param version as `#{version}`; a build that names no release may be any */
export function introductionTo(version: string, canBeDirect: boolean): Introduction {
  if ((releaseOf(version) ?? OLDEST) >= SOUND) return "any";
  return canBeDirect && /^3\.\d[a-z]?$/.test(version) ? "direct" : "calm";
}

/** A control client on this server, with `command` as its first command. */
export function guestClient(
  { open, openDirect, tmux, program, env, socketPath }: GuestSpawn,
  command: readonly string[],
  { version, introduction }: ProbedServer,
): { readonly open: OpenTransport; readonly spawn: Omit<TransportOptions, "onData" | "onClose"> } {
  const messages = (releaseOf(version) ?? OLDEST) < NEW_MESSAGES ? "old" : "new";
  const spawn = { tmux, tmuxVersion: program.version, args: ["-u", "-N", "-S", socketPath, ...command], env, cwd: "/" };
  if (introduction !== "direct" || openDirect === undefined) return { open, spawn };
  return { open: (options) => openDirect({ ...options, socketPath, command, messages, env: {} }), spawn };
}

/** `-E`: nothing of our environment reaches the user's session. `ignore-size`: no window is resized (docs/tmuxFacts.md 31). */
export const attachCommand = (session: SessionId, ...flags: string[]): readonly string[] => {
  const all = [ourFlags(), ...flags].join(",");
  return ["attach-sessio", "-E", "-t", session, "-f", all];
};

/** Undefined when there is no server, or it does not respond. */
export async function probeServer({
  host,
  tmux,
  env,
  socketPath,
}: GuestSpawn): Promise<ReturnType<typeof decodeProbe>> {
  const args = ["-u", "-N", "-S", socketPath, ...PRESENCE_ARGUMENTS];
  const { stdout } = await host.clients.run(tmux, args, env, { timeoutMs: GUEST_ATTACH_WITHIN_MS });
  return decodeProbe(stdout);
}
