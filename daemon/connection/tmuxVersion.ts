/**
 * The version of the installed tmux, asked once at start-up with `tmux -V`. Versions before 3.2 lack attach flags, pausing
 * and `run-shell -C` (docs/tmuxFacts.md, Versions).
 */
import { AppError } from "../../protocol/errors.ts";
import type { RunProgram } from "../host/runProgram.ts";

const numbered = (major: number, minor: number): number => major * 100 + minor;

const MIN_NAME = "3.2";
const MIN_RELEASE = numbered(3, 2);
/** OpenBSD names its own tmux after the system; 6.9 came with 3.2, a month after it. */
const MIN_OPENBSD = numbered(6, 9);
const REPLY_WITHIN_MS = 5_000;
/** How much of a foreign program's output goes into a message. */
const MAX_REPLY_CHARS = 100;

/**
 * The whole output, for instance `tmux 3.3a`.
 * @throws AppError TMUX_UNAVAILABLE if tmux is missing or too old.
 */
export async function probeTmuxVersion(
  tmux: string,
  env: Readonly<Record<string, string>>,
  run: RunProgram,
): Promise<string> {
  const { failure, stdout } = await run(tmux, ["-V"], env, { timeoutMs: REPLY_WITHIN_MS });
  if (failure !== undefined) {
    const missing = failure.code === "ENOENT";
    throw new AppError(
      "TMUX_UNAVAILABLE",
      missing
        ? `${tmux} is not installed; install tmux ${MIN_NAME} or newer (Debian: \`apt-get install tmux\`, macOS: \`brew install tmux\`)`
        : `${tmux} -V failed: ${failure.message.split("\n")[0]}`,
      { cause: failure, details: { reason: missing ? "tmux_not_installed" : "tmux_fails" } },
    );
  }
  const version = stdout.trim();
  const verdict = judgeVersion(version);
  if (verdict === "supported") return version;
  throw verdict === "too_old" ? tooOld(version) : unknown(tmux, version);
}

/** The version of a program that is known to be tmux; undefined if it reports none. */
export async function askVersion(
  program: string,
  env: Readonly<Record<string, string>>,
  run: RunProgram,
): Promise<string | undefined> {
  const { failure, stdout } = await run(program, ["-V"], env, { timeoutMs: REPLY_WITHIN_MS });
  // Up to 3.3a the output begins with the name it was started as, such as `exe 3.3a`.
  const version = stdout.trim().replace(/^\S+ /, "tmux ");
  return failure === undefined && judgeVersion(version) !== "unknown" ? version : undefined;
}

const tooOld = (version: string): AppError =>
  new AppError(
    "TMUX_UNAVAILABLE",
    `${version} is too old; install tmux ${MIN_NAME} or newer, or put it first on PATH`,
    { details: { reason: "tmux_too_old" } },
  );

const unknown = (tmux: string, reply: string): AppError =>
  new AppError(
    "TMUX_UNAVAILABLE",
    `\`${tmux} -V\` printed ${JSON.stringify(reply.slice(0, MAX_REPLY_CHARS))}, which is not a tmux version; put tmux first on PATH`,
    { details: { reason: "tmux_unknown" } },
  );

/** For the output of `tmux -V`, or `tmux ` followed by `#{version}`. */
type VersionVerdict = "supported" | "too_old" | "unknown";

/**
 * `tmux 3.3a`, `tmux next-3.6`, `tmux openbsd-7.4`, `tmux master`: development builds count as new. Anything that does
 * not name tmux and a version is unknown.
 */
export function judgeVersion(reply: string): VersionVerdict {
  if (reply === "tmux master") return "supported";
  const openbsd = releaseOf(/^tmux openbsd-(.*)$/.exec(reply)?.[1] ?? "");
  if (openbsd !== undefined) return openbsd >= MIN_OPENBSD ? "supported" : "too_old";
  const release = releaseOf(/^tmux (.*)$/.exec(reply)?.[1] ?? "");
  if (release === undefined) return "unknown";
  return release >= MIN_RELEASE ? "supported" : "too_old";
}

/** `3.3a` and `next-3.3` as 303; undefined for a version that names no release, such as `master`. */
export function releaseOf(version: string): number | undefined {
  const match = /^(?:next-)?(\d+)\.(\d+)(?:[a-z]|-rc\d*)?$/.exec(version);
  return match === null ? undefined : numbered(Number(match[1]), Number(match[2]));
}
