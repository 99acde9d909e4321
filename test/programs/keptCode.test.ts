/** Compiled code that the frequent commands keep: used when it fits, made anew when it does not, and never needed. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { builtCli } from "../support/daemon/cliBuild.ts";

const HELP = /^usage: tmuxwire capture /im;

let home: string;
let kept: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "tw-home-"));
  kept = join(home, ".cache/tmuxwire/compiled");
});
afterEach(() => rmSync(home, { recursive: true }));

function help(given: NodeJS.ProcessEnv = {}): void {
  const env = { PATH: process.env["PATH"], HOME: home, ...given };
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [builtCli(), "capture", "--help"], {
    env,
    encoding: "utf8",
    // What runs damaged code may not end.
    timeout: 60_000,
  });
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: "" });
  expect(stdout).toMatch(HELP);
}

/** It is replaced when it is written again. */
function keptFile(): { readonly path: string; readonly inode: number; readonly mode: number } {
  const [name, ...others] = readdirSync(kept);
  expect(others).toEqual([]);
  const path = join(kept, name!);
  const { ino, mode } = lstatSync(path);
  return { path, inode: ino, mode: mode & 0o777 };
}

test("is written once, private to the user, for each command its own", () => {
  help();
  const { path, inode, mode } = keptFile();
  expect(path).toMatch(/\/capture-v[^/]*$/);
  expect(mode).toBe(0o600);
  help();
  expect(keptFile().inode).toBe(inode);
});

test.each<[string, (path: string) => unknown]>([
  ["of another source", (path) => writeFileSync(path, readFileSync(path).fill("0", 0, 64))],
  ["that was cut off", (path) => writeFileSync(path, readFileSync(path).subarray(0, 1000))],
  ["of which a block is lost", (path) => writeFileSync(path, readFileSync(path).fill(0, 98_304, 102_400))],
  ["that is empty", (path) => writeFileSync(path, "")],
  ["that others may write", (path) => chmodSync(path, 0o622)],
  ["behind a link", (path) => (renameSync(path, join(home, "elsewhere")), symlinkSync(join(home, "elsewhere"), path))],
  ["that is a FIFO", (path) => (rmSync(path), spawnSync("mkfifo", [path]))],
])("code %s is not run, but replaced", (_, spoil) => {
  help();
  const before = keptFile();
  const good = readFileSync(before.path);
  spoil(before.path);
  // There until its successor is: so the number is not the successor's, too.
  const spoiled = keptFile();
  help();
  expect(keptFile().inode).not.toBe(spoiled.inode);
  expect(keptFile().mode).toBe(0o600);
  expect(readFileSync(before.path).subarray(0, 64)).toEqual(good.subarray(0, 64));
});

test("where nothing can be kept, or nothing shall be, the command works as before", () => {
  help({ NODE_DISABLE_COMPILE_CACHE: "1" });
  expect(readdirSync(home)).toEqual([]);
  mkdirSync(join(home, ".cache/tmuxwire"), { recursive: true });
  writeFileSync(kept, "not a directory");
  help();
  expect(readFileSync(kept, "utf8")).toBe("not a directory");
});
