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
import { isDaemon } from "./daemonWords.ts";
import type * as frequent from "./frequentMain.ts";

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
keepCompiled();
const args = process.argv.slice(2);
// The daemon runs for weeks and needs nothing of what these commands load.
const done = isDaemon(args)
  ? Promise.resolve(undefined)
  : (require("./frequentMain.cjs") as typeof frequent).frequentMain(args);
void done.then((exitCode) =>
  // Exits although handles may be open: a connection that the daemon has not ended yet.
  exitCode === undefined ? import("./tmuxwire.ts") : process.exit(exitCode),
);

/** Node 22 and newer keep what they have compiled, in a directory that is the user's own; where that cannot be, nothing is kept. */
function keepCompiled(): void {
  const { enableCompileCache } = module as { enableCompileCache?: (directory: string) => unknown };
  // No `?.()`: an older Node could not read this file.
  if (enableCompileCache === undefined) return;
  const given = process.env["XDG_CACHE_HOME"];
  const cache = given !== undefined && isAbsolute(given) ? given : join(homedir(), ".cache");
  enableCompileCache(join(cache, "tmuxwire", "compiled"));
}
