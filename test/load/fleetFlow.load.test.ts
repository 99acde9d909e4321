/**
 * What publishing on NATS costs, and how late a viewer is: a daemon that publishes beside one that does not, in turns.
 * `SECONDS=10 ROUNDS=3 npm run load -- fleetFlow`
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { NatsConnection } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { FleetClient } from "../../adapters/fleet/fleetClient.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import { NO_NATS, type NatsServers, natsServers, natsVersion } from "../support/daemon/natsServers.ts";
import { cpuMsOf } from "../support/daemon/processCost.ts";

const SECONDS = Number(process.env["SECONDS"] ?? 2);
const ROUNDS = Number(process.env["ROUNDS"] ?? 1);
const AT = { host: "box", server: "main" };
if (natsVersion === undefined) process.stderr.write(`fleetFlow: skipped, ${NO_NATS}\n`);

/** A line each time with the machine's monotonic clock, which all processes share. */
const TICKER = `setInterval(() => process.stdout.write("at " + process.hrtime.bigint() + "\\n"), 40)`;
/** So many bytes a second, in lines. */
const floodOf = (bytesPerSec: number): string =>
  `const line = "x".repeat(98) + "\\r\\n"; let debt = 0, last = performance.now();
   setInterval(() => { const now = performance.now(); debt += (now - last) / 1000 * ${bytesPerSec}; last = now;
     const lines = Math.floor(debt / 100); debt -= lines * 100; if (lines > 0 && process.stdout.writableLength < 1e6) process.stdout.write(line.repeat(lines)); }, 20);
   process.stdout.isTTY && require("child_process").execSync("stty raw", { stdio: "inherit" });`;

/** 50 kB/s once its file is there, without a runtime for each pane and a process for each pause. */
const SLOW = `$| = 1; system "stty raw"; $block = ("x" x 98 . "\\r\\n") x 50; select undef, undef, undef, 0.2 until -e $ARGV[0]; while (1) { print $block; select undef, undef, undef, 0.1 }`;

interface Daemon {
  readonly pid: number;
  readonly url: string;
  readonly token: string;
  metric(name: string): Promise<number>;
  stop(): Promise<void>;
}

