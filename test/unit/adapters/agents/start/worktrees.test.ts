/** Worktrees, with the real git in repositories of their own. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AgentStore } from "../../../../../adapters/agents/running/agentStore.ts";
import type { RunningAgent } from "../../../../../adapters/agents/running/runningAgent.ts";
import { Git } from "../../../../../adapters/agents/start/git.ts";
import { Worktrees } from "../../../../../adapters/agents/start/worktrees.ts";
import { silentLog } from "../../../../../bench/silentLog.ts";
import { runProgram } from "../../../../../daemon/host/runProgram.ts";
import { paneEnvironment } from "../../../../../daemon/ops/environment.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

let root: string;
let shop: string;
let store: AgentStore;
let worktrees: Worktrees;
let running: readonly RunningAgent[];

const ENV = {
  ...paneEnvironment(process.env),
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.com",
};
const git = (directory: string, ...args: readonly string[]): string =>
  execFileSync("git", ["-C", directory, ...args], { env: ENV, encoding: "utf8" }).trim();

beforeEach(() => {
  root = realpathSync(ownDirectory());
  shop = join(root, "shop");
  mkdirSync(join(shop, "src"), { recursive: true });
  git(root, "init", "-q", "-b", "main", shop);
  writeFileSync(join(shop, "src/a.txt"), "a\n");
  git(shop, "add", ".");
  git(shop, "commit", "-qm", "first");
  store = new AgentStore({ path: join(root, "state/agents.db"), nowUnixMs: Date.now, log: silentLog });
  running = [];
  worktrees = new Worktrees({
    git: new Git({ run: runProgram, env: paneEnvironment(process.env) }),
    database: () => store.database,
    fallbackDirectory: join(root, "fallback"),
    agents: () => running,
    nowUnixMs: Date.now,
  });
});
afterEach(() => {
  store.close();
});

test("a worktree is beside its repository, on a branch of its own, in the folder that corresponds", async () => {
  const { worktree, cwd } = await worktrees.create(join(shop, "src"), {}, "api");
  expect(worktree).toMatchObject({ name: "shop-agent-api", branch: "agent/api", repository: shop });
  expect(worktree.path).toBe(join(root, "shop.worktrees/agent-api"));
  expect(cwd).toBe(join(worktree.path, "src"));
  expect(git(worktree.path, "branch", "--show-current")).toBe("agent/api");
  expect(git(shop, "status", "--porcelain")).toBe("");
  // The next one of this name, made from within the first, belongs to the same repository.
  const { worktree: second } = await worktrees.create(worktree.path, {}, "api");
  expect([second.branch, second.repository]).toEqual(["agent/api-2", shop]);
});

test("the folder corresponds also where the way to the repository has a link in it", async () => {
  symlinkSync(shop, join(root, "link"));
  const { worktree, cwd } = await worktrees.create(join(root, "link/src"), {}, "api");
  expect([worktree.repository, cwd]).toEqual([shop, join(worktree.path, "src")]);
});

test("one with nothing to lose is removed with its branch", async () => {
  const { worktree } = await worktrees.create(shop, {}, "api");
  expect(await worktrees.list()).toMatchObject([{ exists: true, uncommitted: 0, unpushed: 0, agents: [] }]);
  await worktrees.remove(worktree.name);
  expect(existsSync(worktree.path)).toBe(false);
  expect(git(shop, "branch", "--format=%(refname:short)")).toBe("main");
  expect(await worktrees.list()).toEqual([]);
});

test("one with something to lose is kept, and it is said what", async () => {
  const { worktree } = await worktrees.create(shop, { branch: "fix/it" }, "api");
  writeFileSync(join(worktree.path, "new.txt"), "new\n");
  await expect(worktrees.remove(worktree.name)).rejects.toMatchObject({
    code: "WRONG_STATE",
    message: expect.stringContaining("1 file is not committed") as string,
  });
  git(worktree.path, "add", ".");
  git(worktree.path, "commit", "-qm", "second");
  await expect(worktrees.remove(worktree.name)).rejects.toMatchObject({
    message: expect.stringContaining("1 commit is on fix/it alone") as string,
  });
  // Somebody has gone on with another branch there: the first one's commit would still be lost with it.
  git(worktree.path, "checkout", "-q", "--detach", "main");
  await expect(worktrees.remove(worktree.name)).rejects.toMatchObject({ details: { unpushed: 1 } });
  git(shop, "merge", "-q", "fix/it");
  expect(await worktrees.remove(worktree.name)).toMatchObject({ branch: "fix/it" });
  expect(existsSync(worktree.path)).toBe(false);
});

test("one in which an agent runs, or a rebase is under way, is kept", async () => {
  const { worktree } = await worktrees.create(shop, {}, "api");
  const cwdNow = () => join(worktree.path, "src");
  running = [{ name: "api", process: { pid: 1 }, server: { processes: { cwdNow } } } as unknown as RunningAgent];
  await expect(worktrees.remove(worktree.name)).rejects.toMatchObject({
    message: expect.stringContaining("api runs in it") as string,
  });
  running = [];
  const directory = git(worktree.path, "rev-parse", "--path-format=absolute", "--git-dir");
  mkdirSync(join(directory, "rebase-merge"));
  await expect(worktrees.remove(worktree.name)).rejects.toMatchObject({
    message: expect.stringContaining("a rebase is under way") as string,
  });
});

test("a branch that was there stays", async () => {
  git(shop, "branch", "old");
  const { worktree } = await worktrees.create(shop, { branch: "old" }, "api");
  await worktrees.remove(worktree.name);
  expect(git(shop, "branch", "--list", "old")).toContain("old");
});

test("what cannot be made is refused, and nothing is left", async () => {
  const bare = ownDirectory();
  await expect(worktrees.create(bare, {}, "api")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  const refused = [{ branch: "-x" }, { branch: "a..b" }, { branch: "new", from: "--output=x" }, { from: "nowhere" }];
  for (const request of refused) {
    await expect(worktrees.create(shop, request, "api")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  }
  await expect(worktrees.create(shop, { branch: "main", from: "main" }, "x")).rejects.toMatchObject({
    code: "ALREADY_EXISTS",
  });
  await expect(worktrees.create(shop, { branch: "main" }, "x")).rejects.toMatchObject({ code: "INCONSISTENT_STATE" });
  expect(await worktrees.list()).toEqual([]);
});

test("one whose files cannot be checked out leaves neither a branch nor a folder", async () => {
  git(shop, "config", "filter.stored.smudge", "exit 3");
  git(shop, "config", "filter.stored.clean", "cat");
  git(shop, "config", "filter.stored.required", "true");
  writeFileSync(join(shop, ".gitattributes"), "*.txt filter=stored\n");
  git(shop, "add", ".");
  git(shop, "commit", "-qm", "stored elsewhere");
  await expect(worktrees.create(shop, {}, "api")).rejects.toThrow("smudge filter stored failed");
  await expect(worktrees.create(shop, { branch: "mine" }, "api")).rejects.toThrow("smudge filter stored failed");
  expect([git(shop, "branch", "--format=%(refname:short)"), readdirSync(join(root, "shop.worktrees"))]).toEqual([
    "main",
    [],
  ]);
  expect(git(shop, "worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
});

test("hooks of the repository do not run, and our GIT_ variables do not reach it", async () => {
  writeFileSync(join(shop, ".git/hooks/post-checkout"), `#!/bin/sh\ntouch ${root}/ran\n`, { mode: 0o755 });
  process.env["GIT_DIR"] = join(root, "elsewhere");
  try {
    await worktrees.create(shop, {}, "api");
  } finally {
    delete process.env["GIT_DIR"];
  }
  expect(existsSync(join(root, "ran"))).toBe(false);
});

test("a place that another working tree would show is not taken", async () => {
  git(root, "init", "-q", root);
  const { worktree } = await worktrees.create(shop, {}, "api");
  expect(worktree.path).toBe(join(root, "fallback/shop/agent-api"));
});

test("worktrees that are made at the same time have each a branch, a folder and a name of their own", async () => {
  const made = await Promise.all(["api", "api", "api"].map((hint) => worktrees.create(shop, {}, hint)));
  expect(made.map(({ worktree }) => worktree.branch).toSorted()).toEqual(["agent/api", "agent/api-2", "agent/api-3"]);
  expect((await worktrees.list()).map(({ exists }) => exists)).toEqual([true, true, true]);
});

test("worktrees of two repositories of one name that are made at the same time are both listed", async () => {
  const other = join(root, "other/shop");
  git(root, "clone", "-q", shop, other);
  const made = await Promise.all([shop, other].map((repository) => worktrees.create(repository, {}, "api")));
  const listed = await worktrees.list();
  expect(listed.map(({ path }) => path).toSorted()).toEqual(made.map(({ worktree }) => worktree.path).toSorted());
});
