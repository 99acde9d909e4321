/**
 * `npm run bench -- peers` in its short form: every peer that is here does every job or says why not, ours without a
 * mistake. The figures of so few tries say nothing, and none is compared.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { tablesOf } from "../../bench/tables.ts";
import { cliSandbox, type CliSandbox } from "../support/daemon/cliSandbox.ts";

const BENCH = resolve(import.meta.dirname, "../../dist/bench/report.js");

interface PeerLine {
  readonly bench: string;
  readonly job?: string;
  readonly peer?: string;
  readonly mistakes?: number;
  readonly of?: number;
  readonly why?: string;
}

async function bench(sandbox: CliSandbox, ...args: readonly string[]) {
  const child = spawn(process.execPath, [BENCH, ...args], { env: sandbox.env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { stdout, stderr, code: child.exitCode };
}

test("every peer does every job or says why not, and tmuxwire makes no mistake", async () => {
  await using sandbox = cliSandbox();
  // Side by side, as they mostly wait; together all the jobs, in their order.
  const runs = await Promise.all(
    ["echo,text,run", "follow,lines", "prompts"].map((jobs) =>
      bench(sandbox, "peers", "--short", "--json", "--jobs", jobs),
    ),
  );
  for (const { code, stderr } of runs)
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  const lines = runs.flatMap(({ stdout }) => stdout.trim().split("\n")).map((line) => JSON.parse(line) as PeerLine);
  const results = lines.filter(({ job, peer }) => job !== undefined && peer !== undefined);
  const of = (name: string): readonly PeerLine[] => results.filter(({ peer }) => peer === name);
  const jobs = ["echo", "text", "run", "follow", "lines", "prompts"];
  for (const name of new Set(results.map(({ peer }) => peer!))) expect(of(name).map(({ job }) => job)).toEqual(jobs);
  expect(of("tmuxwire").flatMap(({ why }) => why ?? [])).toEqual([]);
  expect(of("tmuxwire").map(({ mistakes }) => mistakes)).toEqual(jobs.map(() => 0));
  const unmeasured = results.flatMap(({ why }) => why ?? []);
  expect(unmeasured.filter((why) => !/^not (?:found|possible): /.test(why))).toEqual([]);
  expect(of("tmux processes").every(({ of: tries }) => tries! > 0)).toBe(true);
  expect(runs.at(-1)!.stderr).toContain("prompts, tmuxwire");
});

test("the tables have the columns of their rows, for a terminal and for a document", () => {
  const rows = [
    { bench: "b", table: "One", cells: { peer: "a", median: 1 } },
    { bench: "b", table: "Two", cells: { peer: "a|b" } },
    { bench: "b", table: "One", cells: { peer: "longer", lost: 2 } },
  ];
  const aligned = "One\n  peer    median  lost\n  a       1\n  longer          2\n\nTwo\n  peer\n  a|b\n";
  expect(tablesOf(rows, false)).toBe(aligned);
  expect(tablesOf(rows, true)).toBe(
    "**One**\n\n| peer | median | lost |\n|---|---|---|\n| a | 1 |  |\n| longer |  | 2 |\n\n**Two**\n\n| peer |\n|---|\n| a\\|b |\n",
  );
});

test("an unknown bench is named, with those that there are", async () => {
  await using sandbox = cliSandbox();
  const unknown = await bench(sandbox, "nothing");
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain("no bench nothing; there are roundTrip");
  const help = await bench(sandbox, "--help");
  expect([help.code, help.stdout]).toEqual([0, unknown.stderr.slice(unknown.stderr.indexOf("npm run bench -- "))]);
  // The jobs above are all.
  const noJob = await bench(sandbox, "peers", "--short", "--json", "--jobs", "nothing");
  expect(noJob.stderr).toMatch(/no job nothing; there are echo, text, run, follow, lines, prompts$/m);
});
