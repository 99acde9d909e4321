/** Whatever host there is: what it tells is right, and what it cannot tell is unknown and never wrong. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn as spawnPty } from "@homebridge/node-pty-prebuilt-multiarch";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { Host } from "../../../../daemon/host/host.ts";
import { linuxHost } from "../../../../daemon/host/linux/linuxHost.ts";
import {
  addresseeOf,
  bytesRead,
  hasLeftTerminal,
  isAtTerminal,
  isRunning,
  isStillForeground,
  foregroundMarkOf,
  readForeground,
} from "../../../../daemon/panes/foreground.ts";
import { paneRunsProgram } from "../../../../daemon/panes/paneProcesses.ts";
import { eventually } from "../../../support/clock/eventually.ts";
import { fakePs, HOSTS, macos } from "../../../support/tmux/hosts.ts";

/** Above the kernel's highest pid. */
const NOBODY = 4_194_305;
const directory = mkdtempSync(join(tmpdir(), "tmuxwire-"));
const open: (() => void)[] = [];
afterEach(() => {
  for (const end of open.splice(0)) end();
});
afterAll(() => rmSync(directory, { recursive: true }));

/** A shell that runs `cat` on a terminal of its own, once `cat` reads. */
async function catUnderShell(): Promise<{ readonly pid: number; readonly cat: number }> {
  const env = { PATH: process.env["PATH"] ?? "", PS1: "$ " };
  const pty = spawnPty("sh", ["-c", "cat; exit 0"], { cwd: directory, env });
  open.push(() => pty.kill("SIGKILL"));
  const text = { value: "" };
  pty.onData((data) => void (text.value += data));
  pty.write("UP\n");
  await eventually(() => text.value.split("UP").length > 2);
  const [cat] = (await linuxHost().processes.children(pty.pid)) ?? [];
  return { pid: pty.pid, cat: cat! };
}

