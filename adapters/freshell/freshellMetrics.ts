/** What `/api/metrics` shows: the waits under the names of seed 002 §16.17, terminals, clients, tmux, processes started. */
import { spawnsTotal } from "../../daemon/host/spawnCount.ts";
import type { Metrics } from "../../daemon/ops/metrics.ts";
import { collectWaits, type WaitCounts } from "../operations/waitFamilies.ts";
import type { FreshellContext } from "./freshellContext.ts";

/** @param sockets number of WebSockets */
export function collectFreshell(
  metrics: Metrics,
  context: FreshellContext,
  waits: WaitCounts,
  sockets: () => number,
): void {
  const { book, feeds, server, layout, sessions } = context;
  collectWaits(metrics, waits);
  const single = (name: string, help: string, read: () => number): void =>
    metrics.collect(name, name.endsWith("_total") ? "counter" : "gauge", help, () => [{ value: read() }]);
  const byStatus = (name: string, help: string, read: () => readonly [total: number, running: number]): void =>
    metrics.collect(name, "gauge", help, () => {
      const [total, running] = read();
      return [
        { labels: { status: "running" }, value: running },
        { labels: { status: "exited" }, value: total - running },
      ];
    });
  byStatus("freshell_terminals", "Terminals by whether their program runs.", () => {
    const terminals = book.list();
    return [terminals.length, terminals.filter(({ isRunning }) => isRunning).length];
  });
  byStatus("freshell_sessions", "Sessions of agents by whether their program runs.", () => [
    sessions.list().length,
    sessions.runningCount(),
  ]);
  single("freshell_connections", "WebSockets open.", sockets);
  single(
    "freshell_attachments",
    "Terminals that a client is attached to, once for each client.",
    () => feeds.subscriberCount,
  );
  single("freshell_devices_online", "Devices whose owner is online.", () => layout.presence.onlineCount());
  metrics.collect("freshell_rpc_total", "counter", "Requests to owners by what came of them.", () => {
    const counts = layout.relay.counts();
    return (["ok", "error", "late"] as const).map((result) => ({ labels: { result }, value: counts[result] }));
  });
  single(
    "freshell_rpc_ignored_total",
    "Acks and results that nobody had asked for.",
    () => layout.relay.counts().ignored,
  );
  single("tmuxwire_output_bytes_total", "Pane output received from tmux.", () => server.counters().outputBytes);
  single("tmuxwire_pauses_total", "Times tmux paused a pane and dropped output.", () => server.counters().pauses);
  single("tmuxwire_spawns_total", "Processes that this one has started.", spawnsTotal);
}
