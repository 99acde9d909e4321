/**
 * Freshell's figures: echo, waits, many readers, large snapshots, beside the native API over the same panes in one run
 * (docs/contracts/freshell.md). Ratios; one JSON line each.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { PaneId } from "../../protocol/ids.ts";
import { CAPABILITIES, FRESHELL_TOKEN, FreshellFixture } from "../support/daemon/freshellFixture.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import { nativeFixture, type NativeFixture } from "../support/daemon/nativeServer.ts";
import { ownedFixture, type OwnedFixture } from "../support/tmux/ownedFixture.ts";

let owned: OwnedFixture;
let native: NativeFixture;
let freshell: FreshellFixture;
const directory = mkdtempSync(join(tmpdir(), "freshell-load-"));
const MANY = {
  maxGlobal: 2_000,
  maxPerTarget: 2_000,
  maxTimeoutSec: 3_600,
  maxPatternBytes: 4_096,
  maxRegexPerTarget: 16,
};
beforeAll(async () => {
  owned = await ownedFixture();
  native = await nativeFixture(owned.server);
  freshell = await FreshellFixture.start(owned.server, {
    config: { maxConnections: 500, maxTerminals: 100, waits: MANY },
  });
});
afterAll(async () => {
  await freshell[Symbol.asyncDispose]();
  await native[Symbol.asyncDispose]();
  await owned[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

interface Terminal {
  readonly id: string;
  readonly pane: PaneId;
}
const median = (values: readonly number[]): number => spread(values).p50Ms;
const rounded = (value: number): number => Math.round(value * 100) / 100;
const type = (id: string, body: object) => freshell.call("POST", `/api/terminals/${id}/input`, body);
const wait = (id: string, asked: object) =>
  freshell.call("POST", "/api/waits", { target: { terminalId: id }, timeoutSec: 60, ...asked });

async function terminal(command: string): Promise<Terminal> {
  const { terminalId: id } = await freshell.create({ shell: "/bin/sh" });
  await wait(id, { prompt: true, from: "tail:1" });
  const ready = wait(id, { pattern: "ready-2" });
  await type(id, { keys: [`stty raw -echo; echo ready-$((1+1)); ${command}`, "Enter"] });
  await ready;
  const { pane } = freshell.freshell.terminals.require(id);
  return { id, pane: pane! };
}
const kill = ({ id }: Terminal) => freshell.call("POST", `/api/terminals/${id}/kill`);

interface Readers {
  readonly child: ChildProcess;
  bytes(): Promise<number>;
  end(): Promise<void>;
}
async function readers(kind: "native" | "freshell", { id, pane }: Terminal, count: number): Promise<Readers> {
  const options =
    kind === "native"
      ? {
          url: `ws://127.0.0.1:${native.port}/v1/stream`,
          protocol: "tmuxwire.v1",
          hello: [{ type: "subscribe", id: 1, server: "main", pane, creditBytes: 1_000_000_000 }],
        }
      : {
          url: `ws://127.0.0.1:${freshell.port}/ws`,
          protocol: "",
          hello: [
            { type: "hello", token: FRESHELL_TOKEN, capabilities: CAPABILITIES },
            { type: "terminal.attach", terminalId: id },
          ],
        };
  const script = join(import.meta.dirname, "../support/daemon/streamReaders.mjs");
  const child = fork(script, [options.url, options.protocol, JSON.stringify(options.hello), String(count)], {
    execArgv: [],
  });
  await once(child, "message");
  return {
    child,
    bytes: async () => {
      const answer = once(child, "message");
      child.send("bytes");
      return Number((await answer)[0]);
    },
    end: async () => {
      const gone = once(child, "exit");
      child.disconnect();
      await gone;
    },
  };
}

test("input to echo against the native socket: at most 1.25 times", async () => {
  const echo = await terminal("exec cat");
  const client = await freshell.connect();
  client.send({ type: "terminal.attach", terminalId: echo.id });
  await client.next("terminal.attached");
  const socket = new WebSocket(`ws://127.0.0.1:${native.port}/v1/stream`, ["tmuxwire.v1"]);
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "subscribe", id: 1, server: "main", pane: echo.pane, creditBytes: 1e9 }));
  await once(socket, "message");
  const arrives = (of: WebSocket): Promise<unknown> =>
    new Promise((resolve) => {
      const onMessage = (data: Buffer, isBinary: boolean): void => {
        if (!isBinary && !data.includes('"terminal.output"')) return;
        of.off("message", onMessage);
        resolve(undefined);
      };
      of.on("message", onMessage);
    });
  const round = async (of: WebSocket, send: () => void): Promise<number> => {
    const both = [arrives(socket), arrives(client.socket)];
    const seen = arrives(of);
    const begin = performance.now();
    send();
    await seen;
    const tookMs = performance.now() - begin;
    await Promise.all(both);
    await delay(2);
    return tookMs;
  };
  const viaNative = (): Promise<number> =>
    round(socket, () =>
      socket.send(
        JSON.stringify({ type: "input", id: 2, server: "main", pane: echo.pane, parts: [{ kind: "text", text: "x" }] }),
      ),
    );
  const viaFreshell = (): Promise<number> =>
    round(client.socket, () => client.send({ type: "terminal.input", terminalId: echo.id, data: "x" }));
  const [nativeMs, freshellMs]: [number[], number[]] = [[], []];
  for (let at = 0; at < 600; at += 1) {
    nativeMs.push(await viaNative());
    freshellMs.push(await viaFreshell());
  }
  socket.terminate();
  await kill(echo);
  const ratio = rounded(median(freshellMs.slice(100)) / median(nativeMs.slice(100)));
  report("echo", { native: spread(nativeMs.slice(100)), freshell: spread(freshellMs.slice(100)), ratio });
  expect(ratio).toBeLessThanOrEqual(1.25);
});

test("a wait against the native one, and against looking every 200 ms", async () => {
  const echo = await terminal("exec cat");
  const print = (text: string) => owned.server.input(echo.pane, [{ kind: "text", bytes: Buffer.from(text) }]);
  let turn = 0;
  const round = async (armed: (word: string) => Promise<{ readonly status: number }>): Promise<number> => {
    const word = `word-${(turn += 1)};`;
    const told = armed(word);
    await delay(20);
    const begin = performance.now();
    await print(word);
    expect((await told).status).toBe(200);
    return performance.now() - begin;
  };
  const viaNative = (word: string) =>
    native.call("POST", `/v1/servers/main/panes/${echo.pane}/wait`, { pattern: { literal: word }, timeoutMs: 30_000 });
  const polled = async (word: string) => {
    for (;;) {
      await delay(200);
      const { json } = await freshell.call("GET", `/api/terminals/${echo.id}/capture?J=1`);
      if ((json["lines"] as string[]).join("").includes(word)) return { status: 200 };
    }
  };
  const [nativeMs, freshellMs, pollMs]: [number[], number[], number[]] = [[], [], []];
  for (let at = 0; at < 60; at += 1) {
    nativeMs.push(await round(viaNative));
    freshellMs.push(await round((word) => wait(echo.id, { pattern: word })));
  }
  for (let at = 0; at < 20; at += 1) pollMs.push(await round(polled));
  await kill(echo);
  const faster = rounded(median(pollMs) / median(freshellMs));
  report("wait", { native: spread(nativeMs), freshell: spread(freshellMs), polling: spread(pollMs), faster });
  expect(median(freshellMs)).toBeLessThanOrEqual(median(nativeMs) + 2);
  expect(faster).toBeGreaterThanOrEqual(50);
});

test("16 readers of a pane at 10 MB/s: at most 1.4 times the native socket's share of a core", async () => {
  const file = join(directory, "flood");
  const line = (at: number): string => `\u001b[3${at % 8}m${at} 0123456789 äöü ${"abcdefgh".repeat(6)}\u001b[0m\r\n`;
  writeFileSync(file, Array.from({ length: 1_300 }, (_, at) => line(at)).join(""));
  const flood = await terminal(`while :; do cat ${file}; sleep 0.008; done`);
  const measure = async (kind: "native" | "freshell"): Promise<{ cpuMsPerMb: number; mbPerSec: number }> => {
    const all = await readers(kind, flood, 16);
    await delay(500);
    const [cpu, at, before] = [process.cpuUsage(), performance.now(), owned.server.counters().outputBytes];
    await delay(4_000);
    const { user, system } = process.cpuUsage(cpu);
    const mb = (owned.server.counters().outputBytes - before) / 1e6;
    const seconds = (performance.now() - at) / 1_000;
    expect(await all.bytes()).toBeGreaterThan(mb * 1e6 * 8);
    await all.end();
    return { cpuMsPerMb: rounded((user + system) / 1_000 / mb), mbPerSec: rounded(mb / seconds) };
  };
  const runs: { kind: string; cpuMsPerMb: number; mbPerSec: number }[] = [];
  for (const kind of ["native", "freshell", "native", "freshell"] as const)
    runs.push({ kind, ...(await measure(kind)) });
  await kill(flood);
  const least = (kind: string): number =>
    Math.min(...runs.filter((run) => run.kind === kind).map(({ cpuMsPerMb }) => cpuMsPerMb));
  const ratio = rounded(least("freshell") / least("native"));
  report("readers", { runs, ratio });
  expect(ratio).toBeLessThanOrEqual(1.4);
});

test("attaching to 5,000 lines takes 60 ms at most, and another terminal's echo 10 ms meanwhile", async () => {
  const long = await terminal(
    `i=0; while [ $i -lt 6000 ]; do i=$((i+1)); printf '\\033[3%dmline %d of many\\033[0m\\r\\n' $((i % 8)) $i; done; echo full-$((40+2)); exec cat`,
  );
  await wait(long.id, { pattern: "full-42", from: "tail:100" });
  const echo = await terminal("exec cat");
  const [client, other] = [await freshell.connect(), await freshell.connect()];
  other.send({ type: "terminal.attach", terminalId: echo.id });
  await other.next("terminal.attached");
  const [attachMs, echoMs]: [number[], number[]] = [[], []];
  for (let at = 0; at < 20; at += 1) {
    const begin = performance.now();
    client.send({ type: "terminal.attach", terminalId: long.id });
    other.send({ type: "terminal.input", terminalId: echo.id, data: `${at % 10}` });
    const echoed = other.next("terminal.output").then(() => echoMs.push(performance.now() - begin));
    const { snapshot } = await client.next("terminal.attached");
    attachMs.push(performance.now() - begin);
    await echoed;
    expect(String(snapshot).split("\n").length).toBeGreaterThan(5_000);
    await delay(20);
  }
  await Promise.all([kill(long), kill(echo)]);
  report("attach", { attach: spread(attachMs.slice(2)), echo: spread(echoMs.slice(2)) });
  expect(median(attachMs.slice(2))).toBeLessThanOrEqual(60);
  expect(median(echoMs.slice(2))).toBeLessThanOrEqual(10);
});

test("500 waits on idle terminals cost nothing", async () => {
  const idle = await Promise.all(Array.from({ length: 5 }, () => terminal("exec cat")));
  const share = async (): Promise<number> => {
    await delay(1_000);
    const cpu = process.cpuUsage();
    await delay(4_000);
    const { user, system } = process.cpuUsage(cpu);
    return (user + system) / 4_000_000;
  };
  const without = await share();
  const client = await freshell.connect();
  for (let at = 0; at < 500; at += 1) {
    const target = { terminalId: idle[at % 5]!.id };
    client.send({ type: "wait.start", requestId: `w${at}`, target, pattern: `never-${at}`, timeoutSec: 600 });
  }
  while (freshell.waits.metrics().wait_active < 500) await delay(5);
  const withWaits = await share();
  client.socket.terminate();
  while (freshell.waits.metrics().wait_active > 0) await delay(5);
  await Promise.all(idle.map(kill));
  report("idle waits", { without: rounded(without), withWaits: rounded(withWaits) });
  expect(withWaits - without).toBeLessThanOrEqual(0.02);
});

test("an attached client at rest takes 200 KB at most", async () => {
  const quiet = await terminal("exec cat");
  const few = await readers("freshell", quiet, 50);
  await delay(500);
  const before = process.memoryUsage().rss;
  const many = await readers("freshell", quiet, 300);
  await delay(1_000);
  const perClientKb = rounded((process.memoryUsage().rss - before) / 300 / 1_000);
  await Promise.all([few.end(), many.end()]);
  await kill(quiet);
  report("memory", { perClientKb });
  expect(perClientKb).toBeLessThanOrEqual(200);
});
