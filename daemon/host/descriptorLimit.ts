/**
 * The soft limit on open files of this process; undefined where the system does not report it (Linux does, in `/proc`).
 */
import { readFileSync } from "node:fs";

export function descriptorLimit(proc = "/proc"): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(`${proc}/self/limits`, "utf8"))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
