/** What a process calls itself: by the name the kernel keeps, by what it was started as, by the script an interpreter runs. */
import { basename } from "node:path";

/** The kernel keeps this much of a process's name (TASK_COMM_LEN less its NUL). */
const COMM_BYTES = 15;
const INTERPRETER = /^(?:node|nodejs|bun|deno|python[\d.]*|ruby|perl|sh|bash|dash|zsh|fish|ksh)$/;
/** After one of these an interpreter takes its program from the command line. */
const INLINE_PROGRAM = new Set(["-c", "-e", "--eval", "-p", "--print", "eval"]);

/** A name proves nothing: any program can take one. @param words its command line */
export function namesOf(comm: string, words: readonly string[]): readonly string[] {
  // A login shell's name begins with a dash.
  const program = basename(words[0] ?? "").replace(/^-/, "");
  const script = INTERPRETER.test(program) ? scriptOf(words.slice(1)) : undefined;
  return [comm, program, ...(script === undefined ? [] : [basename(script)])].filter((name) => name !== "");
}

/** Whether one of its names is one of these; the kernel's own may be cut. */
export function isCalled(names: readonly string[], wanted: ReadonlySet<string>): boolean {
  if (names.some((name) => wanted.has(name))) return true;
  const [comm = ""] = names;
  return comm.length === COMM_BYTES && [...wanted].some((name) => name.startsWith(comm));
}

/** The first word that is no option; values of options cannot be told from it. */
function scriptOf(words: readonly string[]): string | undefined {
  const script = words.findIndex((word) => !word.startsWith("-") || INLINE_PROGRAM.has(word));
  const word = words[script];
  return word === undefined || INLINE_PROGRAM.has(word) ? undefined : word;
}
