/** `tmuxwire attach` in a real terminal: one that another tmux draws. */
import { expect, test } from "vitest";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { addToStartup, sshHost } from "../support/daemon/sshHost.ts";
import { run } from "../support/daemon/sandboxDaemon.ts";

const POLL = { timeout: 30_000, interval: 20 };

test("a terminal shows the pane that was named; inside the same tmux its own client goes there", async () => {
  await using sandbox = cliSandbox();
  await sandbox.serve();
  const own = (...args: string[]): string => sandbox.tmux(sandbox.tmuxSocketPath, ...args);
  const ok = async (...args: string[]): Promise<string> => (await run(sandbox, ...args)).trim();
  const first = await ok("new", "one", "--", "cat");
  const second = await ok("split", first, "--", "cat");
  await ok("select-pane", first);

  const terminal = sandbox.path("terminal.sock");
  const outside = (...args: string[]): string => sandbox.tmux(terminal, ...args);
  // As somebody's shell would have it.
  const { TERM: _dumb, ...env } = sandbox.env;
  const variables = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  const attach = (to: string): string =>
    `env ${variables.join(" ")} '${process.execPath}' '${builtCli()}' attach ${to}`;
  outside("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", `${attach(second)}; echo "left $?"; cat`);
  const clients = (): string =>
    own("list-clients", "-F", "#{client_control_mode} #{session_name} #{pane_id}")
      .split("\n")
      .filter((line) => line.startsWith("0 "))
      .join();
  await expect.poll(clients, POLL).toBe(`0 one ${second}`);

  // What is typed there arrives here.
  outside("send-keys", "hello", "Enter");
  expect(await ok("wait", second, "--from", "tail:5", "--text", "hello")).toContain("hello");

  // From a pane of the same server, whoever looks at it goes there.
  const third = await ok("new", "three", "--", "cat");
  const name = own("list-clients", "-F", "#{client_control_mode} #{client_name}")
    .split("\n")
    .find((line) => line.startsWith("0 "));
  own("switch-client", "-c", name?.slice(2) ?? "", "-t", "three");
  await expect.poll(clients, POLL).toBe(`0 three ${third}`);
  own("respawn-window", "-k", "-t", "three", `${attach(first)}; cat`);
  await expect.poll(clients, POLL).toBe(`0 one ${first}`);

  outside("send-keys", "C-b", "d");
  await expect.poll(() => outside("capture-pane", "-p"), POLL).toMatch(/left 0/);
  sandbox.tmux(terminal, "kill-server");
});

test("the session of a host is shown over ssh, with the same options", async () => {
  await using host = await sshHost();
  // Its environment says the terminal is dumb, whatever ssh says.
  addToStartup(host, "export TERM=screen\n");
  await using here = cliSandbox();
  await here.serve();
  for (const args of [
    ["hosts", "add", "build", "build", "--ssh-config", host.configFile],
    ["new", "it's", "--server", "main@build", "--", "cat"],
  ]) {
    await run(here, ...args);
  }
  const there = (...args: string[]): string => host.sandbox.tmux(host.sandbox.tmuxSocketPath, ...args);
  const terminal = here.path("terminal.sock");
  const outside = (...args: string[]): string => here.tmux(terminal, ...args);
  const { TERM: _dumb, ...env } = here.env;
  const variables = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  const attach = (options: string): string =>
    `env ${variables.join(" ")} '${process.execPath}' '${builtCli()}' attach "it's" --server main@build ${options}`;
  const clients = (): string =>
    there("list-clients", "-F", "#{client_control_mode} #{session_name} #{client_readonly} #{client_width}")
      .split("\n")
      .filter((line) => line.startsWith("0 "))
      .join();
  outside("-f", "/dev/null", "new-session", "-d", "-x", "91", "-y", "30", `${attach("")}; echo "left $?"; cat`);
  await expect.poll(clients, POLL).toBe("0 it's 0 91");
  outside("send-keys", "hello", "Enter");
  await expect.poll(() => there("capture-pane", "-p", "-t", "it's"), POLL).toMatch(/hello\nhello/);
  outside("new-window", `${attach("--read-only --detach-others")}; cat`);
  await expect.poll(clients, POLL).toBe("0 it's 1 91");
  await expect.poll(() => outside("capture-pane", "-p", "-t", ":0"), POLL).toMatch(/left 0/);
  outside("kill-server");
});
