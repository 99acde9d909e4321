/**
 * Whether a program runs in a pane: the pane's own process or one it has started, by what it calls itself, by what it was
 * started as, or by the script that an interpreter runs. Read from /proc at the moment of asking, nearest processes
 * first; no process is started for it. A name proves nothing: any program can take one.
 */
import { access, open, readdir } from "node:fs/promises";
import { basename } from "node:path";

/** Processes looked at in one pane: an agent with its tools has tens, a parallel build some hundred. */
const MAX_PROCESSES = 512;
/** Generations below the pane's own process. */
const MAX_DEPTH = 32;
/** Threads of one process whose children are asked for; a process that has more is a server, not a shell. */
const MAX_THREADS = 256;
/** Of a command line: enough for an interpreter's options and its script. */
const MAX_COMMAND_LINE_BYTES = 4_096;
/** The pids that one thread can list: more than `MAX_PROCESSES` of the longest. */
const MAX_CHILDREN_BYTES = 8_192;
/** The kernel keeps this much of a process's name (TASK_COMM_LEN less its NUL). */
const COMM_BYTES = 15;
/** Looked at together: what the thread pool can read at once, a few times over. */
const BATCH = 16;

const INTERPRETER = /^(?:node|nodejs|bun|deno|python[\d.]*|ruby|perl|sh|bash|dash|zsh|fish|ksh)$/;
/** After one of these an interpreter takes its program from the command line. */
const INLINE_PROGRAM = new Set(["-c", "-e", "--eval", "-p", "--print", "eval"]);

/** `undefined` where the system does not tell: there is no /proc, or more processes than anybody would look through. */
export async function paneRunsProgram(
  pid: number,
  names: ReadonlySet<string>,
  procDirectory = "/proc",
): Promise<boolean | undefined> {
  if (!(await isThere(`${procDirectory}/self/task`))) return undefined;
  const seen = new Set([pid]);
  let generation = [pid];
  let isAllTold = true;
  for (let depth = 0; generation.length > 0; depth += 1) {
    if (depth > MAX_DEPTH || seen.size > MAX_PROCESSES) return undefined;
    const children: number[] = [];
    for (let at = 0; at < generation.length; at += BATCH) {
      const batch = generation.slice(at, at + BATCH).map((process) => lookAt(procDirectory, process, names));
      for (const found of await Promise.all(batch)) {
        if (found.isNamed) return true;
        if (found.children === undefined) isAllTold = false;
        else children.push(...found.children);
      }
    }
    generation = children.filter((child) => !seen.has(child));
    for (const child of generation) seen.add(child);
  }
  return isAllTold ? false : undefined;
}

/** What the kernel calls a process; undefined where the system does not tell. */
export const processName = async (pid: number, procDirectory = "/proc"): Promise<string | undefined> =>
  (await readStart(`${procDirectory}/${pid}/comm`, COMM_BYTES + 1))?.trimEnd();

interface Found {
  readonly isNamed: boolean;
  /** Undefined when the system does not tell. */
  readonly children: readonly number[] | undefined;
}

async function lookAt(procDirectory: string, pid: number, names: ReadonlySet<string>): Promise<Found> {
  const directory = `${procDirectory}/${pid}`;
  const [stat, commandLine, children] = await Promise.all([
    readStart(`${directory}/stat`, 1_024),
    readStart(`${directory}/cmdline`, MAX_COMMAND_LINE_BYTES),
    childrenOf(directory),
  ]);
  // `pid (comm) state …`, and the name may hold anything.
  const [, comm = "", state] = /^\d+ \((.*)\) (\S)/s.exec(stat ?? "") ?? [];
  const isAlive = state !== undefined && state !== "Z" && state !== "X";
  return { isNamed: isAlive && isNamed(comm, (commandLine ?? "").split("\0"), names), children };
}

function isNamed(comm: string, words: readonly string[], names: ReadonlySet<string>): boolean {
  if (names.has(comm)) return true;
  if (comm.length === COMM_BYTES && [...names].some((name) => name.startsWith(comm))) return true;
  // A login shell's name begins with a dash.
  const program = basename(words[0] ?? "").replace(/^-/, "");
  if (names.has(program)) return true;
  return INTERPRETER.test(program) && names.has(basename(scriptOf(words.slice(1)) ?? ""));
}

/** The first word that is no option; values of options cannot be told from it. */
function scriptOf(words: readonly string[]): string | undefined {
  const script = words.findIndex((word) => !word.startsWith("-") || INLINE_PROGRAM.has(word));
  const word = words[script];
  return word === undefined || INLINE_PROGRAM.has(word) ? undefined : word;
}

/** A thread's children are listed with the thread, so every thread is asked. None of a process that is gone. */
async function childrenOf(directory: string): Promise<readonly number[] | undefined> {
  const threads = await readdir(`${directory}/task`).catch(() => []);
  if (threads.length > MAX_THREADS) return undefined;
  const lists = await Promise.all(
    threads.map(async (thread) => {
      const list = await readStart(`${directory}/task/${thread}/children`, MAX_CHILDREN_BYTES);
      // The thread has just ended, or this kernel does not list children (CONFIG_PROC_CHILDREN).
      return list ?? ((await isThere(`${directory}/task/${thread}/stat`)) ? undefined : "");
    }),
  );
  if (lists.some((list) => list === undefined || list.length === MAX_CHILDREN_BYTES)) return undefined;
  return lists.flatMap((list) => (list ?? "").split(" ").filter((pid) => /^\d+$/.test(pid))).map(Number);
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** At most so many bytes of a file that has no size; undefined when it cannot be read. */
async function readStart(path: string, maxBytes: number): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const buffer = Buffer.allocUnsafe(maxBytes);
    let length = 0;
    // The kernel hands such files out in pieces.
    while (length < maxBytes) {
      const { bytesRead } = await file.read(buffer, length, maxBytes - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.toString("utf8", 0, length);
  } catch {
    // It ended while it was read (ESRCH).
    return undefined;
  } finally {
    await file.close();
  }
}
