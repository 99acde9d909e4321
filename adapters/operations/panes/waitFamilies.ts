/** The waits' metrics, under the names of seed 002 §16.17 and under the same names with our prefix. */
import type { Metrics } from "../../../daemon/ops/metrics.ts";
import type { WaitMetricsSnapshot } from "../../../daemon/waits/waitHost.ts";

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
  for (const prefix of ["", "tmuxwire_"]) {
    const single = (name: (typeof WAIT_GAUGES | typeof WAIT_COUNTERS)[number], kind: "gauge" | "counter"): void =>
      metrics.collect(prefix + name, kind, "See docs/contracts/native.md.", () => [{ value: waits.metrics()[name] }]);
    const times = (name: "wait_match_latency_ms" | "wait_eval_ms", help: string): void =>
      metrics.collectHistogram(prefix + name, help, () => [waits.metrics()[name]]);
    for (const name of WAIT_GAUGES) single(name, "gauge");
    for (const name of WAIT_COUNTERS) single(name, "counter");
    times("wait_match_latency_ms", "Time from the output that decided a wait to its result.");
    times("wait_eval_ms", "Time spent evaluating waits per turn of the event loop.");
  }
}
