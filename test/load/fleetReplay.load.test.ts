/**
 * A fleet's panes without tmux: recorded frames are replayed into thousands of rings, published by the daemon's own
 * publishers to three NATS servers, and followed by viewers. What is too much shows as lateness, and as gaps.
 * `PANES=500,2000 VIEWERS=200 REPLICAS=3 SECONDS=20 npm run load -- fleetReplay --testTimeout=600000`
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { FleetClient } from "../../adapters/fleet/fleetClient.ts";
import { outSubject } from "../../adapters/fleet/fleetSubjects.ts";
import { connectNats } from "../../adapters/fleet/natsConnection.ts";
import { NatsLink } from "../../adapters/fleet/natsLink.ts";
import { ByteBudget, PanePublisher } from "../../adapters/fleet/panePublisher.ts";
import { PublishPace } from "../../adapters/fleet/publishPace.ts";
import { silentLog } from "../../bench/silentLog.ts";
import { Feeds } from "../../daemon/panes/feeds.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { AppError } from "../../protocol/errors.ts";
import { paneIdOf, type PaneId } from "../../protocol/ids.ts";
import { eventually } from "../support/clock/eventually.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import { MemorySource } from "../support/daemon/memorySource.ts";
import { NO_NATS, natsServers, natsVersion } from "../support/daemon/natsServers.ts";
import { costOf } from "../support/daemon/processCost.ts";
import { NO_ACCESS } from "../support/daemon/fleetScene.ts";

const PANES = (process.env["PANES"] ?? "100").split(",").map(Number);
const VIEWERS = Number(process.env["VIEWERS"] ?? 20);
const REPLICAS = Number(process.env["REPLICAS"] ?? 1);
const SECONDS = Number(process.env["SECONDS"] ?? 3);
/** What a pane prints whose program is at work. */
const BYTES_PER_SEC = Number(process.env["BYTES_PER_SEC"] ?? 5_000);
const TURN_MS = 50;
const RING_BYTES = 65_536;
const COALESCE_MS = 20;
const SCREEN_BYTES = 2_000;
const AT = { host: "box", server: "main" };
const STATE = "tmuxwire.box.main.state.tree";
if (natsVersion === undefined) process.stderr.write(`fleetReplay: skipped, ${NO_NATS}\n`);

/** What `docs/demo.cast` has recorded, over and over. */
const FRAMES = readFileSync(join(resolve(import.meta.dirname, "../.."), "docs/demo.cast"), "utf8")
  .split("\n")
  .slice(1)
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as [number, string, string])
  .flatMap(([, kind, text]) => (kind === "o" ? [Buffer.from(text)] : []));

class ReplayedPane {
  readonly id: PaneId;
  readonly source: MemorySource;
  #frame: number;
  #debt = Math.random() * 200;

  constructor(at: number) {
    this.id = paneIdOf(at);
    this.source = new MemorySource({ id: this.id, ringBytes: RING_BYTES });
    this.#frame = at;
  }

