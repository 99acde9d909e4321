/** Servers of a machine that has tmux and no tmuxwire, through the command line, behind a real sshd. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
import { expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox, type CliSandbox } from "../support/daemon/cliSandbox.ts";
import { hostCampaign } from "../support/daemon/hostCampaign.ts";
import { randomFrom } from "../support/daemon/nativeScreens.ts";
import { type SshHost, sshHost } from "../support/daemon/sshHost.ts";

/** @throws if it fails */
async function run(sandbox: CliSandbox, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await sandbox.run(args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

interface BareHost extends AsyncDisposable {
  readonly host: SshHost;
  readonly here: CliSandbox;
  /** tmux on the host, as its user types it. */
  tmux(...args: readonly string[]): string;
  add(): Promise<string>;
}

/** A host that has tmux alone, and a daemon here. */
async function bareHost(...options: Parameters<typeof sshHost>): Promise<BareHost> {
  const host = await sshHost({ hasTmuxwire: false, ...options[0] });
  const here = cliSandbox();
  await here.serve();
  const sockets = host.sandbox.path("tmp");
  mkdirSync(sockets, { recursive: true });
  const tmux = (...args: readonly string[]): string => {
    const { PATH = "" } = host.sandbox.env;
    const { stdout, stderr, status } = spawnSync("tmux", args, {
      env: { PATH, TMUX_TMPDIR: sockets, HOME: host.sandbox.path("home"), TERM: "dumb" },
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, ""]);
    return stdout;
  };
  return {
    host,
    here,
    tmux,
    add: () => run(here, "hosts", "add", "build", "build", "--ssh-config", host.configFile, "--agentless"),
    [Symbol.asyncDispose]: async () => {
      await here[Symbol.asyncDispose]();
      tmux("start-server", ";", "kill-server");
      await host[Symbol.asyncDispose]();
    },
  };
}

test("a host without tmuxwire is added, used like this machine, and removed; what runs there goes on", async () => {
  await using at = await bareHost();
  const { here, tmux } = at;
  tmux("new-session", "-d", "-s", "mine", "sh");
  expect(await at.add()).toMatch(/^build: connected, \d+ ms, tmux \S+, [01] servers?\n$/);
  expect(await run(here, "ls", "--server", "default@build")).toContain("mine");
  await run(here, "new", "work", "--server", "default@build", "--", "sh");
  expect(await run(here, "run", "work", "echo $((6 * 7))", "--server", "default@build")).toBe("42\n");
  expect(await run(here, "run", "mine", "echo $((6 * 8))", "--server", "default@build")).toBe("48\n");
  const waited = ["wait", "work", "--send", "echo DO''NE", "--enter", "--text", "DONE", "--server", "default@build"];
  expect(await run(here, ...waited)).toContain("DONE");
  const servers = await run(here, "servers");
  expect(servers.split("\n").map((line) => line.split(/ +/)[0])).toEqual(["SERVER", "main", "default@build", ""]);
  expect(await run(here, "hosts", "rm", "build")).toBe("");
  await eventually(() => tmux("list-clients", "-F", "#{client_name}") === "");
  expect(tmux("list-sessions", "-F", "#{session_name}").split("\n")).toEqual(["mine", "work", ""]);
  const refused = await here.run(["ls", "--server", "default@build"]);
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('there is no host "build"')]);
});

test("a server of our own on such a host gets nothing of the login's environment, and is found again", async () => {
  await using at = await bareHost();
  const { here, tmux } = at;
  await at.add();
  await run(here, "new", "work", "--server", "main@build", "--", "sh");
  const asked = 'echo $((6 * 7)) "[$SSH_CONNECTION$SSH_TTY]"';
  expect(await run(here, "run", "work", asked, "--server", "main@build")).toBe("42 []\n");
  await run(here, "hosts", "rm", "build");
  expect(tmux("-L", "tmuxwire", "list-sessions", "-F", "#{session_name}")).toBe("work\n");
  expect(await at.add()).toMatch(/ servers?\n$/);
  expect(await run(here, "sessions", "--server", "main@build")).toContain("work");
  tmux("-L", "tmuxwire", "kill-server");
});

test("whatever is cut, nothing comes twice, nothing is typed twice, and each hole is declared", async () => {
  const result = await hostCampaign({
    cuts: 6,
    maxMs: 1_000,
    random: randomFrom(7),
    agentless: true,
    onCut: (cut) => require("fs").appendFileSync("/tmp/cuts.txt", cut + "\n"),
  });
  expect(Math.min(result.bytes, result.typed)).toBeGreaterThan(0);
});
