/**
 * Builds `dist` unless it is what these sources make: `npm run build`, and by itself before `npm start` and after `npm ci`.
 * Compared is what the files hold, not when they were written: a checkout writes old files with new times, and unpacking
 * new ones with old times. A build that fails leaves no mark and one that is ended leaves `dist` alone, so that it is done again.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const ROOT = import.meta.dirname;
if (ROOT === undefined) {
  process.stderr.write(`tmuxwire: needs Node 20.19 or newer, this is ${process.versions.node}: install a newer one\n`);
  process.exit(1);
}
const DIST = join(ROOT, "dist");
const MARK = join(DIST, ".built");
const EXECUTABLE = join(DIST, "adapters/bin/tmuxwire.js");
const FOLDERS = ["protocol", "daemon", "adapters", "bench"];
/** The lock file stands for the packages that are bundled. */
const FILES = [
  "build.mjs",
  "bundleAgents.mjs",
  "bundleFacts.mjs",
  "bundlePrograms.mjs",
  "plainTypes.mjs",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "test/support/daemon/daemonChild.ts",
  "test/support/daemon/linkChild.ts",
  "test/support/tmux/guestEngine.ts",
];

const sources = digest();
if (!existsSync(EXECUTABLE) || !existsSync(MARK) || readFileSync(MARK, "utf8") !== sources) {
  // Beside the one that programs may be running from; and what an earlier build has left there would be shipped.
  const made = `${DIST}.${process.pid}`;
  const statuses = await Promise.all([
    run(["bundlePrograms.mjs", made]),
    run(["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", made], ["plainTypes.mjs", made]),
    run(["adapters/dashboard/page/bundle.mjs", join(made, "adapters/dashboard/page")]),
    run(["adapters/freshell/page/bundle.mjs", join(made, "adapters/freshell/page")]),
  ]);
  const failed = statuses.find((status) => status !== 0);
  if (failed === undefined) writeFileSync(join(made, ".built"), sources);
  const old = `${made}.old`;
  if (existsSync(DIST)) renameSync(DIST, old);
  renameSync(made, DIST);
  rmSync(old, { recursive: true, force: true });
  if (failed !== undefined) process.exit(failed ?? 1);
}

function digest() {
  const found = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const hash = createHash("sha256");
  for (const path of [...found, ...FILES.map((name) => join(ROOT, name))].sort(byName)) {
    const bytes = readFileSync(path);
    // Its length keeps one file's end from being read as the next one's beginning.
    hash.update(`${path.slice(ROOT.length)}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

function byName(one, other) {
  return one < other ? -1 : 1;
}

/** What it says goes to stderr, so that the build says nothing on the stdout of whoever asked for something else. */
async function run(args, ...next) {
  const [status] = await once(spawn(process.execPath, args, { cwd: ROOT, stdio: [0, 2, 2] }), "close");
  return status === 0 && next.length > 0 ? run(...next) : status;
}
