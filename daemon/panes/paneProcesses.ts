/**
 * Whether a program runs in a pane: the pane's own process or one it has started, nearest processes first, by the names
 * of a process (`namesOf`). No process is started for it.
 */
import { hasEnded, type Procfs } from "../host/procfs.ts";
import { isCalled, namesOf } from "../host/programNames.ts";

/** Most processes examined in one pane: an agent with its tools has tens, a parallel build a few hundred. */
const MAX_PROCESSES = 512;
/** Generations below the pane's own process. */
const MAX_DEPTH = 32;
/** Examined together: what the thread pool can read at once, a few times over. */
const BATCH = 16;

/** `undefined` where the host does not know, or there are more processes than the limits above. */
export async function paneRunsProgram(
  pid: number,
  names: ReadonlySet<string>,
  processes: Procfs,
): Promise<boolean | undefined> {
  if (!(await processes.isThere())) return undefined;
  const seen = new Set([pid]);
  let generation = [pid];
  let isAllKnown = true;
  for (let depth = 0; generation.length > 0; depth += 1) {
    if (depth > MAX_DEPTH || seen.size > MAX_PROCESSES) return undefined;
    const children: number[] = [];
    for (let at = 0; at < generation.length; at += BATCH) {
      const batch = generation.slice(at, at + BATCH).map((process) => examine(processes, process, names));
      for (const found of await Promise.all(batch)) {
        if (found.isNamed) return true;
        if (found.children === undefined) isAllKnown = false;
        else children.push(...found.children);
      }
    }
    generation = children.filter((child) => !seen.has(child));
    for (const child of generation) seen.add(child);
  }
  return isAllKnown ? false : undefined;
}

interface Found {
  readonly isNamed: boolean;
  /** Undefined when the system does not know. */
  readonly children: readonly number[] | undefined;
}

async function examine(processes: Procfs, pid: number, names: ReadonlySet<string>): Promise<Found> {
  const [stat, words, children] = await Promise.all([
    processes.stat(pid),
    processes.words(pid),
    processes.children(pid),
  ]);
  if (stat === undefined || hasEnded(stat)) return { isNamed: false, children };
  const isNamed = isCalled(namesOf(stat.name, words ?? []), names);
  // What it becomes may be what is asked for.
  return { isNamed, children: words === undefined ? undefined : children };
}