describe.skipIf(natsVersion === undefined)("publishing", () => {
  async function daemon(sandbox: CliSandbox, nats: NatsServers | undefined, coalesceMs = 20): Promise<Daemon> {
    mkdirSync(sandbox.path("config", "tmuxwire"), { recursive: true });
    writeFileSync(sandbox.path("config", "tmuxwire", "config.json"), JSON.stringify({ nats: { coalesceMs } }));
    const flags =
      nats === undefined ? [] : ["--nats", nats.urls.join(","), "--publish", "main", "--nats-host", AT.host];
    const only = nats === undefined ? "native" : "native,nats";
    const running = sandbox.start(["serve", "--only", only, "--port", "0", ...flags]);
    const url = (await running.line(/listening on (http\S+)/))[1]!;
    await running.line(/listening on unix:/);
    const token = readFileSync(sandbox.tokenPath, "utf8").trim();
    return {
      pid: running.pid,
      url,
      token,
      metric: async (name) => {
        const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
        const text = await response.text();
        return [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, "gm"))].reduce(
          (sum, [, value]) => sum + Number(value),
          0,
        );
      },
      stop: async () => {
        running.child.kill("SIGTERM");
        await running.finished;
      },
    };
  }

  const start = async (sandbox: CliSandbox, name: string, script: string): Promise<string> =>
    (await sandbox.run(["new", name, "--", process.execPath, "-e", script])).stdout.trim();

  /** Share of a core. */
  async function share(pid: number, work: () => Promise<void>): Promise<number> {
    const beforeMs = cpuMsOf(pid);
    const startMs = performance.now();
    await work();
    return (cpuMsOf(pid) - beforeMs) / (performance.now() - startMs);
  }

  const known = (nc: NatsConnection, panes: number): Promise<void> =>
    eventually(async () => {
      const servers = await new FleetClient(nc).servers().catch(() => []);
      return servers.some(({ tree }) => tree.panes.length >= panes);
    }, 50);

  function ticks(onMs: (ms: number) => void) {
    let rest = "";
    return (bytes: Uint8Array): void => {
      const now = process.hrtime.bigint();
      const lines = (rest + Buffer.from(bytes).toString("latin1")).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const at = /^at (\d+)/.exec(line)?.[1];
        if (at !== undefined) onMs(Number(now - BigInt(at)) / 1e6);
      }
    };
  }

  test.each([20, 0])("how late a viewer is, with %i ms for more output", async (coalesceMs) => {
    const late: Record<"native" | "beside" | "viewer", number[]> = { native: [], beside: [], viewer: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const publishes of [false, true]) {
        await using nats = publishes ? await natsServers() : undefined;
        await using sandbox = cliSandbox();
        const served = await daemon(sandbox, nats, coalesceMs);
        const pane = await start(sandbox, "ticks", TICKER);
        const client = createClient({ url: served.url, token: served.token });
        const during = async (follow: (signal: AbortSignal) => Promise<void>): Promise<void> => {
          const stop = new AbortController();
          const following = follow(stop.signal);
          await delay(SECONDS * 1_000);
          stop.abort();
          await Promise.allSettled([following]);
        };
        const nc = await nats?.connect();
        if (nc !== undefined) await known(nc, 1);
        await during(async (signal) => {
          const seen = ticks((ms) => (publishes ? late.beside : late.native).push(ms));
          for await (const event of client.server("main").pane(pane).follow({ signal }))
            if (event.kind === "output") seen(event.bytes);
        });
        // Not beside the other: both are read in this process.
        if (nc !== undefined) {
          await during(async (signal) => {
            const seen = ticks((ms) => late.viewer.push(ms));
            for await (const event of new FleetClient(nc).follow({ ...AT, pane, from: "now", signal }))
              if (event.kind === "output") seen(event.bytes);
          });
        }
        await served.stop();
      }
    }
    report("fleetFlow", {
      figure: "late",
      coalesceMs,
      native: spread(late.native),
      beside: spread(late.beside),
      viewer: spread(late.viewer),
    });
    expect(late.viewer.length).toBeGreaterThan(10);
  });

  test.each([
    ["one pane at 8 MB/s", 1, 8_000_000],
    ["200 panes at 50 kB/s", 200, 50_000],
  ])("%s", async (what, panes, bytesPerSec) => {
    const [without, beside, kept]: number[][] = [[], [], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const publishes of [false, true]) {
        await using nats = publishes ? await natsServers() : undefined;
        await using sandbox = cliSandbox();
        const served = await daemon(sandbox, nats);
        let stored = 0;
        if (nats !== undefined) {
          const nc = await nats.connect();
          nc.subscribe("tmuxwire.box.main.*.live", {
            callback: (_error, message) => {
              if (message.headers?.get("Tmuxwire-Kind") === "output") stored += message.data.length;
            },
          });
        }
        const client = createClient({ url: served.url, token: served.token }).server("main");
        const command =
          panes === 1 ? [process.execPath, "-e", floodOf(bytesPerSec)] : ["perl", "-e", SLOW, sandbox.path("go")];
        for (let pane = 0; pane < panes; pane += 1) {
          await client.createSession({ name: `flood${pane}`, command });
        }
        writeFileSync(sandbox.path("go"), "");
        await delay(3_000);
        const [bytes, storedBefore] = [await served.metric("tmuxwire_output_bytes_total"), stored];
        const cpu = await share(served.pid, () => delay(SECONDS * 1_000));
        const printed = (await served.metric("tmuxwire_output_bytes_total")) - bytes;
        (publishes ? beside : without)!.push((cpu / printed) * 1e6);
        if (publishes) kept!.push((stored - storedBefore) / printed);
        report("fleetFlow", {
          what,
          publishes,
          cpu: Math.round(cpu * 100),
          mbPerSec: Math.round(printed / SECONDS / 1e4) / 100,
          gaps: await served.metric("tmuxwire_nats_gaps_total"),
        });
        await served.stop();
      }
    }
    const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!;
    report("fleetFlow", { figure: what, kept: median(kept!), cpuPerByteRatio: median(beside!) / median(without!) });
    expect(median(kept!)).toBeGreaterThan(0.5);
  });

  test("viewers cost the daemon nothing", async () => {
    await using nats = await natsServers();
    await using sandbox = cliSandbox();
    const served = await daemon(sandbox, nats);
    const pane = await start(sandbox, "flood", floodOf(1_000_000));
    const nc = await nats.connect();
    await known(nc, 1);
    const shares: Record<string, number> = {};
    for (const viewers of [1, 100, 1_000]) {
      const stop = new AbortController();
      const connections = await Promise.all(Array.from({ length: Math.ceil(viewers / 100) }, () => nats.connect()));
      let opened = 0;
      const following = Array.from({ length: viewers }, async (_, at) => {
        const client = new FleetClient(connections[Math.floor(at / 100)]!);
        for await (const event of client.follow({ ...AT, pane, from: "now", signal: stop.signal }))
          if (event.kind === "open") opened += 1;
      });
      await eventually(() => opened === viewers, 50);
      shares[viewers] = Math.round((await share(served.pid, () => delay(SECONDS * 1_000))) * 1_000) / 10;
      stop.abort();
      await Promise.allSettled(following);
      await Promise.all(connections.map((connection) => connection.close()));
    }
    report("fleetFlow", { figure: "percent of a core by viewers", shares });
    expect(Object.keys(shares)).toEqual(["1", "100", "1000"]);
    await served.stop();
  });
});
