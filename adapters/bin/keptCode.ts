/**
 * A CommonJS file that is run with the code which V8 compiled for it the last time: to compile is a quarter of what a
 * frequent command costs. Node's own way (`module.enableCompileCache`, 22 and newer) saves half as much and is for the rest.
 */
import { readFileSync } from "node:fs";
import module from "node:module";
import { dirname } from "node:path";
import { Script } from "node:vm";
import { isOwn, readPrivateBytes } from "../../daemon/ops/privateFiles.ts";

/** The build writes it into the file's first line, after `//`: V8 takes any source of the same length for the same one. */
const DIGEST_LENGTH = 64;
const SUM_LENGTH = 8;
const MAX_KEPT_BYTES = 4_000_000;

interface Loaded {
  readonly exports: unknown;
  /** What to keep at `path`: all that has been compiled until now. Undefined if what is kept there fits. */
  readonly compiled: () => Buffer | undefined;
}

export function loadKept(file: string, path: string): Loaded {
  const source = readFileSync(file, "latin1");
  const digest = source.slice(2, 2 + DIGEST_LENGTH);
  const cachedData = keptFor(digest, path);
  const [head = "", tail = ""] = (module as unknown as { wrapper: readonly string[] }).wrapper;
  const script = new Script(head + source + tail, { filename: file, cachedData });
  const made = { exports: {} as unknown };
  const run = script.runInThisContext() as (...given: readonly unknown[]) => void;
  run.call(made.exports, made.exports, require, made, file, dirname(file));
  return {
    exports: made.exports,
    compiled: () =>
      cachedData !== undefined && script.cachedDataRejected !== true
        ? undefined
        : kept(digest, script.createCachedData()),
  };
}

const kept = (digest: string, code: Buffer): Buffer =>
  Buffer.concat([Buffer.from(digest + sumOf(code), "latin1"), code]);

/**
 * V8 runs code that is damaged, which need not end. What damages a file damages blocks of it, so a word of each 64 bytes is
 * enough; every word would take a millisecond.
 */
function sumOf(code: Buffer): string {
  let sum = 0;
  for (let at = 0; at + 4 <= code.length; at += 64) sum = (Math.imul(sum, 31) + code.readInt32LE(at)) | 0;
  return (sum >>> 0).toString(16).padStart(SUM_LENGTH, "0");
}

/** Only what nobody but this user could have written: it is executed. */
function keptFor(digest: string, path: string): Buffer | undefined {
  try {
    const found = readPrivateBytes(path, { maxBytes: MAX_KEPT_BYTES });
    if (found === undefined || !isOwn(found.uid) || found.openMode !== undefined) return undefined;
    const { bytes } = found;
    // No `?.`: an older Node could not read what this is bundled in.
    if (bytes === undefined) return undefined;
    const code = bytes.subarray(DIGEST_LENGTH + SUM_LENGTH);
    return bytes.toString("latin1", 0, DIGEST_LENGTH + SUM_LENGTH) === digest + sumOf(code) ? code : undefined;
  } catch {
    return undefined;
  }
}
