import { spawnSync } from "node:child_process";
import { mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { GitHeads } from "../../../../../adapters/agents/running/gitHeads.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

let root = "";
const clock = new FakeClock();
const heads = new GitHeads(clock);

beforeEach(() => {
  root = realpathSync(ownDirectory());
});

async function at(directory: string): Promise<string | undefined> {
  clock.advanceMs(10_000);
  await heads.refresh([directory]);
  return heads.at(directory);
}

const git = (directory: string, ...args: readonly string[]): string => {
  const identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=trunk"];
  const { status, stdout, stderr } = spawnSync("git", ["-C", directory, ...identity, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
};

test("a branch, below the repository too; a detached commit; a worktree", async () => {
  const repository = join(root, "repository");
  const below = join(repository, "a", "b");
  mkdirSync(below, { recursive: true });
  expect(await at(below)).toBeUndefined();
  git(repository, "init");
  git(repository, "commit", "--allow-empty", "-m", "first");
  expect([await at(repository), await at(below)]).toEqual(["trunk", "trunk"]);
  git(repository, "checkout", "-b", "fix/it");
  expect(await at(below)).toBe("fix/it");
  const worktree = join(root, "worktree");
  git(repository, "worktree", "add", "-b", "other", worktree);
  expect([await at(worktree), await at(below)]).toEqual(["other", "fix/it"]);
  git(repository, "checkout", "--detach");
  expect(await at(below)).toBe(git(repository, "rev-parse", "HEAD").slice(0, 7));
});

test("a repository that keeps its refs in reftables has no branch that is known", async () => {
  mkdirSync(join(root, ".git"));
  writeFileSync(join(root, ".git", "HEAD"), "ref: refs/heads/.invalid\n");
  expect(await at(root)).toBeUndefined();
});

test("read again only when it is old; what is no repository's file is none", async () => {
  const directory = join(root, ".git");
  mkdirSync(directory);
  writeFileSync(join(directory, "HEAD"), "ref: refs/heads/one\n");
  expect(await at(root)).toBe("one");
  writeFileSync(join(directory, "HEAD"), "ref: refs/heads/two\n");
  await heads.refresh([root]);
  expect(heads.at(root)).toBe("one");
  expect(await at(root)).toBe("two");
  for (const text of ["", "ref: refs/heads/a b\n", "ref: /etc/passwd\n", `${"f".repeat(10_000)}\n`]) {
    writeFileSync(join(directory, "HEAD"), text);
    expect(await at(root)).toBeUndefined();
  }
  rmSync(join(directory, "HEAD"));
  spawnSync("mkfifo", [join(directory, "HEAD")]);
  expect(await at(root)).toBeUndefined();
});
