/** Every command with standard output on a full disk: one line on stderr, exit code 1, and no stack. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtCli, builtFreshell } from "../support/daemon/cliBuild.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";

const FULL = "/dev/full";
const hasFull = existsSync(FULL);
if (!hasFull) process.stderr.write(`outputLost.test.ts: skipped, there is no ${FULL}\n`);

let sandbox: CliSandbox;
beforeAll(async () => {
  sandbox = cliSandbox();
  await sandbox.serve();
  await sandbox.run(["new", "work", "--", "sh"]);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const COMMANDS: readonly (readonly string[])[] = [
  ["help"],
  ["help", "serve"],
  ["version"],
  ["--version"],
  ["completions", "bash"],
  ["config"],
  ["doctor"],
  ["ls"],
  ["panes", "--json"],
  ["show", "work"],
  ["capture", "work"],
  ["follow", "work", "--from", "snapshot"],
  ["events"],
  ["run", "work", "echo", "hi"],
  ["wait", "work", "--literal", "nothing", "-t", "1", "--json"],
  ["rec", "work", "-o", "-"],
  ["profiles"],
  ["nonsense", "--json"],
];

test
  .skipIf(!hasFull)
  .each([
    ...COMMANDS.map((args) => ["tmuxwire", args] as const),
    ["freshell", ["help"]] as const,
    ["freshell", ["--version"]] as const,
  ])("%s %j", (program, args) => {
  const script = program === "freshell" ? builtFreshell() : builtCli();
  const { status, stderr } = spawnSync("sh", ["-c", `exec "$@" > ${FULL}`, "sh", process.execPath, script, ...args], {
    env: sandbox.env,
    cwd: sandbox.root,
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([
    1,
    `${program}: cannot write to standard output (ENOSPC: no space left on device, write): free some space, or redirect it elsewhere\n`,
  ]);
});

test.skipIf(!hasFull)("a recording whose disk is full names its file", async () => {
  expect(await sandbox.run(["rec", "work", "-o", FULL, "--force"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `tmuxwire: cannot write ${FULL} (ENOSPC); free some space there\n`,
  });
});
