/** What the waits count, under the names of seed 002 §16.17. In memory; an endpoint renders the snapshot. */
import { Histogram, type HistogramSnapshot } from "../ops/histogram.ts";

/** Upper bounds in milliseconds, from one evaluation of nothing to what a caller would call broken. */
const BUCKETS_MS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 1_000] as const;

export interface WaitMetricsSnapshot {
  /** Waits registered now. */
  readonly wait_active: number;
  /** Those with a regex. */
  readonly wait_active_regex: number;
  /** Different patterns being matched now: identical waits on one target share one. */
  readonly wait_matchers: number;
  /** Targets with output that is not evaluated yet. */
  readonly wait_backlog_depth: number;
  readonly wait_started_total: number;
  readonly wait_matched_total: number;
  readonly wait_timeouts_total: number;
  readonly wait_cancelled_total: number;
  readonly wait_failed_total: number;
  readonly wait_resource_limit_total: number;
  readonly wait_gaps_total: number;
  /** Different regexes compiled for waits, once each however much text they see. */
  readonly wait_regex_compiles_total: number;
  readonly wait_regex_jobs_total: number;
  /** Workers ended by the watchdog, and workers that ended by themselves. */
  readonly wait_regex_watchdog_total: number;
  readonly wait_regex_crashes_total: number;
  /** From the arrival of the output that decided a wait to its result. */
  readonly wait_match_latency_ms: HistogramSnapshot;
  /** Evaluation per turn of the event loop. */
  readonly wait_eval_ms: HistogramSnapshot;
}

type Numbers = {
  -readonly [Key in keyof WaitMetricsSnapshot as WaitMetricsSnapshot[Key] extends number ? Key : never]: number;
};

export class WaitMetrics {
  /** Gauges and counters; the parts of the waits write them directly. */
  readonly numbers: Numbers = {
    wait_active: 0,
    wait_active_regex: 0,
    wait_matchers: 0,
    wait_backlog_depth: 0,
    wait_started_total: 0,
    wait_matched_total: 0,
    wait_timeouts_total: 0,
    wait_cancelled_total: 0,
    wait_failed_total: 0,
    wait_resource_limit_total: 0,
    wait_gaps_total: 0,
    wait_regex_compiles_total: 0,
    wait_regex_jobs_total: 0,
    wait_regex_watchdog_total: 0,
    wait_regex_crashes_total: 0,
  };
  readonly matchLatencyMs = new Histogram(BUCKETS_MS);
  readonly evalMs = new Histogram(BUCKETS_MS);

  snapshot(): WaitMetricsSnapshot {
    return {
      ...this.numbers,
      wait_match_latency_ms: this.matchLatencyMs.snapshot(),
      wait_eval_ms: this.evalMs.snapshot(),
    };
  }
}
