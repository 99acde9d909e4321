/** What the waits count, as metrics under the names of seed 002 §16.17: the same on every surface. */
import type { Metrics } from "../../daemon/ops/metrics.ts";
import type { WaitMetricsSnapshot } from "../../daemon/waits/waitMetrics.ts";

export interface WaitCounts {
  metrics(): WaitMetricsSnapshot;
}

const WAIT_GAUGES = ["wait_active", "wait_active_regex", "wait_matchers", "wait_backlog_depth"] as const;
const WAIT_COUNTERS = [
  "wait_started_total",
  "wait_matched_total",
  "wait_timeouts_total",
  "wait_cancelled_total",
  "wait_failed_total",
  "wait_resource_limit_total",
  "wait_gaps_total",
  "wait_regex_compiles_total",
  "wait_regex_jobs_total",
  "wait_regex_watchdog_total",
  "wait_regex_crashes_total",
] as const;

/** Adds them to a registry. */
export function collectWaits(metrics: Metrics, waits: WaitCounts): void {
  for (const name of WAIT_GAUGES) {
    metrics.collect(name, "gauge", "See docs/contracts/native.md.", () => [{ value: waits.metrics()[name] }]);
  }
  for (const name of WAIT_COUNTERS) {
    metrics.collect(name, "counter", "See docs/contracts/native.md.", () => [{ value: waits.metrics()[name] }]);
  }
  metrics.collectHistogram("wait_match_latency_ms", "From the output that decided a wait to its result.", () => [
    waits.metrics().wait_match_latency_ms,
  ]);
  metrics.collectHistogram("wait_eval_ms", "Evaluation of waits per turn of the event loop.", () => [
    waits.metrics().wait_eval_ms,
  ]);
}
