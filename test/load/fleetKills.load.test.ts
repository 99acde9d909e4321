/**
 * A pane published to three NATS servers: daemon, one server and viewers are killed in turn. What a viewer gets is what the pane
 * printed, or a gap says that something is missing; nothing comes twice. `KILLS=200 REPLICAS=1 SEED=7 npm run load -- fleetKills --testTimeout=7200000`
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { type PaneEvent, FleetClient } from "../../adapters/fleet/fleetClient.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { LineJudge } from "../support/daemon/lineJudge.ts";
import { report } from "../support/daemon/loadReport.ts";
import { NO_NATS, natsServers, natsVersion } from "../support/daemon/natsServers.ts";
import { below, randomFrom } from "../support/daemon/nativeScreens.ts";

const KILLS = Number(process.env["KILLS"] ?? 4);
const SEED = Number(process.env["SEED"] ?? 7);
const REPLICAS = Number(process.env["REPLICAS"] ?? 3);
const AT = { host: "box", server: "main" };
if (natsVersion === undefined) process.stderr.write(`fleetKills: skipped, ${NO_NATS}\n`);

const PRINTER = `let n = 0; setInterval(() => { let text = ""; for (let i = 0; i < 5; i += 1) text += "line " + n++ + "\\n"; process.stdout.write(text); }, 5);`;

test.skipIf(natsVersion === undefined)("daemon, server and viewer killed in turn", async () => {
  const random = randomFrom(SEED);
  await using nats = await natsServers({ nodes: 3 });
  await using sandbox = cliSandbox();
  mkdirSync(sandbox.path("config", "tmuxwire"));
  writeFileSync(sandbox.path("config", "tmuxwire", "config.json"), JSON.stringify({ nats: { replicas: REPLICAS } }));
  const url = nats.urls.join(",");
  const serve = async () => {
    const daemon = sandbox.start([
      "serve",
      "--only",
      "native,nats",
      "--port",
      "0",
      "--nats",
      url,
      "--publish",
      "main",
      "--nats-host",
      AT.host,
    ]);
    await daemon.line(/listening on unix:/);
    return daemon;
  };
  let daemon = await serve();
  const made = await sandbox.run(["new", "work", "--", process.execPath, "-e", PRINTER]);
  const pane = made.stdout.trim();
  expect(pane).toMatch(/^%\d+$/);

  // One that is never killed, in this process, and one that is.
  const nc = await nats.connect(2);
  const steady = new LineJudge();
  const stop = new AbortController();
  let fault: unknown;
  // The streams have no leader at first.
  await eventually(async () => {
    const servers = await new FleetClient(nc).servers().catch(() => []);
    return servers.some(({ tree }) => tree.panes.some(({ id }) => id === pane));
  });
  const following = (async () => {
    for await (const event of new FleetClient(nc).follow({ ...AT, pane, from: "start", signal: stop.signal }))
      steady.see(event);
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) fault = error;
  });

  const killed = new LineJudge();
  const view = () => {
    const from = killed.position === "" ? "start" : killed.position;
    const viewer = sandbox.start(["follow", pane, "--nats", url, "--host", AT.host, "--json", "--from", from]);
    let seen = 0;
    const read = (): void => {
      const text = viewer.stdout();
      for (let end = text.indexOf("\n", seen); end >= 0; end = text.indexOf("\n", seen)) {
        const { data, ...event } = JSON.parse(text.slice(seen, end)) as { data?: string };
        seen = end + 1;
        killed.see((data === undefined ? event : { ...event, bytes: Buffer.from(data, "base64") }) as PaneEvent);
      }
    };
    return { viewer, read };
  };
  let current = view();
  const advanced = async (judge: LineJudge, read: () => void): Promise<void> => {
    const { last } = judge;
    await eventually(() => {
      read();
      if (fault !== undefined) throw fault as Error;
      return judge.last > last + 20;
    }, 10);
  };
  const both = async (): Promise<void> => {
    await advanced(steady, () => undefined);
    await advanced(killed, () => current.read());
  };
  await both();
  const counts = { daemon: 0, server: 0, viewer: 0 };
  for (let kill = 0; kill < 3 * KILLS; kill += 1) {
    const what = (["daemon", "server", "viewer"] as const)[kill % 3]!;
    await delay(below(random, 300));
    if (what === "daemon") {
      daemon.child.kill("SIGKILL");
      await daemon.finished;
      await delay(below(random, 200));
      daemon = await serve();
    } else if (what === "server") {
      const node = below(random, 3);
      await nats.kill(node);
      await delay(below(random, 500));
      await nats.start(node);
    } else {
      current.viewer.child.kill("SIGKILL");
      await current.viewer.finished;
      current.read();
      current = view();
    }
    await both();
    counts[what] += 1;
    report("fleetKills", { kill: kill + 1, what, steady: steady.last, killed: killed.last, gaps: steady.gaps });
  }
  stop.abort();
  await following;
  if (fault !== undefined) throw fault as Error;
  report("fleetKills", {
    ...counts,
    replicas: REPLICAS,
    steady: { lines: steady.lines, last: steady.last, gaps: steady.gaps, snapshots: steady.snapshots },
    killed: { lines: killed.lines, last: killed.last, gaps: killed.gaps, snapshots: killed.snapshots },
    nats: natsVersion,
  });
  // What is missing without a gap, or came twice, has ended it before.
  expect(Math.min(steady.lines, killed.lines)).toBeGreaterThan(100);
  expect(steady.gaps).toBeLessThanOrEqual(KILLS + 1);
});
