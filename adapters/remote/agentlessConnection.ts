/**
 * A connection to a host that has tmux and no tmuxwire: control clients and short commands are sessions of ssh there. What the
 * host is like is asked once, in a session that stays open until a second one has been taken, because a host that takes one at
 * a time cannot be used.
 */
import { rmSync } from "node:fs";
import { judgeVersion } from "../../daemon/connection/tmuxVersion.ts";
import { shellWord } from "../../protocol/text/shellWord.ts";
import { AppError } from "../../protocol/errors.ts";
import { requireProgram } from "./sshArguments.ts";
import type { LinkedHost, SshConnectionOptions } from "./sshConnection.ts";
import { bareHostFailure, bareTmuxFailure, oneSession, SESSION_REFUSED } from "./sshFailure.ts";
import { connectedInTime, type SshMaster, startMaster } from "./sshMaster.ts";
import { SshSessions } from "./sshSessions.ts";

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
/** Behind it comes the shell's pid. */
const MARK = "tmuxwire-pid: ";

/**
 * Prints what there is, one fact a line. First it ends control clients of ours that outlived an earlier connection, because
 * sshd has not noticed yet that it was cut: a process counts as one if its arguments still name this daemon.
 */
const QUESTION = `printf '\\n${MARK}%s\\n' $$
daemon=$1; tmux=$2; shift 2
version=$("$tmux" -V 2>&1) || version=none
for pid in "$@"; do
case " $(ps -o args= -p "$pid" 2>/dev/null || tr '\\0' ' ' <"/proc/$pid/cmdline") " in
*,daemon=$daemon[!0-9]*) kill -HUP "$pid"; case $version in *3.2*) ;; *) kill -KILL "$pid" ;; esac ;;
esac
done 2>/dev/null
directory=\${TMUX_TMPDIR:-/tmp}/tmux-$(id -u)
printf 'uid %s\\ndirectory %s\\ntmux %s\\n' "$(id -u)" "$directory" "$version"
for socket in "$directory"/*; do if [ -S "$socket" ]; then printf 'socket %s\\n' "\${socket##*/}"; fi; done
printf 'end\\n'
exec cat`;

/**
 * @param stale pids of earlier sessions on the host
 * @param onLost called once if ssh ends by itself later
 * @throws AppError DAEMON_UNREACHABLE with `details.state`, INVALID_ARGUMENT, CONFIGURATION_INVALID; the signal's reason
 */
export async function openAgentless(
  options: SshConnectionOptions,
  stale: readonly number[],
  onLost: (error: AppError) => void,
  signal: AbortSignal,
): Promise<AgentlessConnection> {
  const { directory, program = "tmux" } = options;
  const line = questionLine(program, stale);
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
const questionLine = (program: string, stale: readonly number[]): string =>
  ["exec", "sh", "-c", shellWord(QUESTION), "tmuxwire", String(process.pid), requireProgram(program), ...stale].join(" ");

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
      mark: MARK,
      onData: (chunk) => {
        printed += Buffer.from(chunk).toString("utf8");
        if (/^end$/m.test(printed) || printed.length > MAX_PRINTED_CHARS) resolve(true);
      },
      onClose: () => resolve(false),
    });
    stop = () => asked.close();
  });
  try {
    if (!(await answered)) throw bareHostFailure(options, await master.command("exec true"));
    const second = await master.command("exec true");
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

async function ask(options: SshConnectionOptions, sessions: SshSessions, signal: AbortSignal | undefined): Promise<void> {
  const { code, stderr } = await sessions.run("exec true");
  signal?.throwIfAborted();
  if (code !== 0) throw bareHostFailure(options, { stderr });
}
