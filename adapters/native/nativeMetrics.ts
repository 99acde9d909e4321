/** The metrics of `/metrics`: operations of the API, streams, servers, and waits under the names of seed 002 §16.17. */
import { spawnsTotal } from "../../daemon/host/spawnCount.ts";
import type { Counter, Metrics } from "../../daemon/ops/metrics.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { serverStateSchema } from "../../protocol/api/native/nativeResponses.ts";
import { collectWaits, type WaitCounts } from "../operations/panes/waitFamilies.ts";

export interface NativeMetrics {
  readonly streamBytes: Counter;
  readonly streamGaps: Counter;
  readonly streamSnapshots: Counter;
  readonly streamsStalled: Counter;
}

interface MetricSources {
  readonly servers: ReadonlyMap<string, TmuxServer>;
  readonly waits: WaitCounts;
  readonly subscribers: (server: TmuxServer) => number;
  readonly sockets: () => number;
}

export function nativeMetrics(metrics: Metrics, sources: MetricSources): NativeMetrics {
  const { servers } = sources;
  const perServer = (
    name: string,
    kind: "gauge" | "counter",
    help: string,
    read: (server: TmuxServer) => number,
  ): void =>
    metrics.collect(name, kind, help, () =>
      [...servers].map(([server, of]) => ({ labels: { server }, value: read(of) })),
    );
  metrics.collect("tmuxwire_server_state", "gauge", "1 for the server's current state.", () =>
    [...servers].flatMap(([server, of]) =>
      serverStateSchema.options.map((state) => ({
        labels: { server, state },
        value: of.status().state === state ? 1 : 0,
      })),
    ),
  );
  perServer("tmuxwire_sessions", "gauge", "Sessions.", (server) => server.sessions().length);
  metrics.collect("tmuxwire_panes", "gauge", "Panes, by whether their program is running.", () =>
    [...servers].flatMap(([server, of]) => {
      const panes = of.panes();
      const dead = panes.filter((pane) => pane.exit !== undefined).length;
      return [
        { labels: { server, state: "running" }, value: panes.length - dead },
        { labels: { server, state: "dead" }, value: dead },
      ];
    }),
  );
  perServer(
    "tmuxwire_output_bytes_total",
    "counter",
    "Pane output received from tmux.",
    (server) => server.counters().outputBytes,
  );
  perServer(
    "tmuxwire_pauses_total",
    "counter",
    "Times tmux paused a pane and dropped output.",
    (server) => server.counters().pauses,
  );
  perServer("tmuxwire_stream_subscribers", "gauge", "Open subscriptions.", sources.subscribers);
  metrics.collect("tmuxwire_stream_sockets", "gauge", "Open WebSockets.", () => [{ value: sources.sockets() }]);
  metrics.collect("tmuxwire_spawns_total", "counter", "Processes that the daemon has started.", () => [
    { value: spawnsTotal() },
  ]);
  collectWaits(metrics, sources.waits);
  return {
    streamBytes: metrics.counter("tmuxwire_stream_bytes_total", "Pane output sent to subscribers, by transport."),
    streamGaps: metrics.counter("tmuxwire_stream_gaps_total", "Gaps reported to subscribers, by reason."),
    streamSnapshots: metrics.counter("tmuxwire_stream_snapshots_total", "Snapshots sent to subscribers."),
    streamsStalled: metrics.counter("tmuxwire_stream_stalled_total", "Connections closed because nobody read them."),
  };
}
