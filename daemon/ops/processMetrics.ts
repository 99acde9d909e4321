/** Metrics of the process itself, under the names that Prometheus' own clients use; read on request. */
import process from "node:process";
import { performance } from "node:perf_hooks";
import type { Metrics } from "./metrics.ts";

const MICROSECONDS = 1_000_000;
const MILLISECONDS = 1_000;

export function collectProcess(metrics: Metrics, version: string): void {
  const one = (name: string, kind: "counter" | "gauge", help: string, read: () => number): void =>
    metrics.collect(name, kind, help, () => [{ value: read() }]);
  metrics.collect("tmuxwire_build_info", "gauge", "1, with the versions of the daemon and of Node.", () => [
    { labels: { version, node: process.versions.node }, value: 1 },
  ]);
  metrics.collect("nodejs_version_info", "gauge", "1, with Node's version.", () => [
    { labels: { version: process.version }, value: 1 },
  ]);
  one("process_start_time_seconds", "gauge", "When the process began: Unix time.", () =>
    Math.round(performance.timeOrigin / MILLISECONDS),
  );
  one(
    "process_cpu_user_seconds_total",
    "counter",
    "CPU time of its own code.",
    () => process.cpuUsage().user / MICROSECONDS,
  );
  one(
    "process_cpu_system_seconds_total",
    "counter",
    "CPU time in the kernel.",
    () => process.cpuUsage().system / MICROSECONDS,
  );
  one("process_cpu_seconds_total", "counter", "CPU time, both together.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / MICROSECONDS;
  });
  one("process_resident_memory_bytes", "gauge", "Memory that is in use.", () => process.memoryUsage.rss());
  one("nodejs_heap_size_total_bytes", "gauge", "The heap.", () => process.memoryUsage().heapTotal);
  one("nodejs_heap_size_used_bytes", "gauge", "What of the heap is in use.", () => process.memoryUsage().heapUsed);
  one(
    "nodejs_external_memory_bytes",
    "gauge",
    "Memory of buffers outside the heap.",
    () => process.memoryUsage().external,
  );
  one(
    "nodejs_eventloop_utilization",
    "gauge",
    "How much of its time the event loop has worked since the start, 0 to 1.",
    () => performance.eventLoopUtilization().utilization,
  );
  one(
    "nodejs_active_resources",
    "gauge",
    "What keeps the event loop going: sockets, timers, watchers.",
    () => process.getActiveResourcesInfo().length,
  );
}
