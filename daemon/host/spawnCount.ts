/**
 * How many processes this one has started: for the metric that shows that after start-up only a lost connection's
 * successor is started. One count for the whole process; whoever starts one reports it here.
 */
let started = 0;

/** @param pid undefined when nothing could be started */
export function countSpawn(pid: number | undefined): void {
  if (pid !== undefined) started += 1;
}

export const spawnsTotal = (): number => started;
