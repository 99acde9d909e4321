/** The link to a host over ssh, with a real sshd, and the built program behind it. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../daemon/time/clock.ts";
import { HostLink, type HostLinkOptions, type HostLinkState } from "../../adapters/remote/hostLink.ts";
import { openSsh } from "../../adapters/remote/sshConnection.ts";
import { masterArguments } from "../../adapters/remote/sshArguments.ts";
import { unixFetch } from "../../adapters/serving/unixFetch.ts";
import { packageVersion } from "../../adapters/serving/version.ts";
import { eventually } from "../support/clock/eventually.ts";
import { builtCli, linkChild } from "../support/daemon/cliBuild.ts";
import { addToStartup, type SshHost, sshHost } from "../support/daemon/sshHost.ts";

interface Linked extends AsyncDisposable {
  readonly link: HostLink;
  readonly states: readonly HostLinkState[];
  readonly directory: string;
  until(kind: HostLinkState["kind"]): Promise<HostLinkState>;
}

function linked(host: SshHost, options: Partial<HostLinkOptions> = {}): Linked {
  const directory = host.sandbox.path("link");
  const states: HostLinkState[] = [];
  const link = new HostLink({
    name: "build",
    destination: "build",
    configFile: host.configFile,
    directory,
    loginPath: host.sandbox.path("login"),
    env: process.env,
    clock: systemClock,
    nowUnixMs: Date.now,
    open: openSsh,
    onError: (error) => {
      throw error;
    },
    ...options,
  });
  link.subscribe((state) => states.push(state));
  return {
    link,
    states,
    directory,
    until: async (kind) => {
      await eventually(() => link.state.kind === kind);
      return link.state;
    },
    [Symbol.asyncDispose]: () => link.close(),
  };
}

/** The processes whose command line names the link's directory: ssh, its guard, and what runs for a moment. */
const processesOf = (directory: string): readonly { readonly pid: number; readonly line: string }[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return line.includes(directory) ? [{ pid: Number(pid), line }] : [];
      } catch {
        return [];
      }
    });
const sshOf = (directory: string): readonly number[] =>
  processesOf(directory).flatMap(({ pid, line }) => (line.startsWith("ssh ") ? [pid] : []));

/** ssh has ended, and its files are gone. The guard is no child of ours, so its end is nothing that we are told. */
async function nothingLeft({ directory }: Linked): Promise<void> {
  expect([sshOf(directory), existsSync(directory)]).toEqual([[], false]);
  await eventually(() => processesOf(directory).length === 0);
}

const pathOf = async (link: HostLink): Promise<string> => (await link.connection()).socketPath;

async function servers(link: HostLink): Promise<readonly { readonly name: string; readonly socketPath: string }[]> {
  const { socketPath, host } = await link.connection();
  const response = await unixFetch(socketPath)("http://localhost/v1/servers", {
    headers: { authorization: `Bearer ${host.token}` },
  });
  return ((await response.json()) as { servers: { name: string; socketPath: string }[] }).servers;
}

test("connects through one process, starts the host's daemon when first needed, and leaves nothing", async () => {
  await using host = await sshHost();
  await using made = linked(host);
  const { link, directory, states } = made;
  expect([existsSync(directory), host.daemonPid()]).toEqual([false, undefined]);
  const paths = await Promise.all([pathOf(link), pathOf(link)]);
  expect(paths).toEqual([join(directory, "daemon.sock"), join(directory, "daemon.sock")]);
  expect(host.daemonPid()).toBeGreaterThan(0);
  expect((await servers(link)).map(({ name, socketPath }) => [name, socketPath])).toContainEqual([
    "main",
    host.sandbox.tmuxSocketPath,
  ]);
  expect(states.map(({ kind }) => kind)).toEqual(["connecting", "connected"]);
  expect(link.state.found).toEqual({
    version: packageVersion(),
    tmux: expect.stringMatching(/^tmux (next-)?3/) as string,
  });
  expect(await link.check()).toBeGreaterThan(0);
  expect([sshOf(directory).length, host.log().match(/Accepted publickey/g)?.length]).toEqual([1, 1]);
  // Nobody else may know the token.
  const shown = processesOf(directory).map(({ pid, line }) => line + readFileSync(`/proc/${pid}/environ`, "utf8"));
  expect(shown.filter((text) => text.includes(link.current?.host.token ?? "?"))).toEqual([]);
  await link.close();
  expect(link.state.kind).toBe("idle");
  await nothingLeft(made);
});

