/**
 * Who is attached where on a guest's server, and which tmux it is, before any control client goes to it: a plain client
 * prints it and ends. It has no session, so none of the user's lists shows it, it starts no server (`-N`), and what tmux
 * tells all control clients does not concern it. The version decides how a control client of ours introduces itself.
 */
import { AppError } from "../../../protocol/errors.ts";
import type { SessionId } from "../../../protocol/ids.ts";
import { GUEST_ATTACH_WITHIN_MS } from "../../../protocol/limits.ts";
import { probeTmuxVersion } from "../../connection/tmuxVersion.ts";
import type { OpenDirect } from "../../host/clients/directTransport.ts";
import type { Host } from "../../host/host.ts";
import type { OpenTransport } from "../../host/clients/transport.ts";
import { controlClient, type ProbedServer } from "../introduction.ts";
import { ourFlags } from "../orphanedClients.ts";
import { decodeProbe, PRESENCE_ARGUMENTS } from "./guestPresence.ts";

/** What is known of the tmux program that a guest's clients run. */
interface GuestTmux {
  /** Undefined while there is none. */
  version?: string;
  /** Why there is none; undefined when there is. */
  missing?: AppError | undefined;
}

export interface GuestSpawn {
  readonly host: Host;
  readonly open: OpenTransport;
  readonly openDirect: OpenDirect | undefined;
  readonly tmux: string;
  readonly program: GuestTmux;
  readonly env: Readonly<Record<string, string>>;
  readonly socketPath: string;
}

/**
 * Looks for the program, unless it has been found. The daemon starts without one, too: a server of the user's cannot run
 * without it, so it is looked for again when a server listens on the socket.
 * @throws AppError TMUX_UNAVAILABLE when it is too old or does not run; that it is missing is remembered
 */
export async function findTmux({ host, tmux, program, env }: GuestSpawn): Promise<void> {
  if (program.version !== undefined) return;
  try {
    program.version = await probeTmuxVersion(tmux, env, host.clients.run);
    program.missing = undefined;
  } catch (error) {
    if (!(error instanceof AppError) || error.details?.["reason"] !== "tmux_not_installed") throw error;
    program.missing = error;
  }
}

/** A control client on this server, with `command` as its first command. */
export function guestClient(
  { open, openDirect, tmux, program, env, socketPath }: GuestSpawn,
  command: readonly string[],
  server: ProbedServer,
): ReturnType<typeof controlClient> {
  // tmux's own client sends the server a message for each variable, and the server needs none of ours (`-E`).
  const needed = { PATH: env["PATH"] ?? "" };
  const spawn = { tmux, tmuxVersion: program.version, args: ["-u", "-N", "-S", socketPath], env: needed, cwd: "/" };
  return controlClient({ open, openDirect, spawn, socketPath }, command, server);
}

/** `-E`: nothing of our environment reaches the user's session. `ignore-size`: no window is resized (docs/tmuxFacts.md 31). */
export const attachCommand = (session: SessionId, ...flags: string[]): readonly string[] => {
  const all = [ourFlags(), ...flags].join(",");
  return ["attach-sessio", "-E", "-t", session, "-f", all];
};

/** How tmux says that nobody listens (client.c `client_main`). */
const NO_SERVER =
  /^no server running on |^error connecting to .* \((?:No such file or directory|Connection refused)\)$/m;

/** `none`: there is no server. Undefined when it does not respond. */
export async function probeServer({
  host,
  tmux,
  env,
  socketPath,
}: GuestSpawn): Promise<ReturnType<typeof decodeProbe> | "none"> {
  const args = ["-u", "-N", "-S", socketPath, ...PRESENCE_ARGUMENTS];
  const { stdout, failure } = await host.clients.run(tmux, args, env, { timeoutMs: GUEST_ATTACH_WITHIN_MS });
  return decodeProbe(stdout) ?? (NO_SERVER.test(failure?.message ?? "") ? "none" : undefined);
}
