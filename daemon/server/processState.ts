/** Whether a process waits for something to happen. Linux tells; elsewhere nobody is taken for idle. */
import { readFileSync } from "node:fs";

export function isWaiting(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    // proc(5): the state follows the name, which stands in the last pair of parentheses.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")")).startsWith(") S");
  } catch {
    return false;
  }
}
