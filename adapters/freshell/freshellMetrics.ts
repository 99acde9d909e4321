/** What `/api/metrics` shows: the waits under the names of seed 002 §16.17, terminals, clients, tmux, processes started. */
import { spawnsTotal } from "../../daemon/host/spawnCount.ts";
import type { Metrics } from "../../daemon/ops/metrics.ts";
import { collectWaits, type WaitCounts } from "../operations/waitFamilies.ts";
import type { FreshellContext } from "./freshellContext.ts";

export interface FreshellMetricSources {
  readonly context: FreshellContext;
  readonly waits: WaitCounts;
  readonly sockets: () => number;
}

export function collectFreshell(metrics: Metrics, { context, waits, sockets }: FreshellMetricSources): void {
  const { book, feeds, server, layout, sessions } = context;
  collectWaits(metrics, waits);
  metrics.collect("freshell_terminals", "gauge", "Terminals by whether their program runs.", () => {
    const terminals = book.list();
    const running = terminals.filter(({ isRunning }) => isRunning).length;
    return [
      { labels: { status: "running" }, value: running },
      { labels: { status: "exited" }, value: terminals.length - running },
    ];
  });
  metrics.collect("freshell_sessions", "gauge", "Sessions of agents by whether their program runs.", () => {
    const running = sessions.runningCount();
    return [
      { labels: { status: "running" }, value: running },
      { labels: { status: "exited" }, value: sessions.list().length - running },
    ];
  });
  metrics.collect("freshell_connections", "gauge", "WebSockets open.", () => [{ value: sockets() }]);
  metrics.collect(
    "freshell_attachments",
    "gauge",
    "Terminals that a client is attached to, once for each client.",
    () => [{ value: feeds.subscriberCount }],
  );
  metrics.collect("freshell_devices_online", "gauge", "Devices whose owner is online.", () => [
    { value: layout.presence.onlineCount() },
  ]);
  metrics.collect("freshell_rpc_total", "counter", "Requests to owners by what came of them.", () => {
    const counts = layout.relay.counts();
    return (["ok", "error", "late"] as const).map((result) => ({ labels: { result }, value: counts[result] }));
  });
  metrics.collect("freshell_rpc_ignored_total", "counter", "Acks and results that nobody had asked for.", () => [
    { value: layout.ignoredCount() },
  ]);
  metrics.collect("tmuxwire_output_bytes_total", "counter", "Pane output received from tmux.", () => [
    { value: server.counters().outputBytes },
  ]);
  metrics.collect("tmuxwire_pauses_total", "counter", "Times tmux paused a pane and dropped output.", () => [
    { value: server.counters().pauses },
  ]);
  metrics.collect("tmuxwire_spawns_total", "counter", "Processes that this one has started.", () => [
    { value: spawnsTotal() },
  ]);
}
