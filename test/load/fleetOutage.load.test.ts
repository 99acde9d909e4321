/**
 * NATS away, slow, full and refusing while panes print: the panes go on as before, the daemon's memory stays within its
 * bound, and a viewer gets what was printed or a gap. `SECONDS=60 PANES=20 npm run load -- fleetOutage --testTimeout=600000`
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { FleetClient } from "../../adapters/fleet/fleetClient.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { STREAM_OF_OTHERS } from "../support/daemon/fleetScene.ts";
import { LineJudge } from "../support/daemon/lineJudge.ts";
import { report } from "../support/daemon/loadReport.ts";
import { NO_NATS, type NatsServers, natsServers, natsVersion } from "../support/daemon/natsServers.ts";
import { costOf } from "../support/daemon/processCost.ts";

const SECONDS = Number(process.env["SECONDS"] ?? 3);
const PANES = Number(process.env["PANES"] ?? 10);
const BYTES_PER_SEC = 100_000;
const AT = { host: "box", server: "main" };
/** What the rings of the panes, and what is on its way, may take; and what the heap of a busy process moves by. */
const RING_BYTES = 524_288;
const BUDGET_BYTES = 33_554_432;
const HEAP_MIB = 48;
if (natsVersion === undefined) process.stderr.write(`fleetOutage: skipped, ${NO_NATS}\n`);

/** Numbered lines, so many bytes a second whatever else the machine does. */
const PRINTER = `$| = 1; system "stty -onlcr"; use Time::HiRes "time", "sleep"; my ($n, $debt, $last) = (0, 0, time);
while (1) { my $now = time; $debt += ($now - $last) * ${BYTES_PER_SEC}; $last = $now; my $text = "";
while ($debt > 0) { my $line = "line " . $n++ . "\\r\\n"; $text .= $line; $debt -= length $line } print $text; sleep 0.05 }`;

type Outage = (nats: NatsServers, nc: NatsConnection) => Promise<void>;

/** Each comes back to what it was before. */
const OUTAGES: Readonly<Record<string, Outage>> = {
  away: async (nats) => {
    await nats.kill(0);
    await delay(SECONDS * 1_000);
    await nats.start(0);
  },
  silent: async (nats) => {
    await nats.kill(0, "SIGSTOP");
    await delay(SECONDS * 1_000);
    await nats.kill(0, "SIGCONT");
  },
  // One tenth of the time it works.
  slow: async (nats) => {
    for (const endMs = performance.now() + SECONDS * 1_000; performance.now() < endMs;) {
      await nats.kill(0, "SIGSTOP");
      await delay(450);
      await nats.kill(0, "SIGCONT");
      await delay(50);
    }
  },
  full: async (_nats, nc) => {
    const jsm = await jetstreamManager(nc, { checkAPI: false });
    const { state } = await jsm.streams.info("OURS");
    await jsm.streams.update("OURS", { max_msgs: state.messages });
    await delay(SECONDS * 1_000);
    await jsm.streams.update("OURS", { max_msgs: -1 });
  },
  refusing: async (nats) => {
    nats.configure(usersWith('permissions: { publish: { deny: "tmuxwire.>" } }'));
    await delay(SECONDS * 1_000);
    nats.configure(usersWith(""));
  },
};

const usersWith = (rights: string): string =>
  `authorization { users: [{ user: all, password: all }, { user: daemon, password: daemon, ${rights} }] }`;

test.skipIf(natsVersion === undefined).each(Object.keys(OUTAGES))("NATS is %s", async (what) => {
  await using nats = await natsServers({ config: usersWith(""), own: { user: "all", pass: "all" } });
  const nc = await nats.connect();
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  await jsm.streams.add(STREAM_OF_OTHERS);
  await using sandbox = cliSandbox();
  const daemon = sandbox.start(
    ["serve", "--only", "native,nats", "--port", "0"].concat([
      "--nats",
      nats.urls.join(",").replace("//", "//daemon:daemon@"),
      "--publish",
      "main",
      "--nats-host",
      AT.host,
    ]),
  );
  const url = (await daemon.line(/listening on (http\S+)/))[1]!;
  await daemon.line(/listening on unix:/);
  const token = readFileSync(sandbox.tokenPath, "utf8").trim();
  const metric = async (name: string): Promise<number> => {
    const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, "m").exec(await response.text())?.[1] ?? 0);
  };
  const client = createClient({ url, token }).server("main");
  const panes: string[] = [];
  for (let at = 0; at < PANES; at += 1) {
    const { activePane } = await client.createSession({ name: `work${at}`, command: ["perl", "-e", PRINTER] });
    panes.push(activePane!);
  }

  const judge = new LineJudge();
  const stop = new AbortController();
  let fault: unknown;
  await eventually(async () => {
    const servers = await new FleetClient(nc).servers().catch(() => []);
    return servers.some(({ tree }) => tree.panes.length >= PANES);
  });
  const following = (async () => {
    const from = { ...AT, pane: panes[0]!, from: "start" as const, signal: stop.signal };
    for await (const event of new FleetClient(nc).follow(from)) judge.see(event);
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) fault = error;
  });
  const advanced = async (lines: number): Promise<void> => {
    const { last } = judge;
    await eventually(() => {
      if (fault !== undefined) throw fault as Error;
      return judge.last > last + lines;
    });
  };
  await advanced(50_000);

  const printedIn = async (work: () => Promise<void>): Promise<number> => {
    const [bytes, startMs] = [await metric("tmuxwire_output_bytes_total"), performance.now()];
    await work();
    return ((await metric("tmuxwire_output_bytes_total")) - bytes) / (performance.now() - startMs);
  };
  const quiet = await printedIn(() => delay(Math.min(SECONDS, 5) * 1_000));
  const { rssMiB: before } = costOf(daemon.pid);
  let most = 0;
  const sampling = setInterval(() => (most = Math.max(most, costOf(daemon.pid).rssMiB)), 100);
  const during = await printedIn(() => OUTAGES[what]!(nats, nc));
  clearInterval(sampling);
  await advanced(5_000);
  await delay(1_000);
  stop.abort();
  await following;
  const { lines, gaps } = judge;
  report("fleetOutage", {
    what,
    seconds: SECONDS,
    panes: PANES,
    rssMiB: [before, most],
    printed: Math.round((during / quiet) * 1_000) / 1_000,
    lines,
    gaps,
    gapsOfAll: await metric("tmuxwire_nats_gaps_total"),
  });
  expect(fault).toBeUndefined();
  expect(during / quiet).toBeGreaterThan(0.9);
  expect(most - before).toBeLessThan((PANES * RING_BYTES + BUDGET_BYTES) / 1_048_576 + HEAP_MIB);
  if (what !== "slow" && SECONDS * BYTES_PER_SEC > RING_BYTES) expect(gaps).toBeGreaterThan(0);
  daemon.child.kill("SIGTERM");
  await daemon.finished;
});
