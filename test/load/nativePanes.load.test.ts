/**
 * 1, 10, 100 and 300 panes that chatter ten times a second, all followed over one WebSocket, while a third process asks one
 * question after another: daemon, panes and questions each have a process of their own, so that none is measured by how busy
 * another is. Evenly spread, as programs are that know nothing of each other, and all in one burst, as nothing is.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath, pathToFileURL } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { RawHttp } from "../../bench/rawHttp.ts";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { probedDaemon } from "../support/daemon/probedDaemon.ts";
import { cpuMsOf } from "../support/daemon/processCost.ts";
import { report } from "../support/daemon/loadReport.ts";

const SECONDS = 8;
/** The daemon's code is compiled while it is at work: a long-lived one is asked, not one that was just started. */
const WARM_UP = 4_000;
const PAUSE_MS = 5;
/** Questions that follow one upon the other, behind one that comes after a pause and meets a machine gone cold. */
const IN_A_ROW = 20;
const PEER = fileURLToPath(new URL("../support/daemon/chatterPeer.mjs", import.meta.url));

const quantile = (values: number[], q: number): number =>
  Math.round((values.sort((a, b) => a - b)[Math.floor(values.length * q)] ?? 0) * 100) / 100;

test.each([1, 10, 100, 300])("%i panes", async (count) => {
  await using sandbox = cliSandbox();
  const daemon = await probedDaemon(sandbox);
  const server = createClient({ url: daemon.url, token: daemon.token }).server("main");
  const panes: { readonly name: string; readonly tty: string }[] = [];
  for (let index = 0; index < count; index += 1) {
    const name = `p${index}`;
    await server.createSession({ name, command: ["sleep", "1000"] });
    panes.push({ name, tty: (await server.pane(name).info()).tty });
  }
  const dist = pathToFileURL(builtCli().replace("adapters/bin/tmuxwire.cjs", "")).href;
  const peer = fork(PEER, [dist, daemon.url, daemon.token], { execArgv: [] });
  const ask = async (message: object): Promise<readonly string[]> => {
    peer.send(message);
    const [response] = (await once(peer, "message")) as [{ readonly wrong: readonly string[] }];
    return response.wrong;
  };
  using http = await RawHttp.open(Number(new URL(daemon.url).port), `Authorization: Bearer ${daemon.token}\r\n`);
  let asked = 0;
  const timed = async (method: string, path: string, body?: object): Promise<number> => {
    const startMs = performance.now();
    await http.call(method, `/v1/servers/main/panes/p${(asked += 1) % count}${path}`, body);
    return performance.now() - startMs;
  };
  // Input of nothing goes the whole way to tmux and back, through the pane's queue, and does nothing there.
  const noop = (): Promise<number> => timed("POST", "/input", { parts: [{ kind: "text", text: "" }] });
  // Asks tmux for the pane's state and for its screen, and judges that.
  const details = (): Promise<number> => timed("GET", "");
  try {
    await ask({ panes });
    for (let round = 0; round < WARM_UP; round += 1) {
      await noop();
      await details();
    }
    for (const bursts of [false, true]) {
      const noops: number[] = [];
      const rows: number[] = [];
      const probes: number[] = [];
      const over = new AbortController();
      const before = cpuMsOf(daemon.running.pid);
      const chatter = ask({ bursts, seconds: SECONDS }).finally(() => over.abort());
      const startMs = performance.now();
      while (!over.signal.aborted) {
        noops.push(await noop());
        for (let more = 0; more < IN_A_ROW; more += 1) rows.push(await noop());
        await delay(PAUSE_MS);
        probes.push(await details());
        await delay(PAUSE_MS);
      }
      const cpuShare = (cpuMsOf(daemon.running.pid) - before) / (performance.now() - startMs);
      report("panes", {
        panes: count,
        chatter: bursts ? "in bursts" : "spread",
        noopP50Ms: quantile(rows, 0.5),
        noopP95Ms: quantile(rows, 0.95),
        afterPauseP50Ms: quantile(noops, 0.5),
        afterPauseP95Ms: quantile(noops, 0.95),
        detailsP50Ms: quantile(probes, 0.5),
        detailsP95Ms: quantile(probes, 0.95),
        noops: noops.length,
        cpuShare: Math.round(cpuShare * 1_000) / 1_000,
      });
      expect(await chatter).toEqual([]);
    }
  } finally {
    peer.disconnect();
    await once(peer, "exit");
  }
});
