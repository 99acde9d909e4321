/**
 * How many processes this one has started: for the metric that shows that nothing is started after start-up but a lost
 * connection's successor. One count for the process, as there is one process; whoever starts one says so here.
 */
let started = 0;

/** @param pid undefined when nothing could be started */
export function countSpawn(pid: number | undefined): void {
  if (pid !== undefined) started += 1;
}

export const spawnsTotal = (): number => started;
