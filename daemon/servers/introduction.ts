/**
 * How a control client of ours introduces itself to a running server without ending it (docs/tmuxFacts.md 50), which the
 * server's version decides.
 */
import { releaseOf } from "../connection/tmuxVersion.ts";
import type { OpenDirect } from "../host/clients/directTransport.ts";
import type { OpenTransport, TransportOptions } from "../host/clients/transport.ts";

/**
 * As tmux's own does, from 3.7 on; by a message order of our own, in the releases whose messages are known; else as tmux's
 * own does, but on a server that is not ours only while that is calm.
 */
export type Introduction = "any" | "direct" | "calm";

export interface ProbedServer {
  /** `3.3a`; empty where no server replied. */
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

/** How a client on a server is started, up to its first command. */
export type ClientSpawn = Omit<TransportOptions, "onData" | "onClose">;

interface ClientStart {
  readonly open: OpenTransport;
  readonly openDirect: OpenDirect | undefined;
  readonly spawn: ClientSpawn;
  readonly socketPath: string;
}

/** A control client on this server, with `command` as its first command. */
export function controlClient(
  { open, openDirect, spawn, socketPath }: ClientStart,
  command: readonly string[],
  { version, introduction }: ProbedServer,
): { readonly open: OpenTransport; readonly spawn: ClientSpawn } {
  const whole = { ...spawn, args: [...spawn.args, ...command] };
  if (introduction !== "direct" || openDirect === undefined) return { open, spawn: whole };
  const messages = (releaseOf(version) ?? OLDEST) < NEW_MESSAGES ? "old" : "new";
  return { open: (options) => openDirect({ ...options, socketPath, command, messages, env: {} }), spawn: whole };
}
