/** The checks of a start that need neither tmux nor teamd. */
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { promptText } from "../../daemon/delivery/promptText.ts";
import { teamError } from "./teamErrors.ts";

/** @throws AppError invalid_argument */
export function requireSame(earlier: string, digest: string): void {
  if (earlier === digest) return;
  throw teamError("invalid_argument", "idempotencyKey: it belongs to another request; use a fresh one");
}

/** Text that could never be typed is refused before anything is made. @throws AppError invalid_argument */
export function requirePrompt(prompt: string): void {
  try {
    promptText(prompt);
  } catch (error) {
    throw teamError("invalid_argument", `taskPrompt: ${(error as Error).message}`, { cause: error });
  }
}

/** @throws AppError invalid_cwd */
export async function requireDirectory(cwd: string): Promise<void> {
  if (!isAbsolute(cwd) || cwd.includes("\0")) throw teamError("invalid_cwd", "cwd must be an absolute path");
  const stats = await stat(cwd).catch((cause: unknown) => {
    throw teamError("invalid_cwd", `cwd: ${cwd} does not exist`, { cause });
  });
  if (!stats.isDirectory()) throw teamError("invalid_cwd", `cwd: ${cwd} is not a directory`);
}