test("an ssh that is killed is replaced, and nobody connects into nothing meanwhile", async () => {
  await using host = await sshHost();
  await using made = linked(host);
  const { link, directory, states } = made;
  const path = await pathOf(link);
  await host.stop();
  const [pid = 0] = sshOf(directory);
  process.kill(pid, "SIGKILL");
  expect(await made.until("unreachable")).toMatchObject({ message: expect.stringContaining("was lost") as string });
  expect([existsSync(path), link.current]).toEqual([false, undefined]);
  await eventually(() => processesOf(directory).length === 0);
  await host.start();
  expect(await pathOf(link)).toBe(path);
  expect((await servers(link)).length).toBeGreaterThan(0);
  expect(states.filter(({ kind }) => kind === "connected").length).toBe(2);
});

test("a daemon of the host that ends is found by a check, and started again", async () => {
  await using host = await sshHost();
  await using made = linked(host);
  const { link } = made;
  await link.connection();
  const first = host.daemonPid() ?? 0;
  process.kill(first, "SIGTERM");
  await eventually(() => host.daemonPid() === undefined, 10);
  await expect(link.check()).rejects.toMatchObject({ code: "DAEMON_UNREACHABLE" });
  expect(await link.check()).toBeGreaterThan(0);
  expect([host.daemonPid() === first, host.daemonPid() === undefined]).toEqual([false, false]);
});

test("a daemon of the host that has another token than the one before is found by a check, and connected to anew", async () => {
  await using host = await sshHost();
  await using made = linked(host);
  const { link } = made;
  const { token } = (await link.connection()).host;
  process.kill(host.daemonPid() ?? 0, "SIGTERM");
  await eventually(() => host.daemonPid() === undefined, 10);
  rmSync(host.sandbox.tokenPath);
  await host.sandbox.serve();
  await expect(link.check()).rejects.toMatchObject({ code: "DAEMON_UNREACHABLE" });
  expect(await link.check()).toBeGreaterThan(0);
  expect((await link.connection()).host.token).not.toBe(token);
  expect((await servers(link)).length).toBeGreaterThan(0);
});

test("one session at a time is enough, and a start-up file may print what it likes", async () => {
  await using host = await sshHost({ sshd: ["MaxSessions 1"] });
  addToStartup(host, "echo 'Welcome to build'; echo tmuxwire-host is not it; printf 'no line end'; echo noise >&2\n");
  await using made = linked(host);
  await made.link.connection();
  const streams = await Promise.all(Array.from({ length: 4 }, () => servers(made.link)));
  expect(streams.every((list) => list.length > 0)).toBe(true);
});

test("what the user's configuration says of forwardings, commands and sharing is no obstacle", async () => {
  const taken = "LocalForward 127.0.0.1:1 127.0.0.1:1";
  const client = ["RemoteCommand top", "RequestTTY force", taken, "ControlMaster auto", "ControlPath /nowhere/ctl"];
  await using host = await sshHost({ client: [...client, "ControlPersist yes", "ForwardAgent yes"] });
  await using made = linked(host);
  expect((await servers(made.link)).length).toBeGreaterThan(0);
});

test("a path of tmuxwire on the host", async () => {
  await using host = await sshHost();
  const program = host.sandbox.path("it's tmuxwire");
  renameSync(host.sandbox.path("bin", "tmuxwire"), program);
  await using made = linked(host, { program });
  expect(await made.link.check()).toBeGreaterThan(0);
});

