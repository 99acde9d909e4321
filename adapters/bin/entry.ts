#!/usr/bin/env node
/**
 * The executable (`tmuxwire.cjs`): the frequent commands first, then everything else. It is CommonJS, because Node loads
 * its loader of modules only for those. What it loads comes after the check of Node's version: an older one would end in an
 * unrelated stack trace.
 */
import module from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import process from "node:process";
import type * as frequent from "./frequentMain.ts";
import { isFrequent } from "./frequentWords.ts";
import { loadKept } from "./keptCode.ts";

/** `engines` in package.json. */
const OLDEST_NODE = [20, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  const needed = OLDEST_NODE.join(".");
  process.stderr.write(
    `tmuxwire: needs Node ${needed} or newer, this is ${process.versions.node}: install a newer one\n`,
  );
  process.exit(1);
}
const args = process.argv.slice(2);
const { XDG_CACHE_HOME: given } = process.env;
const cache = given !== undefined && isAbsolute(given) ? given : join(homedir(), ".cache");
const kept = join(cache, "tmuxwire", "compiled");
const [name] = args;
// Everything else, and above all the daemon, which runs for weeks, needs nothing of what these commands load.
if (isFrequent(name)) {
  const path = join(kept, `${name}-${process.version}-${process.arch}`);
  const { exports, compiled } = loadKept(join(import.meta.dirname, "frequentMain.cjs"), path);
  const { frequentMain, keepCode } = exports as typeof frequent;
  void frequentMain(args).then((exitCode) => {
    if (exitCode === undefined) return runRest();
    const code = compiled();
    if (code !== undefined) keepCode(path, code);
    // Exits although handles may be open: a connection that the daemon has not ended yet.
    process.exit(exitCode);
  });
} else void runRest();

/** Node 22 and newer keep what they have compiled of it; where that cannot be, nothing is kept. */
function runRest(): Promise<unknown> {
  const { enableCompileCache } = module as { enableCompileCache?: (directory: string) => unknown };
  // No `?.()`: an older Node could not read this file.
  if (enableCompileCache !== undefined) enableCompileCache(kept);
  return import("./tmuxwire.ts");
}
