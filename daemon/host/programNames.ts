/** The names of a process: the one the kernel keeps, the one it was started as, and the script an interpreter runs. */
import { basename } from "node:path";

/** The kernel keeps this much of a process's name (TASK_COMM_LEN less its NUL). */
const COMM_BYTES = 15;
const INTERPRETER = /^(?:node|nodejs|bun|deno|python[\d.]*|ruby|perl|sh|bash|dash|zsh|fish|ksh)$/;
/** After one of these, an interpreter's program is on its command line. */
const INLINE_PROGRAM = new Set(["-c", "-e", "--eval", "-p", "--print", "eval"]);

/** Names prove nothing, because a program can choose its own. @param words its command line */
export function namesOf(comm: string, words: readonly string[]): readonly string[] {
  const program = programIn(words);
  const script = scriptIn(words);
  const ofScript = script === undefined ? [] : [basename(script), ...packageOf(script)];
  return [comm, program, ...ofScript].filter((name) => name !== "");
}

/** The script that an interpreter runs, as its command line has it; undefined for any other program. */
export const scriptIn = (words: readonly string[]): string | undefined =>
  INTERPRETER.test(programIn(words)) ? scriptOf(words.slice(1)) : undefined;

/** A login shell's name begins with a dash. */
const programIn = ([program = ""]: readonly string[]): string => basename(program).replace(/^-/, "");

/** Whether one of its names is among `wanted`; the kernel's may be truncated. */
export function isCalled(names: readonly string[], wanted: ReadonlySet<string>): boolean {
  if (names.some((name) => wanted.has(name))) return true;
  const [comm = ""] = names;
  return comm.length === COMM_BYTES && [...wanted].some((name) => name.startsWith(comm));
}

/** The name of an npm package, because its files are called `cli.js` or `index.js`. */
function packageOf(script: string): readonly string[] {
  const [, name] = /^.*\/node_modules\/((?:@[^/]+\/)?[^@./][^/]*)\//.exec(script) ?? [];
  return name === undefined ? [] : [name];
}

/** Options of shells that are followed by a value. */
const WITH_VALUE = /^(?:--(?:rcfile|init-file|init-command|config|env-config|rc-file)|-[oOC])$/;

/** Whether a shell reads commands from its terminal, judging by its arguments: neither a script nor a command. */
export function readsCommands(words: readonly string[]): boolean {
  for (let index = 1; index < words.length; index += 1) {
    const word = words[index]!;
    if (WITH_VALUE.test(word)) index += 1;
    else if (!/^[-+]/.test(word) || /^-[a-z]*c[a-z]*$/.test(word)) return false;
  }
  return true;
}

/** The first word that is not an option; it may be an option's value. */
function scriptOf(words: readonly string[]): string | undefined {
  const script = words.findIndex((word) => !word.startsWith("-") || INLINE_PROGRAM.has(word));
  const word = words[script];
  return word === undefined || INLINE_PROGRAM.has(word) ? undefined : word;
}
