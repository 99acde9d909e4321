/**
 * A connection to a host that has tmux and no tmuxwire: control clients and short commands are sessions of ssh there. What the
 * host is like is asked once, in a session that stays open until a second one has been taken, because a host that takes one at
 * a time cannot be used.
 */
import { rmSync } from "node:fs";
import { judgeVersion } from "../../daemon/connection/tmuxVersion.ts";
import { AppError } from "../../protocol/errors.ts";
import { requireProgram, scriptLine } from "./sshArguments.ts";
import type { LinkedHost, SshConnectionOptions } from "./sshConnection.ts";
import { bareHostFailure, bareTmuxFailure, oneSession, SESSION_REFUSED } from "./sshFailure.ts";
import { connectedInTime, type SshMaster, startMaster } from "./sshMaster.ts";
import { SESSION_MARK, SshSessions } from "./sshSessions.ts";

export interface AgentlessConnection extends LinkedHost {
  readonly host: BareHost & { readonly version: null };
  readonly sessions: SshSessions;
}

interface BareHost {
  /** `tmux 3.5a`. */
  readonly tmux: string;
  readonly uid: number;
  /** Where tmux keeps its sockets by default. */
  readonly socketDirectory: string;
  /** Those that are there: names of files. */
  readonly sockets: readonly string[];
}

const MAX_SOCKETS = 100;
const MAX_PRINTED_CHARS = 65_536;

/**
 * Prints what there is, one fact a line. First it ends control clients that came from here and outlived their connection,
 * because sshd has not noticed yet that it was cut: their flags have the mark (`withOrigin`), and none of them is in use now.
 * Only what tmux lists as a client is ended: the server that a client has started has the same arguments. A tmux that does not
 * respond is waited for a moment.
 */
const QUESTION = `echo; echo ${SESSION_MARK}
origin=$1; tmux=$2
version=$("$tmux" -V 2>&1) || version=none
directory=\${TMUX_TMPDIR:-/tmp}/tmux-$(id -u)
processes() {
ps -ww -eo pid=,args= || for p in /proc/[0-9]*; do echo "\${p#/proc/} $(tr '\\0' ' ' <"$p/cmdline")"; done
}
end_stale() {
ours=$(processes | while read -r pid arguments; do
case "$arguments " in *" -CC "*",from=$origin"[!0-9a-f]*) echo "$pid" ;; esac
done)
[ -z "$ours" ] || for socket in "$directory"/*; do
for client in $("$tmux" -N -S "$socket" list-clients -F '#{client_pid}'); do
for pid in $ours; do [ "$pid" != "$client" ] || kill -KILL "$pid"; done
done
done
}
end_stale >/dev/null 2>&1 </dev/null &
tries=0
while kill -0 $! 2>/dev/null && [ $tries -lt 20 ]; do sleep 0.1; tries=$((tries+1)); done
printf 'uid %s\\ndirectory %s\\ntmux %s\\n' "$(id -u)" "$directory" "$version"
for socket in "$directory"/*; do if [ -S "$socket" ]; then printf 'socket %s\\n' "\${socket##*/}"; fi; done
echo end
exec cat`;

/** Flags of a control client that say where it comes from. tmux ignores one that it does not know, but `ps` shows it. */
export const withOrigin = (flags: string, origin: string): string =>
  flags.replace(/(?<=,daemon=\d+)(?!\d)/, `,from=${origin}`);

/**
 * @param origin names this daemon and this host among all: hexadecimal digits
 * @param onLost called once if ssh ends by itself later
 * @throws AppError DAEMON_UNREACHABLE with `details.state`, INVALID_ARGUMENT, CONFIGURATION_INVALID; the signal's reason
 */
export async function openAgentless(
  options: SshConnectionOptions,
  origin: string,
  onLost: (error: AppError) => void,
  signal: AbortSignal,
): Promise<AgentlessConnection> {
  const { directory, program = "tmux" } = options;
  const line = questionLine(program, origin);
  const master = await startMaster(options, onLost, signal);
  const sessions = new SshSessions(options, master);
  const close = async (): Promise<void> => {
    await sessions.close();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const host = await connectedInTime(options, signal, async () => {
      await master.connected();
      return await question(options, master, sessions, line);
    });
    master.opened();
    return { host: { ...host, version: null }, sessions, close, ask: (asking) => ask(options, sessions, asking) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws AppError INVALID_ARGUMENT */
const questionLine = (program: string, origin: string): string => scriptLine(QUESTION, origin, requireProgram(program));

async function question(
  options: SshConnectionOptions,
  master: SshMaster,
  sessions: SshSessions,
  line: string,
): Promise<BareHost> {
  let printed = "";
  let stop: () => void = () => undefined;
  const answered = new Promise<boolean>((resolve) => {
    const asked = sessions.open({
      line,
      hasTerminal: false,
      onData: (chunk) => {
        printed += Buffer.from(chunk).toString("utf8");
        if (/^end$/m.test(printed) || printed.length > MAX_PRINTED_CHARS) resolve(true);
      },
      onClose: () => resolve(false),
    });
    stop = () => asked.close();
  });
  try {
    if (!(await answered)) throw bareHostFailure(options, await master.command("true"));
    const second = await master.command("true");
    if (SESSION_REFUSED.test(second.stderr)) throw oneSession(options);
  } finally {
    stop();
  }
  return bareHostOf(options, printed);
}

/** @throws AppError DAEMON_UNREACHABLE */
function bareHostOf(options: SshConnectionOptions, printed: string): BareHost {
  const said = (name: string): string | undefined => new RegExp(`^${name} (.*)$`, "m").exec(printed)?.[1];
  const uid = Number(/^\d{1,10}$/.exec(said("uid") ?? "")?.[0]);
  const socketDirectory = /^\/[^\p{C}]+$/u.exec(said("directory") ?? "")?.[0];
  const version = said("tmux");
  if (Number.isNaN(uid) || socketDirectory === undefined || version === undefined)
    throw bareHostFailure(options, { stderr: printed });
  if (version === "none") throw bareTmuxFailure(options, undefined);
  if (judgeVersion(version) !== "supported") throw bareTmuxFailure(options, version);
  const sockets = [...printed.matchAll(/^socket ([\w.-]{1,64})$/gm)].map(([, name]) => name!).slice(0, MAX_SOCKETS);
  return { tmux: version, uid, socketDirectory, sockets };
}

async function ask(
  options: SshConnectionOptions,
  sessions: SshSessions,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    const { code, stderr } = await sessions.run("true");
    if (code !== 0) throw bareHostFailure(options, { stderr });
  } catch (error) {
    signal?.throwIfAborted();
    // That all its sessions are in use says nothing against it.
    if (!(error instanceof AppError && error.code === "RESOURCE_LIMIT")) throw error;
  }
}
