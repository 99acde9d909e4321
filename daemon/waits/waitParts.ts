/** What all waits of the process have in common; RE2 is built on the same (`waitHost.ts` adds it). */
import type { Clock } from "../time/clock.ts";
import type { Scheduler } from "../time/scheduler.ts";
import type { TurnBudget } from "../time/turnBudget.ts";
import type { WaitLimits } from "./waitLimits.ts";
import type { WaitMetrics } from "./waitMetrics.ts";

export interface WaitParts {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly budget: TurnBudget;
  readonly limits: WaitLimits;
  readonly metrics: WaitMetrics;
}
