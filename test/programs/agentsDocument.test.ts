/** What docs/agents.md shows is what happens: its commands, as they stand and in their order, with stand-ins for the agents. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { AGENT_DIRECTORY, AgentChannel } from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { cliSandbox, type Running } from "../support/daemon/cliSandbox.ts";
import { documentBlocks } from "../support/daemon/documentBlocks.ts";

test("the page's two agents: started, listed, one waits for the other, told more, ended, and their work looked at", async () => {
  await using sandbox = cliSandbox();
  await using tester = await AgentChannel.open(sandbox.root);
  await using fixer = await AgentChannel.open(sandbox.root);
  const words = (channel: AgentChannel): string => JSON.stringify(channel.argv("dialog", { busyMs: 300 }).slice(2));
  const claude = `#!${process.execPath}
process.argv.push(...(process.cwd().endsWith("tester") ? ${words(tester)} : ${words(fixer)}));
void import(${JSON.stringify(join(AGENT_DIRECTORY, "dialog.mjs"))});
`;
  const tmuxwire = `#!/bin/sh\nexec '${process.execPath}' '${builtCli()}' "$@"\n`;
  const PATH = [sandbox.binaries("bin", { claude, tmuxwire }), sandbox.env["PATH"]].join(delimiter);
  const shop = sandbox.path("home", "shop");
  mkdirSync(shop);
  writeFileSync(join(shop, "cart.txt"), "empty\n");
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
      cwd: shop,
      encoding: "utf8",
    });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "begin");
  await sandbox.serve([], { env: { PATH } });
  const blocks = documentBlocks("docs/agents.md").filter(({ language }) => language === "sh");
  const run = (has: string): Running["finished"] => {
    const block = blocks.find(({ lines }) => lines.some((line) => line.includes(has)));
    if (block === undefined) throw new Error(`docs/agents.md no longer shows ${has}`);
    const script = block.lines.join("\n");
    return sandbox.adopt(
      spawn("bash", ["-c", script], { env: { ...sandbox.env, PATH }, cwd: shop, stdio: ["ignore", "pipe", "pipe"] }),
    ).finished;
  };
  const begun = await run("tmuxwire start");
  expect([begun.code, begun.stdout]).toEqual([0, "tester\nfixer\n"]);
  expect(tester.submits()).toEqual(["write a failing test for the empty cart, commit it"]);
  const listed = await run("tmuxwire agents");
  expect(listed.code).toBe(0);
  expect(listed.stdout).toMatch(/tester .*agent\/tester/);
  expect(listed.stdout).toContain("fixer");
  const waited = await run("agent-wait tester");
  expect([waited.code, waited.stderr]).toEqual([0, ""]);
  expect(fixer.submits()).toEqual([expect.stringMatching(/^merge the branch agent\/tester/)]);
  const told = await run("tmuxwire messages");
  expect(told.code).toBe(0);
  expect(told.stdout).toMatch(/now the full cart/);
  await eventually(() => tester.submits()[1] === "now the full cart");
  const timeline = await run("tmuxwire timeline");
  expect([timeline.code, timeline.stderr]).toEqual([0, ""]);
  expect(timeline.stdout).toMatch(/tester {2}prompt by message \(taken\)\n {4}now the full cart/);
  expect(timeline.stdout).toMatch(/tester {2}prompt by api \(taken\)\n {4}write a failing test for the empty cart/);
  const worktrees = await run("tmuxwire worktrees");
  expect(worktrees.code).toBe(0);
  expect(worktrees.stdout).toContain("agent/tester");
  await run("agent-wait tester");
  const removed = await run("remove-worktree");
  expect([removed.code, removed.stderr]).toEqual([0, ""]);
  expect(git("worktree", "list")).not.toContain("agent-tester");
  const plan = await run("tmuxwire resume --all");
  expect(plan.code).toBe(0);
});
