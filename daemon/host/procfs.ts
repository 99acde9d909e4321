/**
 * What `/proc` reports about a process (proc(5)): its name, start, process group and the foreground group of its terminal,
 * its command line, its children. Reads on demand and starts no process. Everything is `undefined` if the system reports
 * nothing: no `/proc`, another user's process, a process that has just ended.
 */
import { closeSync, existsSync, openSync, readdirSync, readlinkSync, readSync, statSync } from "node:fs";
import { access, open, readdir, readlink } from "node:fs/promises";
import { attempt } from "./attempt.ts";

/** Read the children of at most this many threads; a process with more is a server, not a shell. */
const MAX_THREADS = 256;
/** Read at most this much of a command line: enough for an interpreter's options and its script. */
const MAX_COMMAND_LINE_BYTES = 4_096;
/** Read at most this much of a thread's list of children. */
const MAX_CHILDREN_BYTES = 8_192;
/** `stat` is one line of some fifty numbers and a name of at most 64 bytes. */
const MAX_STAT_BYTES = 1_024;
/** `io` is seven lines of a word and a number. */
const MAX_IO_BYTES = 512;
/** `wchan` is the name of a function. */
const MAX_PLACE_BYTES = 128;
/** Read at most this much of an environment: a process may have more, and what is cut off is not reported. */
const MAX_ENVIRONMENT_BYTES = 65_536;
/** List at most this many open files. */
const MAX_OPEN_FILES = 512;
/** `status` is some sixty lines; only the list of groups can be long. */
const MAX_STATUS_BYTES = 8_192;

export interface ProcessStat {
  readonly pid: number;
  /** The name the kernel keeps (TASK_COMM_LEN), which the program may change. */
  readonly name: string;
  /** One letter: `Z` and `X` have ended, `T` and `t` are stopped. */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  /** Its controlling terminal; 0 for none. */
  readonly terminal: number;
  /** The foreground process group of that terminal; -1 for none. */
  readonly foregroundGroup: number;
  /**
   * With the pid it identifies one process until the next boot. Clock ticks since boot; on systems that do not report
   * these, another text, which is not a number and cannot be compared with other times.
   */
  readonly start: string;
  /** It has not called exec since it was forked: it is still called as its parent. Undefined where that is not reported. */
  readonly isForked?: boolean | undefined;
}

/** PF_FORKNOEXEC (Linux, include/linux/sched.h). */
const FORKED = 0x40;

/** Sets of signals, signal 1 in the lowest bit. */
interface ProcessSignals {
  /** Sent but not yet delivered. */
  readonly pending: bigint;
  /** Signals that it handles. */
  readonly caught: bigint;
}

export interface Procfs {
  /** Whether this system has `/proc`. */
  isThere(): Promise<boolean>;
  stat(pid: number): Promise<ProcessStat | undefined>;
  /** The same synchronously, for use in the turn in which something is written. */
  statNow(pid: number): ProcessStat | undefined;
  /** Whether any of its threads is on a CPU, or waits for one or for the disk. */
  isRunningNow(pid: number): boolean | undefined;
  /** Whether it sleeps until a child of its own ends (wait4(2)); undefined where the kernel does not say for what it sleeps. */
  waitsForChildNow(pid: number): boolean | undefined;
  /** Bytes it has read from any source since its start; also undefined if the kernel does not count them (CONFIG_TASK_XACCT). */
  bytesReadNow(pid: number): number | undefined;
  /** Its pending signals, and those it handles. */
  signalsNow(pid: number): ProcessSignals | undefined;
  /** The file it runs, by device and inode; replacing the file does not change it, execve(2) does. */
  executableNow(pid: number): string | undefined;
  /** Whether its standard input is a terminal; undefined for another user's process. */
  hasTerminalInputNow(pid: number): boolean | undefined;
  /** Its working directory; undefined for another user's process. */
  cwdNow(pid: number): string | undefined;
  /** Its arguments, the program's name first; undefined also while it becomes another program (execve(2)) and once it has ended. */
  words(pid: number): Promise<readonly string[] | undefined>;
  wordsNow(pid: number): readonly string[] | undefined;
  /** The variables that it was started with; undefined for another user's process. */
  environment(pid: number): Promise<Readonly<Record<string, string>> | undefined>;
  /** The paths of the files that it has open; undefined for another user's process. */
  openFiles(pid: number): Promise<readonly string[] | undefined>;
  /** Undefined if the kernel does not list children (CONFIG_PROC_CHILDREN), or lists too many. */
  children(pid: number): Promise<readonly number[] | undefined>;
  childrenNow(pid: number): readonly number[] | undefined;
}

