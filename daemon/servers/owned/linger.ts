/**
 * When a program ends, tmux closes its terminal at once: half of the time its last output is lost to every control
 * client, and now and then to the screen (docs/tmuxFacts.md 15). A shell that outlives the program for a moment saves
 * both. It then closes the terminal, and only later ends as the program did, with its exit code or by its signal: tmux
 * 3.3a with utempter misses the end of a program while it handles the end of its terminal. An exit code of 128 + N reads
 * as signal N.
 */
const SCRIPT = [
  // What the shell itself has to say ("Killed") is not the program's output.
  "exec 3>&2 2>/dev/null",
  // Keys that interrupt the program do not end the shell that waits for it; the program gets these signals as usual.
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

/** argv of a program that ends like `command`, once tmux has read its output. */
export const lingering = (command: readonly string[]): readonly string[] => ["sh", "-c", SCRIPT, "sh", ...command];
