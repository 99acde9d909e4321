/** Programs found in real process trees, by every way in which a program can be called something. */
import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Procfs, procfs } from "../../../../daemon/host/procfs.ts";
import { paneRunsProgram } from "../../../../daemon/panes/paneProcesses.ts";
import { eventually } from "../../../support/clock/eventually.ts";

const directory = mkdtempSync(join(tmpdir(), "tmuxwire-"));
const children: ChildProcess[] = [];
const claude = new Set(["claude"]);

afterAll(() => {
  // Each test's tree is a process group of its own.
  for (const { pid } of children) if (pid !== undefined) process.kill(-pid, "SIGKILL");
  rmSync(directory, { recursive: true });
});

/** Resolves with the pid once the tree has said that it stands. */
async function tree(command: readonly string[]): Promise<number> {
  const child = spawn(command[0]!, command.slice(1), { stdio: ["ignore", "pipe", "inherit"], detached: true });
  children.push(child);
  await new Promise<void>((resolve) => {
    child.stdout.once("data", () => resolve());
  });
  return child.pid!;
}

function executable(name: string, body: string): string {
  const path = join(directory, name);
  writeFileSync(path, body);
  chmodSync(path, 0o755);
  return path;
}

/** A program under another name, as a link to a real one. */
function linked(name: string, target: string): string {
  const path = join(directory, name);
  symlinkSync(target, path);
  return path;
}

const STAY = 'console.log("up"); setInterval(() => undefined, 1e6)';

const named = (title: string): string[] => [process.execPath, "-e", `process.title = "${title}"; ${STAY}`];
const script = (name: string): string => executable(name, `#!${process.execPath}\n${STAY}`);
const THREAD = (path: string): string => `
    const { Worker } = require("worker_threads");
    new Worker(\`require("child_process").spawn(${JSON.stringify(path)}, { stdio: "inherit" })\`, { eval: true });
    setInterval(() => undefined, 1e6);`;

test.each<[string, () => readonly string[], Readonly<Record<string, boolean>>]>([
  ["its process's name, however it was started", () => named("claude"), { claude: true }],
  ["a long name", () => named("an-agent-with-a-long-name"), { "an-agent-with-a-long-name": true }],
  [
    "what it was started as",
    () => [linked("claude-0", "/bin/sh"), "-c", "echo up; read x <&1; :"],
    { "claude-0": true },
  ],
  ["the script that an interpreter runs", () => [script("claude")], { claude: true }],
  [
    "the script behind an interpreter's options, and not by its own",
    () => [process.execPath, "--no-warnings", "--stack-size=900", script("claude-1"), "--continue"],
    { "claude-1": true, "--continue": false, continue: false },
  ],
  [
    "no word in what it was given to do",
    () => ["sh", "-c", 'echo up; read x <&1; : "$0"', "claude"],
    { claude: false, sh: true },
  ],
  [
    "what the pane's shell has started, and what that has",
    () => ["sh", "-c", `sh -c "sleep 1000 & '${script("claude-2")}'; :" ; :`],
    { "claude-2": true, sleep: true, vim: false },
  ],
  ["what another thread has started", () => [process.execPath, "-e", THREAD(script("claude-3"))], { "claude-3": true }],
])("by %s", async (_what, command, expected) => {
  const root = await tree(command());
  for (const [name, isFound] of Object.entries(expected)) {
    expect([name, await paneRunsProgram(root, new Set([name]), procfs())]).toEqual([name, isFound]);
  }
});

test("not when it has ended, and is only waited for", async () => {
  copyFileSync("/bin/true", join(directory, "claude-4"));
  // Node does not wait for a child it was not told of; the shell becomes node and leaves it one.
  const node = `exec "${process.execPath}" -e '${STAY}'`;
  const parent = await tree(["sh", "-c", `"${directory}/claude-4" & ${node}`]);
  await eventually(() => {
    const list = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim();
    return list !== "" && readFileSync(`/proc/${list}/stat`, "utf8").includes("(claude-4) Z");
  });
  expect(await paneRunsProgram(parent, new Set(["claude-4"]), procfs())).toBe(false);
});

test("a pane whose process is gone runs nothing; a system without /proc does not tell", async () => {
  // Above the kernel's highest pid.
  expect(await paneRunsProgram(4_194_305, claude, procfs())).toBe(false);
  expect(await paneRunsProgram(process.pid, new Set(["vim"]), procfs(join(directory, "no-proc")))).toBeUndefined();
});

test("a process that is becoming another program may become the one that is asked for", async () => {
  const proc = join(directory, "becoming");
  for (const pid of ["self", "7"]) mkdirSync(join(proc, pid, "task", "7"), { recursive: true });
  writeFileSync(join(proc, "7", "task", "7", "children"), "");
  writeFileSync(join(proc, "7", "cmdline"), "");
  for (const [state, runs] of [
    ["R", undefined],
    ["Z", false],
  ] as const) {
    writeFileSync(join(proc, "7", "stat"), `7 (sh) ${state} 1 7`);
    expect(await paneRunsProgram(7, claude, procfs(proc))).toBe(runs);
  }
});

test("a kernel that does not list children tells only of the process itself", async () => {
  const proc = join(directory, "proc");
  for (const pid of ["self", "7"]) {
    mkdirSync(join(proc, pid, "task", "7"), { recursive: true });
    writeFileSync(join(proc, pid, "task", "7", "stat"), "7 (sh) S 1");
  }
  writeFileSync(join(proc, "7", "stat"), "7 (odd) name) S 1 7");
  writeFileSync(join(proc, "7", "cmdline"), "-sh\0");
  expect(await paneRunsProgram(7, new Set(["odd) name"]), procfs(proc))).toBe(true);
  expect(await paneRunsProgram(7, new Set(["sh"]), procfs(proc))).toBe(true);
  expect(await paneRunsProgram(7, claude, procfs(proc))).toBeUndefined();
});

test("a fork bomb is not looked through, and looking leaves no file open", async () => {
  const before = readdirSync("/proc/self/fd").length;
  const bomb = await tree(["sh", "-c", "i=0; while [ $i -lt 600 ]; do sleep 1000 & i=$((i+1)); done; echo up; wait"]);
  expect(await paneRunsProgram(bomb, claude, procfs())).toBeUndefined();
  expect(await paneRunsProgram(bomb, new Set(["sh"]), procfs())).toBe(true);
  expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before + 1);
});

test.each<[string, (pid: number) => readonly number[], string, boolean | undefined, number]>([
  ["32 generations down", (pid) => [pid + 1], "p33", true, 33],
  ["deeper than that", (pid) => [pid + 1], "p34", undefined, 33],
  ["among 512", (pid) => (pid === 1 ? Array.from({ length: 511 }, (_, at) => at + 2) : []), "vim", false, 512],
  ["among more", (pid) => (pid === 1 ? Array.from({ length: 512 }, (_, at) => at + 2) : []), "vim", undefined, 1],
  ["in a tree that goes round", () => [1, 2], "vim", false, 2],
])("%s it is looked for, and at each process once", async (_what, below, name, found, count) => {
  const seen: number[] = [];
  const processes = {
    isThere: async () => true,
    stat: async (pid: number) => ({ name: `p${pid}`, state: seen.push(pid) > 0 ? "S" : "" }),
    words: async () => ["sh"],
    children: async (pid: number) => below(pid),
  } as unknown as Procfs;
  expect(await paneRunsProgram(1, new Set([name]), processes)).toBe(found);
  expect(seen).toEqual(Array.from({ length: count }, (_, at) => at + 1));
});
