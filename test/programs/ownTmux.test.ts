/** Somebody's own tmux, which nobody has configured: from outside, and from inside one of its panes. */
import { mkdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";

test("is the server `default`, and where a command is that runs inside it", async () => {
  await using sandbox = cliSandbox();
  const directory = sandbox.path(`tmux-${process.getuid?.()}`);
  const socket = `${directory}/default`;
  const env = { TMUX_TMPDIR: sandbox.root };
  const daemon = await sandbox.serve([], { env });
  const [, url = ""] = await daemon.line(/listening on (http:\S+)/);
  const cli = (...args: string[]) => sandbox.run(args, { env });

  const none = await cli("ls", "--server", "default");
  expect([none.code, none.stderr]).toEqual([3, expect.stringMatching(/no tmux server runs at .*\/default; start one/)]);
  mkdirSync(directory, { mode: 0o700 });
  sandbox.tmux(socket, "-f", "/dev/null", "new-session", "-d", "-s", "mine", "-x", "100", "-y", "30", "sh");
  expect((await cli("ls", "--server", "default")).stdout).toMatch(/^mine \$0\n/);
  expect((await sandbox.run(["ls"], { env: { ...env, TMUXWIRE_SERVER: "default" } })).stdout).toMatch(/^mine \$0\n/);

  // Inside: the server, and the pane, need not be said.
  const variables = Object.entries({ ...sandbox.env, ...env }).map(([name, value]) => `${name}='${value}'`);
  const inside = `env ${variables.join(" ")} '${process.execPath}' '${builtCli()}'`;
  const out = sandbox.path("inside.txt");
  const commands = ["show", "ls", "sessions"].map((command) => `${inside} ${command}`).join("; ");
  sandbox.tmux(socket, "new-window", "-d", "-t", "mine:7", `{ ${commands}; } > '${out}' 2>&1; tmux wait-for -S done`);
  sandbox.tmux(socket, "wait-for", "done");
  const said = readFileSync(out, "utf8");
  expect(said).toMatch(/^pane: +%1\nwindow: +@1\nsessions: +mine\n/);
  expect(said).toMatch(/^mine \$0\n {2}0: /m);
  expect(said).toMatch(/^SESSION +ID/m);

  // Nobody has configured it: that it ends is no fault of the daemon's.
  sandbox.tmux(socket, "kill-server");
  const health = await fetch(`${url}/readyz`);
  expect([health.status, await health.json()]).toEqual([200, { ok: true, servers: { main: "ready" } }]);
});
