/**
 * Worktrees that were made for agents: each a folder beside its repository with a branch of its own, listed with what would
 * be lost with it, and removed only if that is nothing. A branch is never removed with commits that are nowhere else.
 */
import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import type { Database } from "../../../daemon/ops/sql/sqlite.ts";
import { Table } from "../../../daemon/ops/sql/table.ts";
import type { RunningAgent } from "../running/runningAgent.ts";
import type { Git } from "./git.ts";

export interface WorktreeRequest {
  readonly branch?: string | undefined;
  readonly from?: string | undefined;
}

export interface Worktree {
  /** Unique among all that were made here. */
  readonly name: string;
  readonly path: string;
  /** The repository's own folder. */
  readonly repository: string;
  readonly branch: string;
  /** The branch was made with it. */
  readonly isOwnBranch: boolean;
  readonly madeUnixMs: number;
}

interface MadeWorktree {
  readonly worktree: Worktree;
  /** The folder in it that corresponds to where it was asked for. */
  readonly cwd: string;
}

/** Whether these are kept for the caller until its worktree is made; false: another has one of them. */
type Reserve = (...wanted: readonly string[]) => boolean;

/** What would be lost with a worktree. */
export interface WorktreeState {
  /** False: somebody has removed the folder. */
  readonly exists: boolean;
  /** Files that are changed or not tracked. */
  readonly uncommitted: number;
  /** Commits that no other branch, no tag and no remote has. */
  readonly unpushed: number;
  /** A rebase, merge or the like that was begun and not ended. */
  readonly underWay: string | undefined;
  /** Names of agents that run in it. */
  readonly agents: readonly string[];
}

interface WorktreesOptions {
  readonly git: Git;
  readonly database: () => Database;
  /** For repositories whose neighbourhood is itself a working tree. Absolute. */
  readonly fallbackDirectory: string;
  readonly agents: () => readonly RunningAgent[];
  readonly nowUnixMs: () => number;
}

const OLDEST_FIRST = "ORDER BY made_unix_ms, name";
/** A number at the end makes a name unique up to here. */
const MAX_TRIES = 100;
/** git is started a few times for each worktree: so many are looked at at once. */
const AT_ONCE = 4;
const UNDER_WAY = {
  MERGE_HEAD: "a merge",
  "rebase-merge": "a rebase",
  "rebase-apply": "a rebase",
  CHERRY_PICK_HEAD: "a cherry-pick",
  REVERT_HEAD: "a revert",
  BISECT_LOG: "a bisection",
} as const;

export class Worktrees {
  readonly #options: WorktreesOptions;
  readonly #table: Table<Worktree>;
  /** Branches, folders and names of those that are being made: git and the table do not have them yet. */
  readonly #reserved = new Set<string>();

