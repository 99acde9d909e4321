/**
 * Counts the processes that this one has started, for the metric that shows that after start-up only reconnecting starts
 * one. There is one count for the whole process; code that starts a process reports it here.
 */
let started = 0;

/** @param pid undefined if the process could not be started */
export function countSpawn(pid: number | undefined): void {
  if (pid !== undefined) started += 1;
}

export const spawnsTotal = (): number => started;
