/** How soon `freshell` speaks, paired with a Node that does nothing, and how soon it is told, paired with plain HTTP. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { builtFreshell } from "../support/daemon/cliBuild.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import { AUTH_TOKEN, freshellScene } from "../support/freshell/freshellScene.ts";

const ROUNDS = 40;
const ANSWER = "[]";

test("the first byte is on the wire at most 60 ms after a Node that does nothing has ended", async () => {
  const home = mkdtempSync(join(tmpdir(), "tw-freshell-"));
  let heard = (): void => undefined;
  const server = createServer((socket: Socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      heard();
      socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${ANSWER.length}\r\n\r\n${ANSWER}`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const env = {
    ...process.env,
    FRESHELL_HOME: home,
    FRESHELL_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    FRESHELL_TOKEN: "t".repeat(20),
  };
  const run = (args: readonly string[]) => spawn(process.execPath, args, { env, stdio: "ignore" });
  const [bare, first, whole]: number[][] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now();
    await once(run(["-e", "0"]), "close");
    bare?.push(performance.now() - started);
    const began = performance.now();
    const byte = new Promise<number>((resolve) => {
      heard = () => resolve(performance.now() - began);
    });
    const child = run([builtFreshell(), "list-terminals"]);
    const [code] = (await once(child, "close")) as [number | null];
    expect(code).toBe(0);
    first?.push(await byte);
    whole?.push(performance.now() - began);
  }
  server.close();
  rmSync(home, { recursive: true, force: true });
  const [nothing, freshell] = [spread(bare ?? []), spread(first ?? [])];
  const overMs = Math.round((freshell.p50Ms - nothing.p50Ms) * 10) / 10;
  report("freshellStart", { rounds: ROUNDS, nothing, firstByte: freshell, whole: spread(whole ?? []), overMs });
  expect(overMs).toBeLessThan(60);
});

const WAITS = 30;

/** Held are 2 ms on a machine that does nothing else; a process that has just begun runs all of its code for the first time. */
const MOST_LATER_MS = 10;

test("a wait of the command line is told soon after the same wait over plain HTTP", async () => {
  await using scene = await freshellScene();
  const terminalId = await scene.terminal();
  const headers = { "x-auth-token": AUTH_TOKEN, "content-type": "application/json" };
  const post = async (path: string, body: object): Promise<void> => {
    const response = await fetch(scene.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    await response.text();
  };
  const active = async (): Promise<string> => (await fetch(`${scene.url}/api/metrics`, { headers })).text();
  const [plain, told]: number[][] = [[], []];
  for (let round = 0; round < WAITS; round += 1) {
    const pattern = `round-${round}-over`;
    const http = post("/api/waits", { target: { terminalId }, pattern, timeoutSec: 60 }).then(() => performance.now());
    const cli = scene.start("wait-for", "--target", `terminal:${terminalId}`, "-p", pattern, "-T", "60");
    const first = cli.line(/^pattern: /).then(() => performance.now());
    await vi.waitFor(async () => expect(await active()).toMatch(/^wait_active 2$/m), { timeout: 30_000, interval: 20 });
    const begun = performance.now();
    await post(`/api/terminals/${terminalId}/input`, { keys: [`echo round-${round}-"over"`, "Enter"] });
    plain?.push((await http) - begun);
    told?.push((await first) - begun);
    expect((await cli.finished).code).toBe(0);
  }
  const [overHttp, inCli] = [spread(plain ?? []), spread(told ?? [])];
  const laterMs = spread((told ?? []).map((ms, at) => ms - (plain?.[at] ?? 0)));
  report("freshellWait", { rounds: WAITS, overHttp, inCli, laterMs });
  expect(laterMs.p50Ms).toBeLessThan(MOST_LATER_MS);
});

const TABS = 30;

test("a tab of its own, the whole command, takes at most 150 ms more than a Node that does nothing", async () => {
  await using scene = await freshellScene();
  const env = { ...process.env, ...scene.sandbox.env, FRESHELL_URL: scene.url };
  const took = async (args: readonly string[]): Promise<number> => {
    const started = performance.now();
    const [code] = (await once(spawn(process.execPath, args, { env, stdio: "ignore" }), "close")) as [number | null];
    expect(code).toBe(0);
    return performance.now() - started;
  };
  const [bare, whole]: number[][] = [[], []];
  for (let round = 0; round < TABS; round += 1) {
    bare?.push(await took(["-e", "0"]));
    whole?.push(await took([builtFreshell(), "new-tab"]));
  }
  const overMs = spread((whole ?? []).map((ms, at) => ms - (bare?.[at] ?? 0)));
  report("freshellNewTab", { rounds: TABS, nothing: spread(bare ?? []), newTab: spread(whole ?? []), overMs });
  expect(overMs.p50Ms).toBeLessThan(150);
});