export function procfs(directory = "/proc"): Procfs {
  const at = (pid: number, file: string): string => `${directory}/${pid}/${file}`;
  return {
    isThere: () => isThere(`${directory}/self/task`),
    stat: async (pid) => parseStat(await readStart(at(pid, "stat"), MAX_STAT_BYTES)),
    statNow: (pid) => parseStat(readStartNow(at(pid, "stat"), MAX_STAT_BYTES)),
    isRunningNow: (pid) => isRunningNow(`${directory}/${pid}`),
    waitsForChildNow: (pid) => {
      const place = readStartNow(at(pid, "wchan"), MAX_PLACE_BYTES);
      return place === undefined || place === "" || place === "0" ? undefined : /^do_wait(?:\.|$)/.test(place);
    },
    bytesReadNow: (pid) => {
      const [, bytes] = /^rchar: (\d+)$/m.exec(readStartNow(at(pid, "io"), MAX_IO_BYTES) ?? "") ?? [];
      return bytes === undefined ? undefined : Number(bytes);
    },
    signalsNow: (pid) => parseSignals(readStartNow(at(pid, "status"), MAX_STATUS_BYTES)),
    executableNow: (pid) => {
      const file = attempt(() => statSync(at(pid, "exe"), { bigint: true }));
      return file === undefined ? undefined : `${file.dev}:${file.ino}`;
    },
    hasTerminalInputNow: (pid) => {
      const input = attempt(() => readlinkSync(at(pid, "fd/0")));
      return input === undefined ? undefined : /^\/dev\/(?:pts\/|tty|console)/.test(input);
    },
    cwdNow: (pid) => attempt(() => readlinkSync(at(pid, "cwd")))?.replace(/ \(deleted\)$/, ""),
    words: async (pid) => wordsIn(await readStart(at(pid, "cmdline"), MAX_COMMAND_LINE_BYTES)),
    wordsNow: (pid) => wordsIn(readStartNow(at(pid, "cmdline"), MAX_COMMAND_LINE_BYTES)),
    environment: async (pid) => variablesIn(await readStart(at(pid, "environ"), MAX_ENVIRONMENT_BYTES)),
    openFiles: (pid) => openFilesOf(at(pid, "fd")),
    children: (pid) => childrenOf(`${directory}/${pid}`),
    childrenNow: (pid) => childrenNowOf(`${directory}/${pid}`),
  };
}

/** Whether it has ended, even if its parent has not reaped it. */
export const hasEnded = ({ state }: ProcessStat): boolean => state === "Z" || state === "X";

/** `pid (name) state ppid pgrp session tty_nr tpgid flags …`; the name may contain anything. */
function parseStat(text: string | undefined): ProcessStat | undefined {
  const [, pid, name, rest] = /^(\d+) \((.*)\) (.*)/s.exec(text ?? "") ?? [];
  if (pid === undefined || name === undefined || rest === undefined) return undefined;
  const fields = rest.split(" ");
  const [state = "", parent, group, , terminal, foregroundGroup, flags] = fields;
  return {
    pid: Number(pid),
    name,
    state,
    parent: Number(parent),
    group: Number(group),
    terminal: Number(terminal),
    foregroundGroup: Number(foregroundGroup),
    start: fields[19] ?? "",
    isForked: (Number(flags) & FORKED) !== 0,
  };
}

/** `SigPnd` is the main thread's, `ShdPnd` the whole process's. */
function parseSignals(text: string | undefined): ProcessSignals | undefined {
  const [own, shared, caught] = ["SigPnd", "ShdPnd", "SigCgt"].map((name) => {
    const [, set] = new RegExp(`^${name}:\\s*([0-9a-f]+)$`, "m").exec(text ?? "") ?? [];
    return set === undefined ? undefined : BigInt(`0x${set}`);
  });
  if (own === undefined || shared === undefined || caught === undefined) return undefined;
  return { pending: own | shared, caught };
}

