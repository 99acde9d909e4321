/** Who reads what is typed, on real terminals with real programs in front of each other. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn as spawnPty } from "@homebridge/node-pty-prebuilt-multiarch";
import { afterAll, afterEach, expect, test } from "vitest";
import {
  addresseeOf,
  type ForegroundMark,
  hasLeftTerminal,
  isAtTerminal,
  isRunning,
  isStillForeground,
  foregroundMarkOf,
  readForeground,
} from "../../../../daemon/panes/foreground.ts";
import type { Foreground } from "../../../../daemon/tmux/processes.ts";
import { linuxHost } from "../../../../daemon/host/linux/linuxHost.ts";
import { eventually } from "../../../support/clock/eventually.ts";

const directory = mkdtempSync(join(tmpdir(), "tmuxwire-"));
const agent = join(directory, "agent.mjs");
writeFileSync(agent, 'process.title = "myagent"; process.stdin.on("data", () => undefined); console.log("Is up!");');
const AGENT = `${process.execPath} ${agent}`;
const { processes } = linuxHost();
const names = new Set(["myagent"]);
const env = { PATH: process.env["PATH"] ?? "", HOME: directory, PS1: "$ ", TERM: "xterm" };

const open: { kill(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.kill();
});
afterAll(() => rmSync(directory, { recursive: true }));

function terminal(file: string, args: string[]) {
  const pty = spawnPty(file, args, { cwd: directory, env, cols: 80, rows: 24 });
  open.push({ kill: () => pty.kill("SIGKILL") });
  const text = { value: "" };
  pty.onData((data) => void (text.value += data));
  const shows = (wanted: string): Promise<void> => eventually(() => text.value.includes(wanted));
  return { pid: pty.pid, write: (data: string) => pty.write(data), shows };
}

async function foregroundOf(pid: number): Promise<Foreground> {
  const foreground = readForeground(pid, processes);
  expect(foreground).toBeDefined();
  return foreground!;
}

async function agentIn(pid: number): Promise<ForegroundMark> {
  const foreground = await foregroundOf(pid);
  const program = addresseeOf(foreground, names)!;
  expect(program.names).toContain("myagent");
  expect(program.isShell).toBe(false);
  return foregroundMarkOf(pid, foreground, program);
}

test("an interactive shell reads itself; what runs in its background does not", async () => {
  const { pid, write, shows } = terminal("bash", ["--norc", "-i"]);
  write(`${AGENT} </dev/null >/dev/null & echo ST""ARTED\n`);
  await shows("STARTED");
  const program = addresseeOf(await foregroundOf(pid), names)!;
  expect(program).toMatchObject({ pid, isShell: true, isInteractiveShell: true });
});

test.each([
  ["the shell's own job", ["--norc", "-i"], `${AGENT}\n`],
  ["behind sh -c that goes on afterwards", ["--norc", "-c", `sh -c '${AGENT}; exec sleep 1000'; true`], ""],
  ["behind env and a shell", ["--norc", "-c", `env A=1 sh -c '${AGENT}; true'; true`], ""],
])("a program that was meant is found: %s", async (_, args, typed) => {
  const { pid, write, shows } = terminal("bash", args);
  if (typed !== "") write(typed);
  await shows("Is up!");
  const mark = await agentIn(pid);
  expect(isStillForeground(mark, processes)).toBe(true);
  process.kill(mark.program.pid, "SIGKILL");
  await eventually(() => !isStillForeground(mark, processes));
});

test("one that starts another of its name: that one is meant, and has gone before its launcher knows", async () => {
  const launcher = join(directory, "launcher.mjs");
  const begin = `process.title = "myagent"; const child = spawn(process.execPath, [${JSON.stringify(agent)}], { stdio: "inherit" });`;
  writeFileSync(
    launcher,
    `import { spawn } from "node:child_process"; ${begin} child.on("exit", () => setTimeout(() => {}, 60_000));`,
  );
  const { pid, write, shows } = terminal("bash", ["--norc", "-i"]);
  write(`${process.execPath} ${launcher}\n`);
  await shows("Is up!");
  const mark = await agentIn(pid);
  expect(mark.program.pid).not.toBe(mark.leader.pid);
  process.kill(mark.program.pid, "SIGKILL");
  await eventually(() => !isStillForeground(mark, processes));
  expect((await foregroundOf(pid))[0]).toMatchObject({ pid: mark.leader.pid });
});

test("a helper that an agent starts from its own file is nobody to deliver to", async () => {
  const starter = join(directory, "starter.mjs");
  writeFileSync(
    starter,
    `import { spawn } from "node:child_process"; process.title = "myagent"; process.stdin.on("data", () => {});
    spawn(process.execPath, [${JSON.stringify(agent)}], { stdio: ["pipe", "inherit", "inherit"] });`,
  );
  const { pid, write, shows } = terminal("bash", ["--norc", "-i"]);
  write(`${process.execPath} ${starter}\n`);
  await shows("Is up!");
  const mark = await agentIn(pid);
  expect(await foregroundOf(pid)).toHaveLength(2);
  expect(mark.program.pid).toBe(mark.leader.pid);
});

test("what it has forked is nobody to deliver to: it bears its name until it becomes what it is for", async () => {
  const forker = join(directory, "forker.pl");
  writeFileSync(forker, '$0 = "myagent"; $| = 1; if (fork) { sleep 60 } else { print "Is up!"; <STDIN>; exec "cat" }');
  const { pid, write, shows } = terminal("bash", ["--norc", "-i"]);
  write(`perl ${forker}\n`);
  await shows("Is up!");
  expect((await foregroundOf(pid)).map(({ names: [name] }) => name)).toEqual(["myagent", "myagent"]);
  const mark = await agentIn(pid);
  expect(mark.program.pid).toBe(mark.leader.pid);
});

test("one that is stopped reads no more, and one that is continued in front does", async () => {
  const { pid, write, shows } = terminal("bash", ["--norc", "-i"]);
  write(`${AGENT}\n`);
  await shows("Is up!");
  const mark = await agentIn(pid);
  process.kill(mark.program.pid, "SIGSTOP");
  await shows("Stopped");
  expect(isStillForeground(mark, processes)).toBe(false);
  write("fg\n");
  await eventually(() => isStillForeground(mark, processes));
});

test("one that lives on when its terminal is hung up has left it; one that is stopped has not", async () => {
  const { pid, write, shows } = terminal("bash", ["--norc", "-i"]);
  const deaf = join(directory, "deaf.mjs");
  writeFileSync(
    deaf,
    'process.title = "myagent"; process.on("SIGHUP", () => undefined); setInterval(() => {}, 1e6); process.stdout.write("Is up!\\n");',
  );
  write(`${process.execPath} ${deaf}\n`);
  await shows("Is up!");
  const { program } = await agentIn(pid);
  open.push({ kill: () => process.kill(program.pid, "SIGKILL") });
  process.kill(program.pid, "SIGSTOP");
  await eventually(() => !isAtTerminal(program, processes));
  expect(hasLeftTerminal(program, processes)).toBe(false);
  process.kill(program.pid, "SIGCONT");
  process.kill(pid, "SIGKILL");
  await eventually(() => hasLeftTerminal(program, processes));
  expect(isRunning(program, processes)).toBe(true);
});

test("a process that becomes another program is another one, though pid and start are the same", async () => {
  const { pid, write, shows } = terminal("bash", ["--norc", "-i"]);
  await shows("$ ");
  const before = await foregroundOf(pid);
  const mark = foregroundMarkOf(pid, before, before[0]!);
  write("exec sleep 1000\n");
  await eventually(() => !isStillForeground(mark, processes));
  const after = await foregroundOf(pid);
  expect(after[0]).toMatchObject({ pid, isShell: false });
  await shows("exec");
});

test("a script's shell is no interactive one", async () => {
  const script = join(directory, "launch.sh");
  writeFileSync(script, "echo RUNS; read line");
  const { pid, shows } = terminal("sh", [script]);
  await shows("RUNS");
  expect((await foregroundOf(pid))[0]).toMatchObject({ isShell: true, isInteractiveShell: false });
});

test("a system that does not tell says unknown; a process that is gone is nobody", async () => {
  expect(readForeground(process.pid, linuxHost({ proc: join(directory, "absent") }).processes)).toBeUndefined();
  const { pid } = terminal("sleep", ["1000"]);
  await eventually(async () => (await foregroundOf(pid))[0]?.names.includes("sleep") === true);
  process.kill(pid, "SIGKILL");
  await eventually(() => readForeground(pid, processes)?.length === 0);
});