describe.each(Object.entries(HOSTS))("%s", (name, make) => {
  const host: Host = make();
  const { processes, sockets, terminals } = host;
  /** The value, or unknown; nothing of this is unknown on Linux. */
  const orUnknown = <T>(told: T | undefined, right: T): void => {
    if (told !== undefined || name === "linux") expect(told).toEqual(right);
  };

  test("who is there and who is not", async () => {
    orUnknown(processes.isAlive(process.pid), true);
    orUnknown(processes.isAlive(NOBODY), false);
    orUnknown(processes.signal(NOBODY, "SIGCHLD"), false);
    const probe = await processes.probe();
    for (const view of [processes, probe]) {
      orUnknown((await view.stat(process.pid))?.parent, process.ppid);
      orUnknown(await view.owner(process.pid), process.getuid?.());
      expect(await view.stat(NOBODY)).toBeUndefined();
      expect(await view.words(NOBODY)).toBeUndefined();
    }
    orUnknown((await probe.words(process.pid))?.[0]?.endsWith(process.title.split(" ")[0] ?? ""), true);
    const first = (await probe.stat(process.pid))?.start;
    expect((await (await processes.probe()).stat(process.pid))?.start).toBe(first);
    if (!processes.reportsNow) expect(processes.statNow(process.pid)).toBeUndefined();
  });

  test("who reads from a terminal, until it has ended", async () => {
    const { pid, cat } = await catUnderShell();
    const foreground = readForeground(pid, await processes.probe());
    orUnknown(await paneRunsProgram(pid, new Set(["cat"]), processes), true);
    orUnknown(await paneRunsProgram(pid, new Set(["vim"]), processes), false);
    const known = foreground?.find((process) => process.pid === cat);
    if (foreground !== undefined && foreground.length > 0) expect(known?.names).toContain("cat");
    // What another daemon has noted, or this one before it lost what told it.
    const program = known ?? { pid: cat, start: "7", executable: undefined, names: [], isShell: false, depth: 0 };
    if (known !== undefined) expect(addresseeOf(foreground!, new Set(["cat"]))).toBe(known);
    const mark = foregroundMarkOf(pid, [], { isInteractiveShell: false, ...program });
    const tells = known !== undefined || !processes.reportsNow;
    if (tells) {
      expect(isStillForeground(mark, processes)).toBe(true);
      expect(isAtTerminal(mark.program, processes)).toBe(true);
      expect(isRunning(mark.program, processes)).toBe(true);
      expect(hasLeftTerminal(mark.program, processes)).toBe(false);
    }
    orUnknown(bytesRead(mark, processes) !== 0, true);
    process.kill(cat, "SIGKILL");
    await eventually(() => linuxHost().processes.isAlive(cat) === false);
    if (processes.isAlive(cat) === undefined) expect(isRunning(mark.program, processes)).toBe(true);
    else if (tells) {
      expect(isStillForeground(mark, processes)).toBe(false);
      expect(isRunning(mark.program, processes)).toBe(false);
      expect(hasLeftTerminal(mark.program, processes)).toBe(true);
    }
  });

  test("sockets", async () => {
    const path = join(directory, `${name.length}.sock`);
    orUnknown(sockets.exists(path), false);
    orUnknown(await sockets.connect(path), { accepts: false, errno: "ENOENT" });
    expect(sockets.listenerOf(path)).toBeUndefined();
    const seen: (string | null)[] = [];
    const watch = sockets.watch(directory, (appeared) => void seen.push(appeared));
    const server = createServer((client) => client.destroy()).listen(path);
    open.push(() => server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    orUnknown(sockets.exists(path), true);
    orUnknown(await sockets.connect(path), { accepts: true });
    orUnknown(sockets.listenerOf(path), process.pid);
    expect(sockets.listenerOf(path, "no such name")).toBeUndefined();
    if (watch !== undefined) await eventually(() => seen.some((one) => one === null || path.endsWith(one)));
    watch?.close();
    watch?.close();
    expect(sockets.watch(join(directory, "nowhere"), () => undefined)).toBeUndefined();
  });

  test("terminals that come and go", async () => {
    const seen: string[] = [];
    const watch = terminals.watch((what) => void seen.push(what));
    const { pid } = await catUnderShell();
    process.kill(pid, "SIGKILL");
    if (watch !== undefined) await eventually(() => seen.includes("came") && seen.includes("gone"));
    watch?.close();
    expect(terminals.isHeldBy("/dev/nowhere", process.pid)).toBeUndefined();
    orUnknown(terminals.isInputOf("/dev/nowhere", process.pid), false);
  });

  test("a program's end", async () => {
    const { run } = host.clients;
    const limits = { timeoutMs: 5_000 };
    const env = { PATH: process.env["PATH"] ?? "" };
    expect(await run("sh", ["-c", "echo out"], env, limits)).toEqual({ stdout: "out\n" });
    expect(await run("sh", ["-c", "echo out; exit 3"], env, limits)).toMatchObject({
      failure: { code: 3 },
      stdout: "out\n",
    });
    expect(await run(join(directory, "none"), [], env, limits)).toMatchObject({ failure: { code: "ENOENT" } });
  });
});

test("macOS: nothing is started for what is asked again and again, and one ps at a time for the rest", async () => {
  const ps = fakePs();
  const { processes } = macos(ps);
  processes.isAlive(process.pid);
  processes.statNow(process.pid);
  await processes.stat(process.pid);
  expect(readForeground(process.pid, processes)).toBeUndefined();
  expect(ps.counts.started).toBe(0);
  const probes = await Promise.all(Array.from({ length: 10 }, () => processes.probe()));
  // Nine have come while the first was under way, and share the next one.
  expect(ps.counts).toEqual({ started: 2, atOnce: 1 });
  for (const probe of probes) expect((await probe.stat(process.pid))?.pid).toBe(process.pid);
});

test("who asks again as soon as it is told starts no second ps beside the one that waits its turn", async () => {
  const ps = fakePs();
  const { processes } = macos(ps);
  const again = processes.probe().then(() => processes.probe());
  const queued = processes.probe();
  for (const probe of await Promise.all([again, queued]))
    expect((await probe.stat(process.pid))?.pid).toBe(process.pid);
  expect(ps.counts.atOnce).toBe(1);
});

test("the listing of macOS is read, and what is no row of it is passed over", async () => {
  const text = [
    "  PID  PPID",
    "    1     0     0     1     0 ??       Ss   Mon Nov 16 08:01:02 2026     /sbin/launchd",
    "  812     1   501   812   990 ttys003  Ss   Sun Nov 22 09:20:35 2026     -zsh",
    "  990   812   501   990   990 ttys003  S+   Sun Nov 22 09:21:00 2026     node /opt/homebrew/bin/claude --resume",
    "  991   812    -2   991   990 ttys003  T    Sun Nov  1 09:21:00 2026     /Applications/Some App.app/x",
    "",
  ].join("\n");
  const run = async (): Promise<{ stdout: string }> => ({ stdout: text });
  const probe = await macos({ run, counts: { started: 0, atOnce: 0 } }).processes.probe();
  expect(await probe.stat(1)).toMatchObject({ terminal: 0, foregroundGroup: -1, name: "launchd" });
  expect(await probe.words(990)).toEqual(["node", "/opt/homebrew/bin/claude", "--resume"]);
  expect(await probe.children(812)).toEqual([990, 991]);
  expect(await probe.owner(991)).toBe(-2);
  const foreground = readForeground(812, probe)!;
  expect(foreground.map(({ pid }) => pid)).toEqual([990]);
  expect(addresseeOf(foreground, new Set(["claude"]))).toMatchObject({ pid: 990, isShell: false });
  expect(readForeground(4, probe)).toEqual([]);
});

test("Linux reads what it is told to read", async () => {
  const proc = join(directory, "proc");
  rmSync(proc, { recursive: true, force: true });
  const host = linuxHost({ proc, terminals: directory });
  const gone: string[] = [];
  const watch = host.terminals.watch((what) => void gone.push(what));
  const file = join(directory, "7");
  writeFileSync(file, "");
  await eventually(() => gone.includes("came"));
  rmSync(file);
  await eventually(() => gone.includes("gone"));
  watch?.close();
  expect(await host.processes.isThere()).toBe(false);
  expect(readForeground(process.pid, host.processes)).toBeUndefined();
});
