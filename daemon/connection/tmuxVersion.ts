/**
 * Which tmux this is, asked once at start-up: `tmux -V` (one of the few places that may start a process). Everything
 * older than 3.2 lacks attach flags, pausing and `run-shell -C` (docs/tmuxFacts.md, Versions).
 */
import { execFile } from "node:child_process";
import { AppError } from "../../protocol/errors.ts";
import { countSpawn } from "./spawnCount.ts";

const MIN_MAJOR = 3;
const MIN_MINOR = 2;
const ANSWER_WITHIN_MS = 5_000;

/**
 * The whole answer, for instance `tmux 3.3a`.
 * @throws AppError TMUX_UNAVAILABLE when there is no tmux, or it is too old.
 */
export function probeTmuxVersion(tmux: string, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(tmux, ["-V"], { env: { ...env }, timeout: ANSWER_WITHIN_MS }, (error, stdout) => {
      if (error !== null) {
        const missing = error.code === "ENOENT";
        reject(
          new AppError(
            "TMUX_UNAVAILABLE",
            missing
              ? `${tmux} was not found: install tmux ${MIN_MAJOR}.${MIN_MINOR} or newer (Debian: apt-get install tmux, macOS: brew install tmux)`
              : `${tmux} -V failed: ${error.message.split("\n")[0]}`,
            { cause: error, details: { reason: missing ? "tmux_not_installed" : "tmux_fails" } },
          ),
        );
        return;
      }
      const version = stdout.trim();
      if (isSupportedVersion(version)) resolve(version);
      else {
        reject(
          new AppError(
            "TMUX_UNAVAILABLE",
            `${version} is too old: tmuxwire needs tmux ${MIN_MAJOR}.${MIN_MINOR} or newer; upgrade it, or put a newer one first on PATH`,
            { details: { reason: "tmux_too_old" } },
          ),
        );
      }
    });
    countSpawn(child.pid);
  });
}

/** `tmux 3.3a`, `tmux next-3.6`, `tmux openbsd-7.4`, `tmux master`: development builds count as new. */
export function isSupportedVersion(version: string): boolean {
  const match = /^tmux (?:next-)?(\d+)\.(\d+)/.exec(version);
  if (match === null) return /^tmux (master|openbsd-)/.test(version);
  const major = Number(match[1]);
  return major > MIN_MAJOR || (major === MIN_MAJOR && Number(match[2]) >= MIN_MINOR);
}
