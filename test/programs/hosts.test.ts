/** Servers of another machine through the command line, behind a real sshd: as those of this one. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { createClient } from "../../adapters/client/client.ts";
import { unixFetch } from "../../adapters/serving/unixFetch.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox, type CliSandbox, type Finished } from "../support/daemon/cliSandbox.ts";
import { hostCampaign } from "../support/daemon/hostCampaign.ts";
import { randomFrom } from "../support/daemon/nativeScreens.ts";
import { sshHost } from "../support/daemon/sshHost.ts";
import { run } from "../support/daemon/sandboxDaemon.ts";

/** A person runs it in the terminal `terminal`. */
async function login(here: CliSandbox): Promise<void> {
  const words = Object.entries(here.env).map(([name, value]) => `${name}=${value}`);
  await run(here, "new", "terminal", "--", "env", ...words, process.execPath, builtCli(), "hosts", "login", "build");
}

/** The connection of a login outlives the daemon; it ends with the host, and nothing of ssh is left. */
async function loggedOut(here: CliSandbox): Promise<void> {
  await run(here, "hosts", "rm", "build");
  await eventually(() => !existsSync(`${here.socketPath}.logins/build`));
  const isOurs = (line: string): boolean => line.startsWith("ssh") && line.includes(here.root);
  await eventually(() => !readdirSync("/proc").some((pid) => isOurs(commandLine(pid))));
}

// A second factor goes through PAM, which reads its rules from one place, and sshd has a user's processes only as root.
const mayMount = process.getuid?.() === 0 && spawnSync("unshare", ["--mount", "true"]).status === 0;
if (!mayMount) process.stderr.write("hosts.test.ts: two skipped, mounts behind sshd need root (unshare --mount)\n");

const hostsFolder = (sandbox: CliSandbox): string => `${sandbox.socketPath}.hosts`;

test("a host is added, used like this machine, and removed; what runs there goes on", async () => {
  await using host = await sshHost();
  await using here = cliSandbox();
  await here.serve();
  const added = await run(here, "hosts", "add", "build", "build", "--ssh-config", host.configFile);
  expect(added).toMatch(/^build: connected, \d+ ms, tmux \S+, 1 server, 0 agents\n$/);
  const { sandbox } = host;
  const sessionsThere = (): string => sandbox.tmux(sandbox.tmuxSocketPath, "list-sessions", "-F", "#{session_name}");
  await run(here, "new", "work", "--server", "main@build", "--", "sh");
  expect(await run(here, "run", "work", "echo $((6 * 7))", "--server", "main@build")).toBe("42\n");
  expect(await run(here, "ls", "--server", "main@build")).toContain("work");
  expect(await run(here, "sessions")).not.toContain("work");
  const servers = await run(here, "servers");
  expect(servers.split("\n").map((line) => line.split(/ +/)[0])).toEqual(["SERVER", "main", "main@build", ""]);
  expect(sessionsThere()).toContain("work\n");
  // The daemon's successor knows it, too.
  const hosts = JSON.parse(readFileSync(here.path("state/tmuxwire/hosts.json"), "utf8")) as object;
  expect(hosts).toMatchObject({ version: 1, hosts: [{ name: "build", destination: "build" }] });

  expect(await run(here, "hosts", "rm", "build")).toBe("");
  const refused = await here.run(["ls", "--server", "main@build"]);
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('there is no host "build"')]);
  expect(existsSync(`${hostsFolder(here)}/build`)).toBe(false);
  expect(sessionsThere()).toContain("work\n");
});

