/** What all waits of a process have in common, and what they count. */
import { Histogram } from "../ops/histogram.ts";
import type { Clock } from "../time/clock.ts";
import type { Scheduler } from "../time/scheduler.ts";
import type { TurnBudget } from "../time/turnBudget.ts";
import type { WaitLimits } from "./waitLimits.ts";

export interface WaitHost {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly budget: TurnBudget;
  readonly limits: WaitLimits;
  readonly metrics: WaitMetrics;
}

/** Upper bounds in milliseconds, from one evaluation of nothing to what a caller would call broken. */
const BUCKETS_MS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 1_000] as const;

/** What the waits count, under the names of seed 002 §16.17. In memory; an endpoint renders the snapshot. */
export class WaitMetrics {
  /** Gauges and counters; the parts of the waits write them directly. */
  readonly numbers = {
    /** Waits registered now. */
    wait_active: 0,
    /** Those with a regex. */
    wait_active_regex: 0,
    /** Different patterns being matched now: identical waits on one target share one. */
    wait_matchers: 0,
    /** Targets with output that is not evaluated yet. */
    wait_backlog_depth: 0,
    wait_started_total: 0,
    wait_matched_total: 0,
    wait_timeouts_total: 0,
    wait_cancelled_total: 0,
    wait_failed_total: 0,
    wait_resource_limit_total: 0,
    wait_gaps_total: 0,
    /** Different regexes compiled for waits, once each however much text they see. */
    wait_regex_compiles_total: 0,
    wait_regex_jobs_total: 0,
    /** Workers ended by the watchdog, and workers that ended by themselves. */
    wait_regex_watchdog_total: 0,
    wait_regex_crashes_total: 0,
  };
  /** From the arrival of the output that decided a wait to its result. */
  readonly matchLatencyMs = new Histogram(BUCKETS_MS);
  /** Evaluation per turn of the event loop. */
  readonly evalMs = new Histogram(BUCKETS_MS);

  snapshot() {
    return {
      ...this.numbers,
      wait_match_latency_ms: this.matchLatencyMs.snapshot(),
      wait_eval_ms: this.evalMs.snapshot(),
    };
  }
}

export type WaitMetricsSnapshot = Readonly<ReturnType<WaitMetrics["snapshot"]>>;
