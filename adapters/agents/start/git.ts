/**
 * Runs git, for worktrees and nothing else: by argv, with an environment of its own (no `GIT_*` variable of ours reaches
 * it), without hooks and without asking anybody anything, for a bounded time.
 */
import type { RunProgram } from "../../../daemon/host/runProgram.ts";
import { AppError } from "../../../protocol/errors.ts";

interface GitOptions {
  readonly run: RunProgram;
  /** What a pane may have of our environment: it has no `GIT_*`. */
  readonly env: Readonly<Record<string, string>>;
}

/** A checkout of a large repository takes a while. */
const CHECKOUT_MS = 120_000;
const QUESTION_MS = 10_000;
const MAX_OUTPUT_BYTES = 8_388_608;

/** A hook or a file system monitor of the repository would be another program. */
const WITHOUT_PROGRAMS = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"] as const;

export class Git {
  readonly #run: RunProgram;
  readonly #env: Readonly<Record<string, string>>;

  constructor({ run, env }: GitOptions) {
    this.#run = run;
    // `LC_ALL`: its messages are shown, and compared with none. No locks: the user's own git never waits for a question.
    this.#env = { ...env, LC_ALL: "C", GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0" };
  }

  /** What it prints, or undefined if it says no. @throws AppError TIMEOUT, RESOURCE_LIMIT, NOT_FOUND if there is no git */
  async ask(directory: string, args: readonly string[]): Promise<string | undefined> {
    const { failure, stdout } = await this.#git(directory, args, QUESTION_MS);
    return failure === undefined ? stdout : undefined;
  }

  /** @throws AppError INCONSISTENT_STATE with git's own words */
  async do(directory: string, args: readonly string[]): Promise<void> {
    const { failure } = await this.#git(directory, args, CHECKOUT_MS);
    if (failure === undefined) return;
    // Node puts the command into the first line, and what the program has said behind it.
    const said = failure.message.split("\n").slice(1).join(" ").trim();
    throw new AppError("INCONSISTENT_STATE", `git ${args[0]} failed: ${said === "" ? failure.message : said}`);
  }

  async #git(directory: string, args: readonly string[], timeoutMs: number): ReturnType<RunProgram> {
    const limits = { timeoutMs, maxBytes: MAX_OUTPUT_BYTES };
    const end = await this.#run("git", ["-C", directory, ...WITHOUT_PROGRAMS, ...args], this.#env, limits);
    const code = String(end.failure?.code);
    switch (code) {
      case "ENOENT":
        throw new AppError(
          "NOT_FOUND",
          "there is no git on the daemon's PATH; install it, or start without a worktree",
        );
      case "ETIMEDOUT":
        throw new AppError("TIMEOUT", `git ${args[0]} did not end within ${timeoutMs / 1_000} s in ${directory}`);
      case "ERR_CHILD_PROCESS_STDIO_MAXBUFFER":
        throw new AppError(
          "RESOURCE_LIMIT",
          `git ${args[0]} printed more than ${MAX_OUTPUT_BYTES} bytes in ${directory}`,
        );
    }
    return end;
  }
}