test("what is wrong with a host is said with what to do, and mended by the next look at it", async () => {
  await using host = await sshHost();
  const key = host.sandbox.path("userKey.pub");
  renameSync(key, `${key}.away`);
  await using here = cliSandbox();
  await here.serve();
  const add = await here.run(["hosts", "add", "build", "build", "--ssh-config", host.configFile]);
  expect([add.code, add.stderr]).toEqual([69, ""]);
  expect(add.stdout).toMatch(/^build: auth_needed, since \S+, /);
  const used: Finished = await here.run(["ls", "--server", "main@build"]);
  expect([used.code, used.stderr]).toEqual([69, expect.stringMatching(/^tmuxwire: .*build/)]);
  // The other server is none the worse, and a list says what it lacks.
  expect((await here.run(["ls"])).code).toBe(0);
  const servers = await here.run(["servers"]);
  expect([servers.code, servers.stdout]).toEqual([0, expect.stringMatching(/^SERVER.*\nmain .*\n$/)]);
  expect(servers.stderr).toContain("without what is on build, which did not respond");
  const doctor = await here.run(["doctor"]);
  expect(doctor.stdout).toMatch(/host build.*auth_needed since .*\n.*log in once with `tmuxwire hosts login build`/);
  expect(await run(here, "hosts")).toMatch(/^build: auth_needed, since /);
  const tries = host.log().match(/Connection closed by authenticating user/g);
  expect(tries).toHaveLength(1);
  renameSync(`${key}.away`, key);
  expect(await run(here, "hosts", "show", "build")).toMatch(/^build: connected, /);
  expect((await here.run(["doctor"])).stdout).toMatch(/host build.*connected, tmuxwire \S+, tmux /);
});

test("a new daemon connects to the hosts of the one before", async () => {
  await using host = await sshHost();
  await using here = cliSandbox();
  const first = await here.serve();
  await run(here, "hosts", "add", "build", "build", "--ssh-config", host.configFile);
  await run(here, "new", "kept", "--server", "main@build");
  first.child.kill("SIGKILL");
  await first.finished;
  await here.serve();
  await eventually(async () => (await run(here, "hosts")).startsWith("build: connected"));
  expect(await run(here, "sessions", "--server", "main@build")).toContain("kept");
});

test("whatever is cut, nothing comes twice, nothing is typed twice, and each hole is declared", async () => {
  const result = await hostCampaign({ cuts: 6, maxMs: 1_000, random: randomFrom(11) });
  expect(Math.min(result.bytes, result.typed)).toBeGreaterThan(0);
});

test("a person logs in once, in a terminal; the connection is used until the host is removed", async () => {
  await using host = await sshHost();
  await using here = cliSandbox();
  execFileSync("ssh-keygen", ["-q", "-p", "-P", "", "-N", "open sesame", "-f", host.sandbox.path("userKey")]);
  await here.serve();
  const added = await here.run(["hosts", "add", "build", "build", "--ssh-config", host.configFile]);
  expect([added.code, added.stdout]).toEqual([
    69,
    expect.stringMatching(/^build: auth_needed, .*tmuxwire hosts login build/),
  ]);
  await login(here);
  await run(here, "wait", "terminal", "--text", "Enter passphrase", "--from", "tail:50");
  await run(here, "send", "terminal", "open sesame", "--enter");
  await eventually(async () => (await run(here, "hosts")).startsWith("build: connected, "), 50);
  expect(await run(here, "sessions", "--server", "main@build")).toContain("SESSION");
  await loggedOut(here);
});

test("a login that lasts is used by the next one: no second connection is left beside it", async () => {
  await using host = await sshHost({ hasTmuxwire: false });
  await using here = cliSandbox();
  await here.serve();
  const added = await here.run(["hosts", "add", "build", "build", "--ssh-config", host.configFile]);
  expect(added.stdout).toMatch(/^build: no_tmuxwire, /);
  for (let times = 0; times < 2; times += 1) {
    await login(here);
    await eventually(async () => !(await run(here, "sessions")).includes("terminal"), 50);
  }
  expect(readdirSync("/proc").filter((pid) => commandLine(pid).includes(`${here.socketPath}.logins`))).toHaveLength(1);
  await loggedOut(here);
});

