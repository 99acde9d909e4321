/**
 * When a program ends, tmux closes its terminal at once: half of the time its last output is lost to every control client,
 * and sometimes to the screen (docs/tmuxFacts.md 15). A shell that outlives the program for a moment (a grace period)
 * preserves both. It then closes the terminal, and only later ends as the program did, with its exit code or by its signal,
 * because tmux 3.3a with utempter misses the end of a program while it handles the end of its terminal. An exit code of
 * 128 + N is read as signal N.
 */
import type { HostProcesses } from "../host/hostProcesses.ts";
import type { ProcessMark } from "../tmux/processes.ts";

const SCRIPT = [
  // The shell's own messages ("Killed") are not the program's output.
  "exec 3>&2 2>/dev/null",
  // Keys that interrupt the program must not end the shell that waits for it; the program gets these signals as usual.
  "trap : INT QUIT",
  '(exec "$@" 2>&3 3>&-)',
  "s=$?",
  "sleep 0.05",
  // A process that closes the terminal gets SIGHUP.
  "trap '' HUP",
  "exec </dev/null >/dev/null 3>&-",
  "sleep 0.05",
  "trap - HUP INT QUIT",
  "[ $s -gt 128 ] && kill -$((s - 128)) $$",
  "exit $s",
].join("; ");

const WORDS = ["sh", "-c", SCRIPT] as const;

/** The argv of a program that ends like `command` does, but only after tmux has read its output. */
export const withGracePeriod = (command: readonly string[]): readonly string[] => [...WORDS, "sh", ...command];

/**
 * The program behind that shell; if there is no such shell, the pane's own process. Undefined before it has started, once it
 * is gone, and if the host does not know.
 */
export async function programBehind(panePid: number, host: HostProcesses): Promise<ProcessMark | undefined> {
  const processes = await host.probe();
  const markOf = async (pid: number): Promise<ProcessMark | undefined> => {
    const stat = await processes.stat(pid);
    return stat === undefined ? undefined : { pid, start: stat.start, executable: processes.executableNow(pid) };
  };
  const pane = await processes.stat(panePid);
  if (pane === undefined) return undefined;
  // Joined, because `ps` does not show where a word ends.
  const wordsOf = async (pid: number): Promise<string | undefined> => (await processes.words(pid))?.join(" ");
  const words = await wordsOf(panePid);
  // tmux's own fork, which has not become the program yet.
  if (words === undefined || words === (await wordsOf(pane.parent))) return undefined;
  if (!words.startsWith(WORDS.join(" "))) return markOf(panePid);
  const children = await processes.children(panePid);
  // A kernel that lists no children.
  if (children === undefined) return markOf(panePid);
  const [program] = children;
  return program === undefined ? undefined : markOf(program);
}