  /** Returns the bytes that it has printed. */
  print(passedMs: number): number {
    this.#debt += (passedMs / 1_000) * BYTES_PER_SEC;
    const before = this.source.outputSeq;
    for (let frame = FRAMES[this.#frame % FRAMES.length]!; frame.length <= this.#debt;) {
      this.source.write(frame);
      this.#debt -= frame.length;
      this.#frame += 1;
      frame = FRAMES[this.#frame % FRAMES.length]!;
    }
    return this.source.outputSeq - before;
  }
}

test.skipIf(natsVersion === undefined).each(PANES)("%i panes", async (count) => {
  await using nats = await natsServers({ nodes: 3 });
  const panes = Array.from({ length: count }, (_, at) => new ReplayedPane(at));
  const byId = new Map(panes.map((pane) => [pane.id, pane]));
  const link = new NatsLink({
    connect: () => connectNats({ ...NO_ACCESS, servers: [...nats.urls] }, "replay"),
    clock: systemClock,
    log: silentLog,
  });
  const retention = { ageMs: 3_600_000, bytes: 4_294_967_296, replicas: REPLICAS };
  const streams = await link.streams(AT.host, retention, link.signal);
  // By which viewers know the pane.
  await link.publish(
    { subject: STATE, bytes: JSON.stringify({ panes: panes.map(({ id }) => ({ id })) }) },
    link.signal,
  );
  const feeds = new Feeds({
    server: {
      status: () => ({ state: "ready" }),
      findPane: (id) => (byId.has(id) ? { cols: 80, rows: 20, exit: undefined } : undefined),
      subscribe: () => () => undefined,
      output: (id) => {
        const pane = byId.get(id);
        if (pane === undefined) throw new AppError("NOT_FOUND", `no pane ${id}`);
        return pane.source;
      },
      snapshot: async (id) => {
        const { epoch, outputSeq } = byId.get(id)!.source;
        const data = Buffer.alloc(SCREEN_BYTES, "\u001bcscreen ");
        return { position: { epoch, outputSeq }, exact: true, cols: 80, rows: 20, alternateScreen: false, data };
      },
    },
    clock: systemClock,
    onError: (error) => {
      throw error;
    },
  });
  const budget = new ByteBudget(33_554_432);
  const pace = new PublishPace(systemClock, COALESCE_MS);
  const counts = { messages: 0, bytes: 0, gaps: 0 };
  const publishers = panes.map(
    ({ id }) =>
      new PanePublisher({
        link,
        feeds,
        pane: id,
        stream: streams.output,
        subject: outSubject({ ...AT, pane: id }),
        serverName: AT.server,
        tmux: () => "1",
        instance: "replay",
        pace,
        refreshMs: retention.ageMs / 2,
        budget,
        clock: systemClock,
        mayPublish: async () => true,
        observe: {
          stored: (bytes) => {
            counts.messages += 1;
            counts.bytes += bytes;
          },
          gap: () => (counts.gaps += 1),
        },
      }),
  );
  const running = publishers.map((publisher) => publisher.run());
  await eventually(() => counts.messages >= 2 * count, 20);

  /** When each viewed pane had printed so far. */
  const printed = new Map<PaneId, { readonly outputSeq: number; readonly atMs: number }[]>();
  const stop = new AbortController();
  const late: number[] = [];
  let opened = 0;
  const connections = await Promise.all(
    Array.from({ length: Math.ceil(VIEWERS / 100) }, (_, at) => nats.connect(at % 3)),
  );
  const viewing = Array.from({ length: VIEWERS }, async (_, at) => {
    const { id } = panes[Math.floor((at * count) / VIEWERS)]!;
    printed.set(id, []);
    const client = new FleetClient(connections[at % connections.length]!);
    let next = 0;
    for await (const event of client.follow({ ...AT, pane: id, from: "now", signal: stop.signal })) {
      if (event.kind === "open") opened += 1;
      if (event.kind !== "output") continue;
      const nowMs = performance.now();
      const marks = printed.get(id)!;
      const to = Number(event.position.split(":")[1]);
      for (; next < marks.length && marks[next]!.outputSeq <= to; next += 1) late.push(nowMs - marks[next]!.atMs);
    }
  });
  await eventually(() => opened === VIEWERS, 20);

  let offered = 0;
  let lastMs = performance.now();
  const [startMs, before, cpu] = [lastMs, { ...counts }, process.cpuUsage()];
  const servers = nats.pids().map((pid) => costOf(pid!).cpuMs);
  const printing = setInterval(() => {
    const nowMs = performance.now();
    for (const pane of panes) {
      const bytes = pane.print(nowMs - lastMs);
      offered += bytes;
      if (bytes > 0) printed.get(pane.id)?.push({ outputSeq: pane.source.outputSeq, atMs: nowMs });
    }
    lastMs = nowMs;
  }, TURN_MS);
  await delay(SECONDS * 1_000);
  const seconds = (performance.now() - startMs) / 1_000;
  const used = process.cpuUsage(cpu);
  const taken = { messages: counts.messages - before.messages, bytes: counts.bytes - before.bytes };
  const cost = nats.pids().map((pid, at) => ({
    cpu: Math.round((costOf(pid!).cpuMs - servers[at]!) / seconds / 10),
    rssMiB: Math.round(costOf(pid!).rssMiB),
  }));
  clearInterval(printing);
  await delay(500);
  stop.abort();
  await Promise.allSettled(viewing);
  report("fleetReplay", {
    panes: count,
    viewers: VIEWERS,
    replicas: REPLICAS,
    offeredMbPerSec: Math.round(offered / seconds / 1e4) / 100,
    storedShare: Math.round((taken.bytes / offered) * 1_000) / 1_000,
    messagesPerSec: Math.round(taken.messages / seconds),
    bytesPerMessage: Math.round(taken.bytes / taken.messages),
    gaps: counts.gaps,
    late: spread(late),
    publisherCpu: Math.round((used.user + used.system) / seconds / 1e4),
    publisherRssMiB: Math.round(process.memoryUsage.rss() / 1_048_576),
    nats: cost,
  });
  for (const publisher of publishers) publisher.close();
  await Promise.all(running);
  await link.close();
  expect(late.length).toBeGreaterThan(VIEWERS);
  expect(counts.gaps).toBe(0);
});
