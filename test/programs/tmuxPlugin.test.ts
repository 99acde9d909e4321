/** docs/packaging/tmux in a user's tmux: agents in the status line of a real terminal, and the key that goes to the one that asks. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { AgentChannel } from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { behind, cliSandbox } from "../support/daemon/cliSandbox.ts";

const PLUGIN = fileURLToPath(new URL("../../docs/packaging/tmux/tmuxwire.tmux", import.meta.url));

test("the status line says who asks as soon as somebody does, and prefix A goes there", async () => {
  await using sandbox = cliSandbox();
  await using channel = await AgentChannel.open(sandbox.root);
  const claude = channel.executable("dialog", { busyMs: 0 });
  const tmuxwire = `#!/bin/sh\nexec '${process.execPath}' '${builtCli()}' "$@"\n`;
  const bin = sandbox.binaries("bin", { claude, tmuxwire });
  await sandbox.serve();

  // Their own tmux, as `tmux` without a socket starts it, configured as the plugin's README says.
  const conf = sandbox.path("tmux.conf");
  writeFileSync(
    conf,
    `set -g status-right-length 100\nset -g status-right 'look: #{tmuxwire_agents}.'\nset -g detach-on-destroy off\nrun-shell '${PLUGIN}'\n`,
  );
  const env = { ...sandbox.env, PATH: behind(bin), TERM: "xterm-256color" };
  const theirs = (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync("tmux", ["-u", ...args], { encoding: "utf8", env });
    if (status !== 0) throw new Error(stderr);
    return stdout.trim();
  };
  theirs("-f", conf, "new-session", "-d", "-s", "desk", "-x", "100", "-y", "20", "cat");
  const socketPath = theirs("display-message", "-p", "#{socket_path}");
  const terminal = sandbox.path("terminal-tmux.sock");
  try {
    const outside = (...args: string[]): string => sandbox.tmux(terminal, ...args);
    outside(
      "-f",
      "/dev/null",
      "new-session",
      "-d",
      "-x",
      "100",
      "-y",
      "21",
      `TERM=xterm-256color tmux -S '${socketPath}' attach; cat`,
    );
    outside("set-option", "-g", "status", "off");
    const statusLine = (): string => /look: (.*)\./.exec(outside("capture-pane", "-p"))?.[1] ?? "not there";
    // The daemon's own client controls.
    const shown = (): string | undefined =>
      theirs("list-clients", "-F", "#{client_control_mode} #{session_name}")
        .split("\n")
        .find((line) => line.startsWith("0 "))
        ?.slice(2);
    await eventually(() => statusLine() === "");
    theirs("new-session", "-d", "-s", "agent", "-x", "100", "-y", "20", join(bin, "claude"));
    await channel.next("ready");
    await eventually(() => statusLine() === "1 ready");

    // Nobody asks: the key says so, and nothing moves.
    outside("send-keys", "C-b", "A");
    await eventually(() => outside("capture-pane", "-p").includes("no agent asks here"));
    expect(shown()).toBe("desk");

    await channel.tell("ask");
    await eventually(() => statusLine() === "1 asking: claude");
    outside("send-keys", "C-b", "A");
    await eventually(() => shown() === "agent");
    await channel.tell("idle");
    await eventually(() => statusLine() === "1 ready");
    await channel.tell("exit");
    await eventually(() => statusLine() === "");
  } finally {
    spawnSync("tmux", ["-S", socketPath, "kill-server"]);
  }
});