describe.skipIf(!mayMount)("a host with mounts of its own", () => {
  test("a second factor is asked for once, in a terminal", async () => {
    await using host = await sshHost({
      sshd: [
        "PermitRootLogin yes",
        "UsePAM yes",
        "KbdInteractiveAuthentication yes",
        "AuthenticationMethods publickey,keyboard-interactive",
      ],
      // Any account here, and a code that a program of this test checks.
      mounts: (sandbox) => {
        const [rules, check] = [sandbox.path("pam"), sandbox.path("check")];
        writeFileSync(check, `#!/bin/sh\n[ "$(tr -d '\\0')" = 314159 ]\n`, { mode: 0o755 });
        const lines = [
          `auth required pam_exec.so quiet expose_authtok ${check}`,
          "auth required pam_permit.so",
          "account required pam_permit.so",
        ];
        writeFileSync(rules, `${[...lines, "session required pam_permit.so"].join("\n")}\n`);
        return `mount --bind '${rules}' /etc/pam.d/sshd`;
      },
    });
    await using here = cliSandbox();
    await here.serve();
    const add = await here.run(["hosts", "add", "build", "build", "--ssh-config", host.configFile]);
    expect([add.code, add.stdout]).toEqual([
      69,
      expect.stringMatching(/^build: auth_needed, .*tmuxwire hosts login build/),
    ]);
    await login(here);
    await run(here, "wait", "terminal", "--text", "Password:", "--from", "tail:50");
    await run(here, "send", "terminal", "000000", "--enter");
    const asked = async () => (await run(here, "capture", "terminal")).match(/Password:/g)?.length;
    await eventually(async () => (await asked()) === 2, 50);
    expect(await run(here, "hosts")).toMatch(/^build: auth_needed, /);
    await run(here, "send", "terminal", "314159", "--enter");
    await eventually(async () => (await run(here, "hosts")).startsWith("build: connected, "), 50);
    expect(await run(here, "sessions", "--server", "main@build")).toContain("SESSION");
    await loggedOut(here);
  });

  test("a full disk is said with what to do, and is no trouble once there is room", async () => {
    const full = (sandbox: CliSandbox): string => sandbox.path("state", "fill");
    await using host = await sshHost({
      mounts: (sandbox) =>
        `mount -t tmpfs -o size=512k,mode=700 tmpfs '${sandbox.path("state")}' && { cat /dev/zero >'${full(sandbox)}' 2>/dev/null; true; }`,
    });
    await using here = cliSandbox();
    await here.serve();
    const add = await here.run(["hosts", "add", "build", "build", "--ssh-config", host.configFile]);
    expect([add.code, add.stdout]).toEqual([
      69,
      expect.stringMatching(/^build: unreachable, .* cannot write \S+ \(ENOSPC\); free some space there/),
    ]);
    rmSync(`/proc/${host.sshdPid()}/root${full(host.sandbox)}`);
    expect(await run(here, "hosts", "show", "build")).toMatch(/^build: connected, /);
    await run(here, "new", "work", "--server", "main@build");
  });
});

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
test("the client adds a host, sees how it is, and removes it", async () => {
  await using host = await sshHost();
  await using here = cliSandbox();
  await here.serve();
  const client = createClient({
    url: "http://localhost",
    token: readFileSync(here.tokenPath, "utf8").trim(),
    fetch: unixFetch(here.socketPath),
  });
  const far = { name: "build", destination: "build", sshConfig: host.configFile };
  const added = await client.addHost(far);
  expect(added).toMatchObject({ ...far, state: "connected", why: null, servers: 1, agents: 0 });
  const steady = (one: object): object => ({ ...one, roundTripMs: 0 });
  expect(steady(await client.host("build"))).toEqual(steady(added));
  expect((await client.hosts()).map(steady)).toEqual([steady(added)]);
  await client.server("main@build").createSession({ name: "work" });
  expect((await client.server("main@build").sessions()).map(({ name }) => name)).toEqual(["work"]);
  await client.removeHost("build");
  expect(await client.hosts()).toEqual([]);
});
