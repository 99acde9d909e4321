/** Servers of a machine that has tmux and no tmuxwire, through the command line, behind a real sshd. */
import { spawnSync } from "node:child_process";
import { setMaxListeners } from "node:events";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { unixFetch } from "../../adapters/serving/unixFetch.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox, type CliSandbox } from "../support/daemon/cliSandbox.ts";
import { hostCampaign } from "../support/daemon/hostCampaign.ts";
import { randomFrom } from "../support/daemon/nativeScreens.ts";
import { addToStartup, type SshHost, sshHost } from "../support/daemon/sshHost.ts";
import { run } from "../support/daemon/sandboxDaemon.ts";

interface BareHost extends AsyncDisposable {
  readonly host: SshHost;
  readonly here: CliSandbox;
  /** tmux on the host, as its user types it. */
  readonly tmux: (...args: readonly string[]) => string;
  add(): Promise<string>;
}

const clientOf = (here: CliSandbox) =>
  createClient({
    url: "http://localhost",
    token: readFileSync(here.tokenPath, "utf8").trim(),
    fetch: unixFetch(here.socketPath),
  });

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
  const result = await hostCampaign({ cuts: 6, maxMs: 1_000, random: randomFrom(7), agentless: true });
  expect(Math.min(result.bytes, result.typed)).toBeGreaterThan(0);
});

test("start-up files of the host may print what they like", async () => {
  await using at = await bareHost();
  addToStartup(
    at.host,
    "echo 'Welcome to build'; echo it is no tmuxwire-session; printf 'no line end'; echo noise >&2\n",
  );
  at.tmux("new-session", "-d", "-s", "mine", "sh");
  await at.add();
  expect(await run(at.here, "run", "mine", "echo $((6 * 7))", "--server", "default@build")).toBe("42\n");
});

test("sessions of ssh are counted: further connections before sshd refuses one, or once it has", async () => {
  for (const sshd of [[], ["MaxSessions 2"]]) {
    // oxlint-disable-next-line no-await-in-loop -- one sshd at a time
    await using at = await bareHost({ sshd });
    const { here, tmux, host } = at;
    const names = Array.from({ length: 12 }, (_, number) => `s${number}`);
    for (const name of names) tmux("new-session", "-d", "-s", name, "sh");
    await at.add();
    const client = clientOf(here).server("default@build");
    const ended = new AbortController();
    setMaxListeners(names.length, ended.signal);
    const seen = new Set<string>();
    const following = names.map(async (name) => {
      for await (const event of client.pane(name).follow({ signal: ended.signal }))
        if (event.kind === "output" && Buffer.from(event.bytes).toString().includes("<42>")) seen.add(name);
    });
    await eventually(async () => {
      for (const name of names) if (!seen.has(name)) await client.pane(name).type('echo "<$((6*7))>"', { enter: true });
      return seen.size === names.length;
    }, 60);
    const logins = host.log().match(/Accepted publickey/g) ?? [];
    expect(logins.length).toBeGreaterThan(1);
    expect(logins.length).toBeLessThanOrEqual(sshd.length === 0 ? 3 : 8);
    ended.abort();
    await Promise.allSettled(following);
  }
});

describe("what keeps a host from being used is one state, with what to do", () => {
  const added = async ({ host, here }: BareHost, ...options: readonly string[]): Promise<string> => {
    const add = ["hosts", "add", "build", "build", "--ssh-config", host.configFile, "--agentless", ...options];
    const { code, stdout, stderr } = await here.run(add);
    expect([code, stderr]).toEqual([69, ""]);
    expect((await here.run(["ls", "--server", "default@build"])).code).toBe(69);
    return stdout;
  };

  test("sshd takes one session at a time, or none", async () => {
    for (const [line, words] of [
      ["MaxSessions 1", "build lets ssh run only one command at a time: set MaxSessions to 2 or more"],
      ["MaxSessions 0", "build lets ssh run no command: set MaxSessions to 1 or more"],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one sshd at a time
      await using at = await bareHost({ sshd: [line] });
      // oxlint-disable-next-line no-await-in-loop
      expect(await added(at)).toMatch(new RegExp(`^build: refused, since \\S+, ${words}`));
    }
  });

  test("no tmux, and one that is too old", async () => {
    await using at = await bareHost();
    const { host } = at;
    host.sandbox.binaries("old", { tmux: "#!/bin/sh\necho tmux 2.9a\n" });
    for (const [program, words] of [
      ["/nowhere/tmux", /^build: no_tmux, since \S+, build has no tmux on the PATH/],
      [
        host.sandbox.path("old", "tmux"),
        /^build: no_tmux, since \S+, build has no tmux that can be used \(tmux 2\.9a\): install tmux 3\.2/,
      ],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- the same name again
      expect(await added(at, "--program", program)).toMatch(words);
      // oxlint-disable-next-line no-await-in-loop
      await run(at.here, "hosts", "rm", "build");
    }
  });
});

test("a server that starts later is found, and one that ends is told", async () => {
  await using at = await bareHost();
  const { here, tmux } = at;
  await at.add();
  const none = await here.run(["new", "work", "--server", "default@build"]);
  expect([none.code, none.stderr]).toEqual([69, expect.stringMatching(/no tmux server runs/)]);
  tmux("new-session", "-d", "-s", "late", "sh");
  await eventually(async () => (await here.run(["ls", "--server", "default@build"])).stdout.includes("late"), 20);
  tmux("kill-server");
  await eventually(async () => (await here.run(["new", "work", "--server", "default@build"])).code === 69, 20);
});

test("a directory of sockets that others may use is refused, as tmux itself refuses it", async () => {
  await using at = await bareHost();
  const { here, tmux, host } = at;
  tmux("new-session", "-d", "-s", "mine", "sh");
  const directory = host.sandbox.path("tmp", `tmux-${process.getuid?.()}`);
  chmodSync(directory, 0o777);
  await at.add();
  for (const server of ["default@build", "main@build"]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const refused = await here.run(["new", "work", "--server", server]);
    expect([server, refused.code]).not.toEqual([server, 0]);
  }
  chmodSync(directory, 0o700);
  expect(tmux("list-sessions", "-F", "#{session_name}")).toBe("mine\n");
});

test("what cannot be seen is not risked: prompts need the name of the program, and no agent is started", async () => {
  await using at = await bareHost();
  const { here, tmux } = at;
  tmux("new-session", "-d", "-s", "mine", "cat");
  await at.add();
  const submitted = await here.run(["submit", "mine", "ls", "--server", "default@build", "--timeout", "2"]);
  expect([submitted.code, submitted.stdout, submitted.stderr]).toEqual([
    10,
    "",
    expect.stringContaining("which program reads from the pane cannot be known at once here"),
  ]);
  expect(tmux("capture-pane", "-p", "-t", "mine").trim()).toBe("");
  const started = await here.run(["start", "claude", "hello", "--server", "default@build"]);
  expect([started.code, started.stderr]).toEqual([2, expect.stringContaining("no agent is started there")]);
  expect(tmux("list-sessions", "-F", "#{session_name}")).toBe("mine\n");
  expect((await here.run(["doctor"])).stdout).toMatch(/host build.*connected, without tmuxwire, tmux /);
});