/**
 * The main thread may sleep briefly in the middle of its work until a garbage-collecting thread gets a CPU. All threads are
 * read one after another; if the main thread has run meanwhile, the process counts as running.
 */
function isRunningNow(directory: string): boolean | undefined {
  const stateOf = (path: string): string | undefined => parseStat(readStartNow(path, MAX_STAT_BYTES))?.state;
  const switches = (): string => {
    const status = readStartNow(`${directory}/status`, MAX_STATUS_BYTES) ?? "";
    return [...status.matchAll(/ctxt_switches:\s*(\d+)/g)].map(([, count]) => count).join();
  };
  const before = switches();
  const state = stateOf(`${directory}/stat`);
  if (state === undefined) return undefined;
  if (isAtIt(state)) return true;
  const threads = attempt(() => readdirSync(`${directory}/task`)) ?? [];
  const others = threads.slice(0, MAX_THREADS).map((thread) => `${directory}/task/${thread}/stat`);
  return others.some((path) => isAtIt(stateOf(path))) || switches() !== before;
}

const isAtIt = (state: string | undefined): boolean => state === "R" || state === "D";

/** Every program has a first argument: a process without one is in the middle of execve(2), which takes a large one milliseconds. */
const wordsIn = (line: string | undefined): readonly string[] | undefined =>
  line === "" ? undefined : line?.replace(/\0$/, "").split("\0");

function variablesIn(text: string | undefined): Readonly<Record<string, string>> | undefined {
  // The last one may be cut off.
  const whole = text?.slice(0, text.lastIndexOf("\0") + 1);
  const pairs = whole?.split("\0").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at < 1 ? [] : [[pair.slice(0, at), pair.slice(at + 1)] as const];
  });
  return pairs === undefined ? undefined : Object.fromEntries(pairs);
}

async function openFilesOf(directory: string): Promise<readonly string[] | undefined> {
  const names = await readdir(directory).catch(() => undefined);
  if (names === undefined) return undefined;
  const paths = await Promise.all(
    names.slice(0, MAX_OPEN_FILES).map((name) => readlink(`${directory}/${name}`).catch(() => "")),
  );
  return paths.filter((path) => path.startsWith("/"));
}

/** Children are listed per thread, so every thread is read. A dead process has none. */
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
  return childrenIn(lists);
}

function childrenNowOf(directory: string): readonly number[] | undefined {
  const threads = attempt(() => readdirSync(`${directory}/task`)) ?? [];
  if (threads.length > MAX_THREADS) return undefined;
  return childrenIn(
    threads.map((thread) => {
      const list = readStartNow(`${directory}/task/${thread}/children`, MAX_CHILDREN_BYTES);
      return list ?? (existsSync(`${directory}/task/${thread}/stat`) ? undefined : "");
    }),
  );
}

/** @param lists one for each thread */
function childrenIn(lists: readonly (string | undefined)[]): readonly number[] | undefined {
  if (lists.some((list) => list === undefined || list.length === MAX_CHILDREN_BYTES)) return undefined;
  return lists.flatMap((list) => (list ?? "").split(" ").filter((pid) => /^\d+$/.test(pid))).map(Number);
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** At most `maxBytes` of a file that has no size; undefined if it cannot be read. */
async function readStart(path: string, maxBytes: number): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const buffer = Buffer.allocUnsafe(maxBytes);
    let length = 0;
    // The kernel returns such files in pieces.
    while (length < maxBytes) {
      const { bytesRead } = await file.read(buffer, length, maxBytes - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.toString("utf8", 0, length);
  } catch {
    // The process ended while it was read (ESRCH).
    return undefined;
  } finally {
    await file.close();
  }
}

/** A single read, which returns the whole file or its first `maxBytes`. */
function readStartNow(path: string, maxBytes: number): string | undefined {
  return attempt(() => {
    const file = openSync(path, "r");
    try {
      const buffer = Buffer.allocUnsafe(maxBytes);
      return buffer.toString("utf8", 0, readSync(file, buffer, 0, maxBytes, 0));
    } finally {
      closeSync(file);
    }
  });
}
