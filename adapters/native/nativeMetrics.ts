/** What `/metrics` shows: operations of the API, streams, servers, waits under the names of seed 002 §16.17. */
import { spawnsTotal } from "../../daemon/host/spawnCount.ts";
import type { Counter, Metrics } from "../../daemon/ops/metrics.ts";
import type { ServerState } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { WaitMetricsSnapshot } from "../../daemon/waits/waitMetrics.ts";

export interface NativeMetrics {
  readonly streamBytes: Counter;
  readonly streamGaps: Counter;
  readonly streamSnapshots: Counter;
  readonly streamsStalled: Counter;
}

const STATES: readonly ServerState[] = ["connecting", "ready", "degraded", "closed"];

interface MetricSources {
  readonly servers: ReadonlyMap<string, TmuxServer>;
  readonly waits: { metrics(): WaitMetricsSnapshot };
  readonly subscribers: (server: TmuxServer) => number;
  readonly sockets: () => number;
}

export function nativeMetrics(metrics: Metrics, sources: MetricSources): NativeMetrics {
  const { servers } = sources;
  const perServer = (read: (server: TmuxServer) => number) => () =>
    [...servers].map(([server, of]) => ({ labels: { server }, value: read(of) }));
  metrics.collect("tmuxwire_server_state", "gauge", "1 for the state a server is in.", () =>
    [...servers].flatMap(([server, of]) =>
      STATES.map((state) => ({ labels: { server, state }, value: of.status().state === state ? 1 : 0 })),
    ),
  );
  metrics.collect(
    "tmuxwire_sessions",
    "gauge",
    "Sessions.",
    perServer((server) => server.sessions().length),
  );
  metrics.collect("tmuxwire_panes", "gauge", "Panes by whether their program runs.", () =>
    [...servers].flatMap(([server, of]) => {
      const panes = of.panes();
      const dead = panes.filter((pane) => pane.exit !== undefined).length;
      return [
        { labels: { server, state: "running" }, value: panes.length - dead },
        { labels: { server, state: "dead" }, value: dead },
      ];
    }),
  );
  metrics.collect(
    "tmuxwire_output_bytes_total",
    "counter",
    "Pane output received from tmux.",
    perServer((server) => server.counters().outputBytes),
  );
  metrics.collect(
    "tmuxwire_pauses_total",
    "counter",
    "Times tmux paused a pane and dropped output.",
    perServer((server) => server.counters().pauses),
  );
  metrics.collect("tmuxwire_stream_subscribers", "gauge", "Subscriptions open.", perServer(sources.subscribers));
  metrics.collect("tmuxwire_stream_sockets", "gauge", "WebSockets open.", () => [{ value: sources.sockets() }]);
  metrics.collect("tmuxwire_spawns_total", "counter", "Processes that this one has started.", () => [
    { value: spawnsTotal() },
  ]);
  collectWaits(metrics, sources.waits);
  return {
    streamBytes: metrics.counter("tmuxwire_stream_bytes_total", "Pane output handed to subscribers, by transport."),
    streamGaps: metrics.counter("tmuxwire_stream_gaps_total", "Gaps declared to subscribers, by reason."),
    streamSnapshots: metrics.counter("tmuxwire_stream_snapshots_total", "Snapshots sent to subscribers."),
    streamsStalled: metrics.counter("tmuxwire_stream_stalled_total", "Connections closed because nobody read them."),
  };
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

function collectWaits(metrics: Metrics, waits: MetricSources["waits"]): void {
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
