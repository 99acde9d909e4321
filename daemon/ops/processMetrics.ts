/** Metrics of the process itself, under the names of Prometheus' own client libraries; read on request. */
import process from "node:process";
import { performance } from "node:perf_hooks";
import type { Metrics } from "./metrics.ts";

const MICROSECONDS = 1_000_000;
const MILLISECONDS = 1_000;

export function collectProcess(metrics: Metrics, version: string): void {
  const one = (name: string, kind: "counter" | "gauge", help: string, read: () => number): void =>
    metrics.collect(name, kind, help, () => [{ value: read() }]);
  metrics.collect(
    "tmuxwire_build_info",
    "gauge",
    "Constant 1, with the versions of the daemon and of Node as labels.",
    () => [{ labels: { version, node: process.versions.node }, value: 1 }],
  );
  metrics.collect("nodejs_version_info", "gauge", "Constant 1, with Node's version as label.", () => [
    { labels: { version: process.version }, value: 1 },
  ]);
  one("process_start_time_seconds", "gauge", "Start time of the process, as Unix time.", () =>
    Math.round(performance.timeOrigin / MILLISECONDS),
  );
  one(
    "process_cpu_user_seconds_total",
    "counter",
    "CPU time in user mode.",
    () => process.cpuUsage().user / MICROSECONDS,
  );
  one(
    "process_cpu_system_seconds_total",
    "counter",
    "CPU time in kernel mode.",
    () => process.cpuUsage().system / MICROSECONDS,
  );
  one("process_cpu_seconds_total", "counter", "CPU time in user and kernel mode.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / MICROSECONDS;
  });
  one("process_resident_memory_bytes", "gauge", "Resident memory.", () => process.memoryUsage.rss());
  one("nodejs_heap_size_total_bytes", "gauge", "Size of the heap.", () => process.memoryUsage().heapTotal);
  one("nodejs_heap_size_used_bytes", "gauge", "Used part of the heap.", () => process.memoryUsage().heapUsed);
  one(
    "nodejs_external_memory_bytes",
    "gauge",
    "Memory outside the heap, such as buffers.",
    () => process.memoryUsage().external,
  );
  one(
    "nodejs_eventloop_utilization",
    "gauge",
    "Share of time in which the event loop was busy since the start, 0 to 1.",
    () => performance.eventLoopUtilization().utilization,
  );
  one(
    "nodejs_active_resources",
    "gauge",
    "Resources that keep the event loop alive: sockets, timers, watchers.",
    () => process.getActiveResourcesInfo().length,
  );
}