  constructor(options: WorktreesOptions) {
    this.#options = options;
    this.#table = new Table<Worktree>({
      prepare: (sql) => options.database().prepare(sql),
      name: "worktrees",
      key: ["name"],
      columns: { isOwnBranch: "own_branch" },
      decode: { isOwnBranch: (cell) => cell === 1 },
    });
  }

  /**
   * @param cwd anywhere in the repository @param hint for the branch's name
   * @returns the worktree, and the folder in it that corresponds to `cwd`
   * @throws AppError INVALID_ARGUMENT, ALREADY_EXISTS, INCONSISTENT_STATE, NOT_FOUND, TIMEOUT
   */
  async create(cwd: string, request: WorktreeRequest, hint: string): Promise<MadeWorktree> {
    const reserved = new Set<string>();
    const reserve: Reserve = (...wanted) => {
      if (wanted.some((one) => this.#reserved.has(one))) return false;
      for (const one of wanted) {
        this.#reserved.add(one);
        reserved.add(one);
      }
      return true;
    };
    try {
      return await this.#create(cwd, request, hint, reserve);
    } finally {
      for (const one of reserved) this.#reserved.delete(one);
    }
  }

  async #create(
    cwd: string,
    { branch: wanted, from }: WorktreeRequest,
    hint: string,
    reserve: Reserve,
  ): Promise<MadeWorktree> {
    const { git } = this.#options;
    const { repository, top } = await this.#repositoryOf(cwd);
    const asked = wanted ?? (await this.#freeBranch(repository, `agent/${hint}`, reserve));
    const branch = (await git.ask(repository, ["check-ref-format", "--branch", asked]))?.trimEnd();
    if (branch === undefined) {
      throw invalidArgument(`${JSON.stringify(asked)} cannot be the name of a branch`);
    }
    const isOwnBranch = !(await this.#hasBranch(repository, branch));
    if (!isOwnBranch && from !== undefined) {
      throw new AppError(
        "ALREADY_EXISTS",
        `the branch ${branch} exists already: leave out where it begins, or name another`,
      );
    }
    const what = isOwnBranch ? await this.#commitOf(repository, from ?? "HEAD") : branch;
    const { path, name } = await this.#place(repository, branch, reserve);
    mkdirSync(dirname(path), { recursive: true });
    // By itself: only a branch that was made here may be taken back.
    if (isOwnBranch) await git.do(repository, ["branch", "--no-track", "--", branch, what]);
    try {
      await git.do(repository, ["worktree", "add", "--quiet", "--", path, branch]);
    } catch (error) {
      if (isOwnBranch) await this.#unmake(repository, path, branch, what);
      throw error;
    }
    const worktree = { name, path, repository, branch, isOwnBranch, madeUnixMs: this.#options.nowUnixMs() };
    this.#table.save(this.#table.rowOf(worktree));
    // git names its folders without links.
    const inside = join(path, top === undefined ? "" : relative(top, realpathSync(cwd)));
    return { worktree, cwd: isDirectory(inside) ? inside : path };
  }

  /** What is left of one whose files could not be checked out: git itself leaves its branch, and all of it when it is cut off. */
  async #unmake(repository: string, path: string, branch: string, commit: string): Promise<void> {
    const { git } = this.#options;
    const ref = `refs/heads/${branch}`;
    // The folder of somebody who was quicker is on another branch.
    if ((await git.ask(path, ["symbolic-ref", "HEAD"]).catch(() => undefined))?.trimEnd() === ref)
      await git.ask(repository, ["worktree", "remove", "--force", path]).catch(() => undefined);
    await git.ask(repository, ["update-ref", "-d", ref, commit]).catch(() => undefined);
  }

  /** All that were made, oldest first, each as it is now. */
  async list(): Promise<readonly (Worktree & WorktreeState)[]> {
    const worktrees = this.#table.all(OLDEST_FIRST);
    const listed: (Worktree & WorktreeState)[] = [];
    for (let at = 0; at < worktrees.length; at += AT_ONCE) {
      const some = worktrees.slice(at, at + AT_ONCE);
      listed.push(...(await Promise.all(some.map(async (one) => ({ ...one, ...(await this.#stateOf(one)) })))));
    }
    return listed;
  }

  /** Removes its folder, and its branch if it was made with it. @throws AppError NOT_FOUND, WRONG_STATE: what would be lost */
  async remove(name: string): Promise<Worktree> {
    const worktree = this.#table.all(OLDEST_FIRST).find((each) => each.name === name || each.path === name);
    if (worktree === undefined) {
      throw new AppError("NOT_FOUND", `there is no worktree ${JSON.stringify(name)}; run \`tmuxwire worktrees\``);
    }
    const { git } = this.#options;
    const { repository, path, branch, isOwnBranch } = worktree;
    const state = await this.#stateOf(worktree);
    requireNothingToLose(worktree, state);
    // Looked at again by git itself, which refuses what is not clean.
    if (state.exists) await git.do(repository, ["worktree", "remove", path]);
    else if (isDirectory(repository)) await git.ask(repository, ["worktree", "prune"]);
    // `-D`: all of its commits are elsewhere, perhaps not in what is checked out.
    if (isOwnBranch && state.exists && state.unpushed === 0) await git.ask(repository, ["branch", "-D", "--", branch]);
    this.#table.remove(worktree.name);
    return worktree;
  }

  /** @throws AppError INVALID_ARGUMENT */
  async #repositoryOf(cwd: string): Promise<{ readonly repository: string; readonly top: string | undefined }> {
    const { git } = this.#options;
    const common = (await git.ask(cwd, ["rev-parse", "--path-format=absolute", "--git-common-dir"]))?.trimEnd();
    if (common === undefined) {
      throw invalidArgument(`${cwd} is in no git repository; leave out the worktree, or give another cwd`);
    }
    const top = (await git.ask(cwd, ["rev-parse", "--path-format=absolute", "--show-toplevel"]))?.trimEnd();
    return { repository: basename(common) === ".git" ? dirname(common) : common, top };
  }

  async #hasBranch(repository: string, branch: string): Promise<boolean> {
    const found = await this.#options.git.ask(repository, ["show-ref", "--verify", "--quiet", `refs/heads/${branch}`]);
    return found !== undefined;
  }

  async #freeBranch(repository: string, stem: string, reserve: Reserve): Promise<string> {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const branch = tries === 1 ? stem : `${stem}-${tries}`;
      // Before git is asked: it may answer for a moment that is over.
      if (reserve(`${repository}\n${branch}`) && !(await this.#hasBranch(repository, branch))) return branch;
    }
    throw new AppError("ALREADY_EXISTS", `there are ${MAX_TRIES} branches like ${stem}; name the branch`);
  }

  async #commitOf(repository: string, from: string): Promise<string> {
    const found = await this.#options.git.ask(repository, [
      "rev-parse",
      "--verify",
      "--quiet",
      "--end-of-options",
      `${from}^{commit}`,
    ]);
    if (found !== undefined) return found.trimEnd();
    throw invalidArgument(
      `${JSON.stringify(from)} is no commit in ${repository}; commit something first, or name a branch`,
    );
  }

  /** Beside the repository, as `NAME.worktrees/BRANCH`; never in a working tree that does not ignore it. */
  async #place(
    repository: string,
    branch: string,
    reserve: Reserve,
  ): Promise<{ readonly path: string; readonly name: string }> {
    const own = basename(repository).replace(/\.git$/, "");
    const beside = join(dirname(repository), `${own}.worktrees`);
    const parent = (await this.#isVisibleToGit(beside)) ? join(this.#options.fallbackDirectory, own) : beside;
    const word = branch.replaceAll(/[^\w.-]+/g, "-");
    const taken = new Set(this.#table.all(OLDEST_FIRST).map(({ name }) => name));
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const folder = tries === 1 ? word : `${word}-${tries}`;
      const [path, name] = [join(parent, folder), `${own}-${folder}`];
      if (!existsSync(path) && !taken.has(name) && reserve(path, name)) return { path, name };
    }
    throw new AppError(
      "ALREADY_EXISTS",
      `${parent} is full of worktrees for ${branch}; remove some with \`tmuxwire remove-worktree\``,
    );
  }

  async #isVisibleToGit(path: string): Promise<boolean> {
    const { git } = this.#options;
    const inside = await git.ask(dirname(path), ["rev-parse", "--is-inside-work-tree"]);
    if (inside?.trim() !== "true") return false;
    return (await git.ask(dirname(path), ["check-ignore", "--quiet", "--", path])) === undefined;
  }

  async #stateOf({ path, branch, repository }: Worktree): Promise<WorktreeState> {
    const { git } = this.#options;
    const agents = this.#agentsIn(path);
    const directory = (
      await git.ask(path, ["rev-parse", "--path-format=absolute", "--git-dir"]).catch(() => undefined)
    )?.trimEnd();
    if (!isDirectory(path) || directory === undefined) {
      return { exists: false, uncommitted: 0, unpushed: 0, underWay: undefined, agents };
    }
    const status = await git.ask(path, ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"]);
    const elsewhere = ["--not", `--exclude=${branch}`, "--branches", "--tags", "--remotes"];
    // Somebody may have switched to another branch, which stays.
    const own = (await this.#hasBranch(repository, branch)) ? [`refs/heads/${branch}`] : [];
    const unpushed = await git.ask(path, ["rev-list", "--count", "HEAD", ...own, ...elsewhere]);
    if (status === undefined || unpushed === undefined) {
      throw new AppError("INCONSISTENT_STATE", `git cannot read ${path}; run \`git -C ${path} status\``);
    }
    const [, underWay] = Object.entries(UNDER_WAY).find(([file]) => existsSync(join(directory, file))) ?? [];
    return {
      exists: true,
      uncommitted: status.split("\0").filter((entry) => entry !== "").length,
      unpushed: Number(unpushed),
      underWay,
      agents,
    };
  }

  #agentsIn(path: string): readonly string[] {
    return this.#options.agents().flatMap((agent) => {
      const cwd = agent.server.processes.cwdNow(agent.process.pid);
      return agent.worktree === path || cwd === path || cwd?.startsWith(`${path}/`) === true ? [agent.name] : [];
    });
  }
}

/** @throws AppError WRONG_STATE */
function requireNothingToLose({ name, path, branch }: Worktree, state: WorktreeState): void {
  const { uncommitted, unpushed, underWay, agents } = state;
  const losses = [
    ...(agents.length === 0 ? [] : [`${agents.join(", ")} ${agents.length === 1 ? "runs" : "run"} in it`]),
    ...(underWay === undefined ? [] : [`${underWay} is under way`]),
    ...(uncommitted === 0 ? [] : [`${uncommitted} ${uncommitted === 1 ? "file is" : "files are"} not committed`]),
    ...(unpushed === 0 ? [] : [`${unpushed} ${unpushed === 1 ? "commit is" : "commits are"} on ${branch} alone`]),
  ];
  if (losses.length === 0) return;
  throw new AppError(
    "WRONG_STATE",
    `${name} is kept: ${losses.join(", ")}; look at ${path}, then merge or push it, and try again`,
    {
      details: { state: "in_use", uncommitted, unpushed, agents },
    },
  );
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
