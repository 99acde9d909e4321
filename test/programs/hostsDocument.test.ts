/** What docs/hosts.md shows is what happens: its commands, as they stand and in their order, with a real sshd for each host. */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter } from "node:path";
import { expect, test } from "vitest";
import { findProgram } from "../../daemon/host/findProgram.ts";
import { AgentChannel } from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { cliSandbox, type Running } from "../support/daemon/cliSandbox.ts";
import { documentBlocks } from "../support/daemon/documentBlocks.ts";
import { sshHost } from "../support/daemon/sshHost.ts";

test("the page's hosts: added, used, an agent on one of them, one without tmuxwire, and one removed", async () => {
  await using build = await sshHost();
  await using gpu = await sshHost();
  await using nas = await sshHost({ hasTmuxwire: false });
  await using here = cliSandbox();
  await using agent = await AgentChannel.open(here.root);
  const claude = agent.executable("dialog", { busyMs: 300 });
  writeFileSync(gpu.sandbox.path("bin", "claude"), claude, { mode: 0o755 });
  // As if the user's own configuration knew them.
  const known = [build, gpu, nas].map(({ configFile }, at) =>
    readFileSync(configFile, "utf8").replace("Host build", `Host ${["build", "gpu", "nas"][at]}.example`),
  );
  writeFileSync(here.path("ssh_config"), known.join(""));
  const system = (await findProgram("ssh", here.env["PATH"] ?? "", "/")) ?? "ssh";
  const ssh = `#!/bin/sh\ncase $2 in none) exec '${system}' "$@";; esac\nexec '${system}' -F '${here.path("ssh_config")}' "$@"\n`;
  const tmuxwire = `#!/bin/sh\nexec '${process.execPath}' '${builtCli()}' "$@"\n`;
  const PATH = [here.binaries("bin", { ssh, tmuxwire }), here.env["PATH"]].join(delimiter);
  await here.serve([], { env: { PATH } });
  const blocks = documentBlocks("docs/hosts.md").filter(({ language }) => language === "sh");
  const start = (has: string): Running => {
    const at = blocks.findIndex(({ lines }) => lines.some((line) => line.includes(has)));
    const [block] = at < 0 ? [] : blocks.splice(at, 1);
    if (block === undefined) throw new Error(`docs/hosts.md no longer shows ${has}`);
    const env = { ...here.env, PATH };
    const stdio = ["ignore", "pipe", "pipe"] as const;
    return here.adopt(
      spawn("bash", ["-ec", block.lines.join("\n")], { env, cwd: here.path("home"), stdio: [...stdio] }),
    );
  };
  const run = async (has: string): Promise<string> => {
    const { code, stdout, stderr } = await start(has).finished;
    expect([has, code, stderr]).toEqual([has, 0, ""]);
    return stdout;
  };

  expect(await run("hosts add build")).toMatch(
    /build: connected, .*\ngpu: connected, .*\nbuild: connected, .*\ngpu: connected, /s,
  );
  const used = await run("tmuxwire new work");
  expect(used).toMatch(/^%\d+\n42\n/);
  expect(used).toMatch(/^main@gpu /m);
  const [, pane = ""] = /^(%\d+)/.exec(used) ?? [];
  const { sandbox } = build;
  const cwd = sandbox.tmux(sandbox.tmuxSocketPath, "display-message", "-p", "-t", pane, "#{pane_current_path}");
  expect(cwd.trim()).toBe(sandbox.path("home"));
  expect(await run("tmuxwire wait")).toContain("DONE");
  const following = start("tmuxwire follow");
  await eventually(async () => {
    sandbox.tmux(sandbox.tmuxSocketPath, "send-keys", "-t", pane, "echo $((6 * 111))", "Enter");
    return following.stdout().includes("666");
  }, 200);
  following.child.kill("SIGINT");
  await following.finished;

  const told = await run("tmuxwire start");
  expect(told).toMatch(/^tester@gpu\n/);
  expect(told).toMatch(/^tester@gpu .* main@gpu /m);
  expect(told).toContain(gpu.sandbox.path("home"));
  expect(agent.submits()).toEqual(["write a failing test for the empty cart", "now the full cart"]);
  expect(await run("--agentless")).toMatch(/^nas: connected, .*\n(?:.*\n)*%\d+\n42\n$/);
  expect(await run("hosts rm")).toBe("");
  expect(gpu.sandbox.tmux(gpu.sandbox.tmuxSocketPath, "list-sessions")).not.toBe("");
  expect(blocks).toEqual([]);
});
