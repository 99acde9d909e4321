/**
 * What is checked out in a directory, from git's own files, without starting git: `.git` of the directory or of one above
 * it, which in a worktree is a file that names the place (gitrepository-layout(5)). Answers come from memory; `refresh`
 * reads again what is older than a moment, without blocking: a directory may be on a network that does not respond.
 */
import { constants } from "node:fs";
import { open, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Clock } from "../../../daemon/time/clock.ts";

/** How old an answer may be. */
const FRESH_MS = 2_000;
/** Directories above that are searched. */
const MAX_ABOVE = 32;
/** A HEAD is one line; a branch's name is a path of at most this length. */
const MAX_HEAD_BYTES = 4_096;
/** Directories that are remembered: more than agents run in. */
const MAX_KEPT = 1_024;
/** As git shortens them when there are few objects. */
const SHORT_HASH = 7;

interface Head {
  branch: string | undefined;
  readMs: number;
  reading: Promise<void> | undefined;
}

export class GitHeads {
  readonly #clock: Clock;
  readonly #heads = new Map<string, Head>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As it was when it was last read. */
  at(directory: string): string | undefined {
    return this.#heads.get(directory)?.branch;
  }

  /** Resolves when all are fresh. Never rejects. */
  async refresh(directories: Iterable<string>): Promise<void> {
    const stale: Promise<void>[] = [];
    for (const directory of new Set(directories)) {
      const head = this.#headOf(directory);
      if (this.#clock.nowMs() - head.readMs < FRESH_MS) continue;
      head.reading ??= this.#read(directory, head);
      stale.push(head.reading);
    }
    await Promise.all(stale);
  }

  async #read(directory: string, head: Head): Promise<void> {
    head.branch = await checkedOutAt(directory).catch(() => undefined);
    head.readMs = this.#clock.nowMs();
    head.reading = undefined;
  }

  #headOf(directory: string): Head {
    const known = this.#heads.get(directory);
    if (known !== undefined) return known;
    for (const [oldest] of this.#heads) {
      if (this.#heads.size < MAX_KEPT) break;
      this.#heads.delete(oldest);
    }
    const head: Head = { branch: undefined, readMs: -Infinity, reading: undefined };
    this.#heads.set(directory, head);
    return head;
  }
}

/** A branch, or a commit's short hash; undefined outside a repository. */
async function checkedOutAt(directory: string): Promise<string | undefined> {
  let at = directory;
  for (let above = 0; above < MAX_ABOVE; above += 1) {
    const place = await gitDirectoryIn(at);
    if (place !== undefined) return headIn((await readStart(join(place, "HEAD"))) ?? "");
    if (dirname(at) === at) return undefined;
    at = dirname(at);
  }
  return undefined;
}

async function gitDirectoryIn(directory: string): Promise<string | undefined> {
  const path = join(directory, ".git");
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (found.isDirectory()) return path;
  const [, place] = /^gitdir: (.+?)\n?$/.exec((await readStart(path)) ?? "") ?? [];
  return place === undefined ? undefined : resolve(directory, place);
}

function headIn(text: string): string | undefined {
  const [, branch] = /^ref: refs\/heads\/(\S+)\n?$/.exec(text) ?? [];
  // With reftables it stands elsewhere: no branch can be called so.
  if (branch !== undefined) return branch === ".invalid" ? undefined : branch;
  return /^[0-9a-f]{40,64}\n?$/.test(text) ? text.slice(0, SHORT_HASH) : undefined;
}

/** Undefined for what is no regular file. */
async function readStart(path: string): Promise<string | undefined> {
  // Without O_NONBLOCK, opening a FIFO would wait for its other end.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    if (!(await file.stat()).isFile()) return undefined;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_HEAD_BYTES), 0, MAX_HEAD_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
