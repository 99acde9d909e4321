#!/usr/bin/env node
/**
 * The second executable: the command line of a Freshell server. It speaks HTTP and never loads the daemon. As with
 * `tmuxwire.ts`, everything is loaded after the check of Node's version. Nothing is shared before that: a module of both
 * would make the bundle begin with a chunk, which an old Node may not parse.
 */
import process from "node:process";

/** `engines` in package.json. */
const OLDEST_NODE = [20, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  const needed = OLDEST_NODE.join(".");
  process.stderr.write(
    `freshell: needs Node ${needed} or newer, this is ${process.versions.node}: install a newer one\n`,
  );
  process.exit(1);
}

const { freshellMain } = await import("./freshellMain.ts");
const exitCode = await freshellMain();
// Exits although handles may be open, as `tmuxwire` does.
process.exit(exitCode);
