/** What MCP costs beside the native API: told after the text, a command, many calls at once, the start of `tmuxwire mcp`. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { report } from "../support/daemon/loadReport.ts";
import { mcpOverHttp } from "../support/daemon/mcpClient.ts";
import { mcpOverPipes } from "../support/daemon/mcpProgram.ts";

const SAMPLES = 60;
/** Prints a numbered line with its own monotonic time, which is one clock for all processes of a machine. */
const WRITER = `let n = 0; const next = () => {
  process.stdout.write("at " + process.hrtime.bigint() + " line-" + n++ + "-end\\n");
  setTimeout(next, 30 + Math.random() * 40);
}; next();`;

let sandbox: CliSandbox;
let url: string;
let token: string;
beforeAll(async () => {
  sandbox = cliSandbox();
  const daemon = await sandbox.serve();
  [, url = ""] = await daemon.line(/listening on (http:\S+)/);
  token = readFileSync(sandbox.tokenPath, "utf8").trim();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
const median = (all: readonly number[]): number =>
  all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;

/** By turns, so that a noisy machine is noisy to all. */
async function compared(ways: Readonly<Record<string, () => Promise<number>>>): Promise<Record<string, number>> {
  const samples = Object.fromEntries(Object.keys(ways).map((name) => [name, [] as number[]]));
  for (let at = 0; at < SAMPLES + 5; at += 1) {
    for (const [name, sample] of Object.entries(ways)) {
      const ms = await sample();
      // The first ones load what is loaded once.
      if (at >= 5) samples[name]!.push(ms);
    }
  }
  return Object.fromEntries(Object.entries(samples).map(([name, all]) => [name, Math.round(median(all) * 100) / 100]));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = nowMs();
  await work();
  return nowMs() - startedMs;
}

test("a wait is told and a command is run as soon as natively, nearly", async () => {
  const native = createClient({ url, token }).server("main");
  await native.createSession({ name: "lines", command: [process.execPath, "-e", WRITER] });
  await native.createSession({ name: "shell", command: ["sh"] });
  await native.pane("shell").wait({ from: "tail:1", prompt: true });
  await using pipes = await mcpOverPipes(sandbox.env, "legacy");
  await using http = await mcpOverHttp(`${url}/mcp`, "modern", token);
  const input = { pattern: { regex: "at \\d+ line-\\d+-end$" } };
  const sinceWritten = (response: unknown): number =>
    nowMs() - Number(/at (\d+) line/.exec(JSON.stringify(response))?.[1] ?? Number.NaN) / 1e6;
  const told = await compared({
    native: async () => sinceWritten(await native.pane("lines").wait(input)),
    pipes: async () => sinceWritten((await pipes.call("wait", { pane: "lines", ...input }))["matched"]),
    http: async () => sinceWritten((await http.call("wait", { pane: "lines", ...input }))["matched"]),
  });
  const command = "echo x";
  const ran = await compared({
    native: () => timed(() => native.pane("shell").run(command)),
    pipes: () => timed(() => pipes.call("run", { pane: "shell", command })),
    http: () => timed(() => http.call("run", { pane: "shell", command })),
  });
  report("mcp: text written to wait told, ms, median", told);
  report("mcp: run echo, ms, median", ran);
  expect(told["pipes"]! - told["native"]!).toBeLessThanOrEqual(3);
  expect(ran["pipes"]! - ran["native"]!).toBeLessThanOrEqual(5);
});

test("200 calls at once start no process", async () => {
  const started = async (): Promise<string> => {
    const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
    return text
      .split("\n")
      .filter((line) => line.startsWith("tmuxwire_spawns_total"))
      .join("\n");
  };
  await using mcp = await mcpOverPipes(sandbox.env, "legacy");
  const before = await started();
  expect(before).not.toBe("");
  const tookMs = await timed(() =>
    Promise.all(Array.from({ length: 200 }, () => mcp.call("capture", { pane: "shell", lines: 10 }))),
  );
  expect(await started()).toBe(before);
  report("mcp: 200 captures at once, ms", { tookMs: Math.round(tookMs) });
});

test("tmuxwire mcp responds to initialize soon after its start", async () => {
  const samples: number[] = [];
  for (let at = 0; at < 15; at += 1) {
    const startedMs = nowMs();
    await using mcp = await mcpOverPipes(sandbox.env, "legacy");
    samples.push(nowMs() - startedMs);
    expect(mcp.client.getServerVersion()).toMatchObject({ name: "tmuxwire" });
  }
  report("mcp: start to initialize response, ms", {
    median: Math.round(median(samples)),
    worst: Math.round(Math.max(...samples)),
  });
  expect(median(samples)).toBeLessThanOrEqual(250);
});
