/**
 * What the list of agents costs: `GET /v1/agents` with 200 of them, how soon one is found, and the daemon's processor time
 * and programs while nothing happens. `AGENTS`, `AGENTS_TRIES` and `AGENTS_IDLE_MS` change the size. Other work on the
 * machine shows in the figures, so its load is printed beside.
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { readToken } from "../../daemon/ops/tokenFile.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { countStarts } from "../support/daemon/dashboardLoad.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import { costOf } from "../support/daemon/processCost.ts";

const AGENTS = Number(process.env["AGENTS"] ?? 200);
const TRIES = Number(process.env["AGENTS_TRIES"] ?? 200);
const IDLE_MS = Number(process.env["AGENTS_IDLE_MS"] ?? 20_000);
const DIRECTORIES = 20;

/** Draws Claude's box and does nothing else; a shell, because 200 Node programs would measure the machine. */
const CLAUDE = `#!/bin/sh
r=$(printf '%060d' 0 | sed 's/0/─/g')
printf '\\033[?2004h\\033[2J\\033[H Claude Code v2.1.330\\r\\n%s\\r\\n❯ \\r\\n%s\\r\\n  ? for shortcuts\\033[3;3H' "$r" "$r"
stty -echo
while read -r line; do :; done
`;

test(`${AGENTS} agents: the list, and a daemon that has nothing to do`, async () => {
  await using sandbox = cliSandbox();
  const claude = sandbox.path("claude");
  writeFileSync(claude, CLAUDE);
  chmodSync(claude, 0o755);
  for (let at = 0; at < DIRECTORIES; at += 1) {
    mkdirSync(sandbox.path(`repository${at}`, ".git"), { recursive: true });
    writeFileSync(sandbox.path(`repository${at}`, ".git", "HEAD"), `ref: refs/heads/branch${at}\n`);
  }
  const daemon = await sandbox.serve();
  const token = (await readToken(sandbox.tokenPath)) ?? "";
  const get = (): Promise<readonly { name: string; state: string; branch: string | null; pid: number }[]> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, host: "localhost" };
      request({ socketPath: sandbox.socketPath, path: "/v1/agents", headers }, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve((JSON.parse(text) as { agents: never[] }).agents));
      })
        .on("error", reject)
        .end();
    });
  const alone = await idle(daemon.pid);
  const foundMs: number[] = [];
  for (let number = 0; number < AGENTS; number += 1) {
    const cwd = sandbox.path(`repository${number % DIRECTORIES}`);
    const startedMs = performance.now();
    sandbox.tmux(sandbox.tmuxSocketPath, "new-session", "-d", "-s", `s${number}`, "-c", cwd, "--", claude);
    if (number % 20 !== 0) continue;
    await eventually(async () => (await get()).length > number, 20);
    foundMs.push(performance.now() - startedMs);
  }
  await eventually(async () => (await get()).filter(({ state }) => state === "ready").length === AGENTS, 200);
  const agents = await get();
  expect(new Set(agents.map(({ name }) => name)).size).toBe(AGENTS);
  expect(new Set(agents.map(({ branch }) => branch)).size).toBe(DIRECTORIES);
  const took: number[] = [];
  const before = costOf(daemon.pid);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const startedMs = performance.now();
    await get();
    took.push(performance.now() - startedMs);
    await delay(20);
  }
  const cpuMsEach = (costOf(daemon.pid).cpuMs - before.cpuMs) / TRIES;
  const listStarts = await countStarts(daemon.pid, async () => void (await get()));
  const quiet = await idle(daemon.pid);
  const figures = {
    agents: AGENTS,
    list: { ...spread(took), cpuMsEach },
    found: spread(foundMs),
    idleCpuPercent: quiet.cpuPercent,
    withoutAgentsCpuPercent: alone.cpuPercent,
    starts: quiet.starts ?? "no strace",
    rssMiB: costOf(daemon.pid).rssMiB,
    load: loadavg()[0]?.toFixed(2),
  };
  report("agentDirectory", figures);
  expect([listStarts ?? 0, quiet.starts ?? 0]).toEqual([0, 0]);
  // What it takes of the processor: how long it waits for one depends on the machine.
  expect(cpuMsEach).toBeLessThanOrEqual(5);
  expect(quiet.cpuPercent).toBeLessThanOrEqual(1);
}, 600_000);

/** Its share of one core while nobody asks, and the programs that are started meanwhile. */
async function idle(pid: number): Promise<{ readonly cpuPercent: number; readonly starts: number | undefined }> {
  const starts = await countStarts(pid, () => delay(IDLE_MS / 4));
  const before = costOf(pid);
  await delay(IDLE_MS);
  return { cpuPercent: ((costOf(pid).cpuMs - before.cpuMs) / IDLE_MS) * 100, starts };
}