describe("what no retry mends is tried once, and again when somebody has done something about it", () => {
  /** Asks twice, and tells what came of it. */
  async function refused(made: Linked, host: SshHost): Promise<[kind: string, message: string, connections: number]> {
    const first: unknown = await made.link.connection().catch((error: unknown) => error);
    await expect(made.link.connection()).rejects.toBe(first);
    const { kind, message = "" } = made.link.state;
    await nothingLeft(made);
    expect(first).toMatchObject({ code: "DAEMON_UNREACHABLE", message, details: { host: "build", state: kind } });
    await host.stop();
    return [kind, message, host.log().match(/^Connection from|^Accepted|^Connection closed by a/gm)?.length ?? 0];
  }

  test("a key that the host does not take", async () => {
    await using host = await sshHost();
    const right = readFileSync(host.sandbox.path("userKey.pub"));
    writeFileSync(host.sandbox.path("userKey.pub"), "");
    await using made = linked(host);
    const [kind, message, connections] = await refused(made, host);
    expect([kind, connections]).toEqual(["auth_needed", 1]);
    expect(message).toMatch(/Permission denied \(publickey\).*ssh-add/);
    writeFileSync(host.sandbox.path("userKey.pub"), right);
    await host.start();
    made.link.retry();
    expect(await made.link.check()).toBeGreaterThan(0);
  });

  test("a host key that nobody has accepted", async () => {
    await using host = await sshHost();
    rmSync(host.sandbox.path("known_hosts"));
    await using made = linked(host);
    const [kind, message] = await refused(made, host);
    expect([kind, message]).toEqual([
      "host_key_new",
      "ssh does not know the host key of build: run `ssh build` once, and accept the key if it is right",
    ]);
    expect(existsSync(host.sandbox.path("known_hosts"))).toBe(false);
  });

  test("a host key that has changed", async () => {
    await using host = await sshHost();
    await host.stop();
    host.changeKey();
    await host.start();
    await using made = linked(host);
    expect((await refused(made, host)).slice(0, 2)).toEqual([
      "host_key_changed",
      expect.stringContaining("`ssh-keygen -R`"),
    ]);
  });

  test("no tmuxwire on the host", async () => {
    await using host = await sshHost({ hasTmuxwire: false });
    await using made = linked(host);
    const [kind, message, connections] = await refused(made, host);
    expect([kind, connections]).toEqual(["no_tmuxwire", 1]);
    expect(message).toMatch(/tmuxwire.*not found.*`ssh build npm install -g tmuxwire`.*--program/);
  });

  test("no tmux on the host", async () => {
    await using host = await sshHost({ hasTmux: false });
    await using made = linked(host);
    expect((await refused(made, host)).slice(0, 2)).toEqual(["no_tmux", expect.stringContaining("install tmux 3.2")]);
    expect(host.daemonPid()).toBeUndefined();
  });

  test("an older tmuxwire on the host, and a newer one", async () => {
    await using host = await sshHost();
    for (const script of [
      `exec '${process.execPath}' '${builtCli()}' no-such-command`,
      `echo 'tmuxwire-host: {"protocol":2}'`,
    ]) {
      writeFileSync(host.sandbox.path("bin", "tmuxwire"), `#!/bin/sh\n${script}\n`);
      await using made = linked(host);
      expect((await refused(made, host)).slice(0, 2)).toEqual(["version", expect.stringContaining("the same one")]);
      await host.start();
    }
  });

  test("a host that forwards no sockets, and one that runs no command", async () => {
    for (const [line, word] of [
      ["AllowStreamLocalForwarding no", "AllowStreamLocalForwarding"],
      ["MaxSessions 0", "MaxSessions"],
    ] as const) {
      await using host = await sshHost({ sshd: [line] });
      await using made = linked(host);
      expect((await refused(made, host)).slice(0, 2)).toEqual(["refused", expect.stringContaining(word)]);
    }
  });
});

test("a port where nobody listens is tried again", async () => {
  await using host = await sshHost();
  await host.stop();
  await using made = linked(host);
  await expect(made.link.connection()).rejects.toMatchObject({ details: { state: "unreachable" } });
  expect(made.link.state.message).toMatch(/^cannot connect to build \(.*Connection refused\)/);
  await host.start();
  await made.until("connected");
});

test("a process that was left by a killed daemon is ended by the next one", async () => {
  await using host = await sshHost();
  await using made = linked(host);
  mkdirSync(made.directory, { mode: 0o700 });
  const args = masterArguments({ destination: "build", configFile: host.configFile }, join(made.directory, "ctl"));
  const left = host.sandbox.adopt(spawn("ssh", args));
  await left.line(/connected/);
  expect(await made.link.check()).toBeGreaterThan(0);
  await left.finished;
  expect(sshOf(made.directory).length).toBe(1);
});

test("ssh ends with the process that started it, however that ends", async () => {
  await using host = await sshHost();
  const directory = host.sandbox.path("link");
  const child = host.sandbox.adopt(spawn(process.execPath, [linkChild(), host.configFile, directory]));
  await child.line(/connected/);
  expect(sshOf(directory).length).toBe(1);
  child.child.kill("SIGKILL");
  await eventually(() => processesOf(directory).length === 0);
});

test("closing ends an attempt that is under way", async () => {
  await using host = await sshHost();
  addToStartup(host, "read -r _; exit\n");
  await using made = linked(host);
  const closed = host.logged(/Accepted publickey/).then(() => made.link.close());
  await expect(made.link.connection()).rejects.toThrow("the link to build is closed");
  await closed;
  await nothingLeft(made);
});
