/**
 * Fifty machines with twenty panes each, all followed by one client: memory, CPU at rest, and how soon all are back after the
 * network was away. They are one sshd under fifty names, with a daemon there and without.
 * `HOSTS=50 PANES=20 DARK_MS=60000 npm run load -- hostFleet`
 */
import { mkdirSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { createClient } from "../../adapters/client/client.ts";
import { unixFetch } from "../../adapters/serving/unixFetch.ts";
import { STREAM_BEARER_PREFIX, STREAM_PROTOCOL } from "../../protocol/api/native/nativeFrames.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { report } from "../support/daemon/loadReport.ts";
import { type SshHost, sshHost, sshClients } from "../support/daemon/sshHost.ts";

const HOSTS = Number(process.env["HOSTS"] ?? 50);
const PANES = Number(process.env["PANES"] ?? 20);
const DARK_MS = Number(process.env["DARK_MS"] ?? 60_000);
const TICKS_PER_SEC = 100;

const rssMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
const cpuSec = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SEC;
};

/** A tmux whose sockets are its own, as on a machine of its own. */
function tmuxOf({ sandbox }: SshHost, name: string): string {
  const directory = sandbox.path("tmp", name);
  mkdirSync(directory);
  sandbox.binaries(`bin-${name}`, { tmux: `#!/bin/sh\nexport TMUX_TMPDIR='${directory}'\nexec tmux "$@"\n` });
  return sandbox.path(`bin-${name}`, "tmux");
}

test.each([true, false])("many machines; a daemon there: %s", async (hasTmuxwire) => {
  await using host = await sshHost({ hasTmuxwire, sshd: ["MaxStartups 200"], names: "build*" });
  await using here = cliSandbox();
  const daemon = await here.serve();
  const token = readFileSync(here.tokenPath, "utf8").trim();
  const client = createClient({ url: "http://localhost", token, fetch: unixFetch(here.socketPath) });
  const listed = async () =>
    (await client.server("main").perform<{ hosts: readonly { state: string }[] }>("listHosts")).hosts;
  const names = Array.from({ length: HOSTS }, (_, at) => `build${at}`);
  const bare = rssMb(daemon.pid);
  const addedMs = performance.now();
  for (const name of names)
    await client.server("main").perform(
      "addHost",
      {},
      {
        name,
        destination: name,
        sshConfig: host.configFile,
        ...(hasTmuxwire ? {} : { agentless: true, program: tmuxOf(host, name) }),
      },
    );
  report("hostFleet", {
    daemon: hasTmuxwire,
    hosts: HOSTS,
    addedMs: performance.now() - addedMs,
    bareMb: bare,
    connectedMb: rssMb(daemon.pid),
  });
  // With a daemon there, all names lead to the one daemon's server.
  for (const name of hasTmuxwire ? names.slice(0, 1) : names) {
    for (let pane = 0; pane < PANES; pane += 1) {
      await client
        .server(`main@${name}`)
        .createSession({ name: `p${pane}`, command: ["sh", "-c", "stty -echo; exec cat"] });
    }
  }
  // Without a daemon there, the session of the control client is a process as well.
  const processes = sshClients(here.root).length;
  expect(processes).toBe(hasTmuxwire ? HOSTS : 2 * HOSTS);
  const socket = new WebSocket(`ws+unix:${here.socketPath}:/v1/stream`, [
    STREAM_PROTOCOL,
    `${STREAM_BEARER_PREFIX}${token}`,
  ]);
  await once(socket, "open");
  let [subscribed, id] = [0, 0];
  socket.on("message", (data: Buffer, isBinary) => {
    if (!isBinary && String(data).includes('"subscribed"')) subscribed += 1;
  });
  for (const name of names) {
    for (let pane = 0; pane < PANES; pane += 1) {
      id += 1;
      socket.send(JSON.stringify({ type: "subscribe", id, server: `main@${name}`, pane: `p${pane}` }));
    }
  }
  await eventually(() => subscribed === HOSTS * PANES, 50);
  const followedMb = rssMb(daemon.pid);
  await pause(3_000);
  const [restMs, restCpu] = [performance.now(), cpuSec(daemon.pid)];
  await pause(20_000);
  const cpu = ((cpuSec(daemon.pid) - restCpu) / (performance.now() - restMs)) * 1_000;
  report("hostFleet", {
    daemon: hasTmuxwire,
    panes: HOSTS * PANES,
    processes,
    followedMb,
    perPaneMb: (followedMb - bare) / (HOSTS * PANES),
    idleCpuShare: cpu,
  });
  socket.close();

  await host.stop();
  for (const pid of sshClients(here.root)) process.kill(pid, "SIGKILL");
  const [darkMs, darkCpu] = [performance.now(), cpuSec(daemon.pid)];
  await pause(DARK_MS);
  const darkShare = ((cpuSec(daemon.pid) - darkCpu) / (performance.now() - darkMs)) * 1_000;
  const askedMs = performance.now();
  await client.servers();
  const listedMs = performance.now() - askedMs;
  await host.start();
  const backMs = performance.now();
  await eventually(async () => (await listed()).every(({ state }) => state === "connected"), 100);
  report("hostFleet", { daemon: hasTmuxwire, darkShare, listedMs, backMs: performance.now() - backMs });
});
