/**
 * Starts every control client. The pty module leaks the ptys it has opened to every process started later, and the first
 * client of an owned server becomes that server. While any process holds one of our ptys, the kernel does not hang it up, so
 * a client of a killed daemon would stay attached, and its server would refuse the next daemon (docs/tmuxFacts.md 38). Node
 * cannot mark a descriptor close-on-exec, so a shell closes all but the first three and then becomes tmux. bash and busybox
 * can close descriptors above 9; where `sh` cannot, perl does it, and without perl the next start has to find clients that
 * stayed (`orphanedClients.ts`).
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

const PERL = 'opendir D,"/dev/fd";for(grep{/^\\d+$/&&$_>2}readdir D){open F,"<&=$_" and close F}exec{$ARGV[0]}@ARGV';

/** A shell that does not support descriptors of several digits takes `10` as an argument. */
const SCRIPT = [
  "count() { digits=$#; }; count 10>&-",
  `if [ "$digits" -eq 0 ]; then for f in /dev/fd/*; do n=\${f##*/}; case $n in [012]|*[!0-9]*) ;; *) eval "exec $n>&-" ;; esac; done`,
  `elif command -v perl >/dev/null; then set -- perl -e '${PERL}' "$@"; fi`,
].join("\n");

/** Without the variables that a shell adds, because an owned server's panes inherit the environment. */
const RUN = '/usr/bin/env -u SHLVL -u _ "$@"';

/** A control client of tmux 3.2 ignores a hang-up of its terminal (docs/tmuxFacts.md 3a), so a guard ends it. */
const ignoresHangup = (tmuxVersion: string): boolean => /^tmux (?:next-)?3\.2/.test(tmuxVersion);

/** `sh` gives a background command `/dev/null` as input, unless it is redirected from another descriptor. */
const START = `exec 3<&0\n${RUN} <&3 3<&- &`;

const GUARD = `trap 'kill -KILL "$!"' HUP\n${START}\nwait "$!"`;

/** On pipes there is no signal; end of file on an input that is never written means that the daemon is gone. */
const PIPE_GUARD = [
  `trap 'kill -KILL "$client"' HUP`,
  START,
  "client=$!",
  `{ while read -r _; do :; done; kill -KILL "$client"; } <&3 3<&- >/dev/null 2>&1 &`,
  "reader=$!",
  'wait "$client"',
  "code=$?",
  'kill "$reader" 2>/dev/null',
  'exit "$code"',
].join("\n");

/** Variables of the login through which a client was started, which are none of its server's. */
const LOGIN = ["SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "SSH_ORIGINAL_COMMAND"].map((name) => `-u ${name}`).join(" ");

/**
 * For a shell on another machine: prints the mark on a line of its own, since start-up files may have printed half a line, and
 * becomes the command in its arguments. No descriptors are open there but the first three.
 */
export const remoteScript = (mark: string, tmuxVersion = ""): string =>
  `echo; echo ${mark}\nset -- /usr/bin/env ${LOGIN} "$@"\n${ignoresHangup(tmuxVersion) ? GUARD : `exec ${RUN}`}`;

/**
 * A command line that becomes the command in its last arguments.
 * @param input `unused`: a pipe that is never written and closes when we end
 */
export function launcher(
  env: Readonly<Record<string, string>>,
  tmuxVersion = "",
  input: "used" | "unused" = "used",
): readonly string[] {
  const bash = (env["PATH"] ?? "")
    .split(":")
    .filter((directory) => directory.startsWith("/"))
    .map((directory) => join(directory, "bash"))
    .find((path) => existsSync(path));
  const shell = bash === undefined ? ["/bin/sh"] : [bash, "--norc", "--noprofile"];
  const guard = input === "unused" ? PIPE_GUARD : GUARD;
  const start = ignoresHangup(tmuxVersion) ? guard : `exec ${RUN}`;
  return [...shell, "-c", `${SCRIPT}\n${start}`, "tmuxwire"];
}
