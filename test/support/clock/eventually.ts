/** For what nothing announces. The test's own time-out ends a vain wait. */
import { setTimeout as delay } from "node:timers/promises";

export async function eventually(holds: () => boolean | Promise<boolean>, everyMs = 2): Promise<void> {
  while (!(await holds())) await delay(everyMs);
}
