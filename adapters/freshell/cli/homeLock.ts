/**
 * Mutexes of this command line's processes: files in `~/.freshell` that name a process. One left by a dead process is taken
 * over.
 */
import { lstatSync, rmSync } from "node:fs";
import { join } from "node:path";
import { nodeProcesses } from "../../../daemon/host/nodeSystem.ts";
import { procfs } from "../../../daemon/host/procfs.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { AppError } from "../../../protocol/errors.ts";
import { createPrivate } from "../../../daemon/ops/privateFiles.ts";
import { fieldsOf, parseJson } from "../../../protocol/text/jsonObject.ts";
import type { Io } from "../../cli/cliIo.ts";
import { newId } from "../newId.ts";
import { attempt, changed, freshellHome, readText, unusable } from "./deviceIdentity.ts";

/** For one holder: a command holds it for a fraction of a second. Many in a row may take longer. */
const HELD_MS = 5_000;

interface Holder {
  readonly pid: number;
  /** Start time: with the pid it identifies a process, since pids are reused. Empty where unknown. */
  readonly start: string;
  readonly isResident: boolean;
}

interface HomeLock {
  release(): void;
}

/** For as long as `run` takes. @throws as `takeLock` */
export async function withLock<Result>(io: Io, name: string, run: () => Promise<Result>): Promise<Result> {
  const lock = await takeLock(io, name);
  try {
    return await run();
  } finally {
    lock?.release();
  }
}

/**
 * Waits for its turn. Undefined: a process has it that keeps it as long as it runs (`isResident`).
 * @throws AppError RESOURCE_LIMIT, INTERNAL_ERROR; what `io.signal` aborts with
 */
export async function takeLock(io: Io, name: string, isResident = false): Promise<HomeLock | undefined> {
  const folder = freshellHome(io);
  const path = join(folder, name);
  const ours = textOf(isResident);
  let [held, sinceMs] = ["", 0];
  for (;;) {
    io.signal.throwIfAborted();
    if (attempt(path, "created", () => createPrivate(path, ours))) return { release: () => removeIf(path, ours) };
    const text = contentOf(path);
    if (text === undefined) continue;
    const holder = holderIn(text);
    if (holder === undefined || isGone(holder)) {
      takeAway(path, text);
      continue;
    }
    if (holder.isResident) return undefined;
    if (text !== held) [held, sinceMs] = [text, systemClock.nowMs()];
    if (systemClock.nowMs() - sinceMs >= HELD_MS) {
      throw new AppError(
        "RESOURCE_LIMIT",
        `process ${holder.pid} has held ${path} for ${HELD_MS / 1_000} s: try again, or end that process`,
        { details: { pid: holder.pid } },
      );
    }
    await changed(folder, name);
  }
}

/** Unique, so that a waiter notices a new holder. */
const textOf = (isResident: boolean): string =>
  `${JSON.stringify({ pid: process.pid, start: startOf(process.pid), isResident, id: newId() })}\n`;

const startOf = (pid: number): string => procfs().statNow(pid)?.start ?? "";

const isGone = ({ pid, start }: Holder): boolean =>
  nodeProcesses.isAlive(pid) === false || (start !== "" && startOf(pid) !== start);

/** Undefined when it has been released meanwhile. @throws AppError INTERNAL_ERROR */
function contentOf(path: string): string | undefined {
  // Through a link we would read, and remove, somebody else's file.
  const found = attempt(path, "read", () => lstatSync(path, { throwIfNoEntry: false }));
  if (found === undefined) return undefined;
  if (!found.isFile()) throw unusable(path, "is not a regular file: remove it");
  return readText(path);
}

function holderIn(text: string): Holder | undefined {
  const { pid, start, isResident } = fieldsOf(parseJson(text)) ?? {};
  const isWhole = Number.isSafeInteger(pid) && (pid as number) > 0 && typeof start === "string";
  return isWhole ? { pid: pid as number, start, isResident: isResident === true } : undefined;
}

/**
 * Removes a dead process's lock, guarded by a second file: of two processes that both find it stale, the second would
 * otherwise remove the first one's new lock. The holder of the guard checks again before it removes.
 */
function takeAway(path: string, text: string): void {
  const guard = `${path}.stale`;
  if (!createPrivate(guard, textOf(false))) {
    const other = contentOf(guard);
    const holder = other === undefined ? undefined : holderIn(other);
    if (other !== undefined && (holder === undefined || isGone(holder))) removeIf(guard, other);
    return;
  }
  try {
    removeIf(path, text);
  } finally {
    rmSync(guard, { force: true });
  }
}

function removeIf(path: string, text: string): void {
  if (contentOf(path) === text) rmSync(path, { force: true });
}
