/**
 * Before any test file: `dist` is what the sources make, so that files which run side by side find it and leave it alone.
 * After the last one: no daemon that a test started still runs.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { eventually } from "../clock/eventually.ts";
import { builtCli } from "./cliBuild.ts";

/** A test that has hit its time limit leaves its daemon behind, and no limit ends what runs after the tests. */
const ENDED_WITHIN_MS = 20_000;

export default function buildFirst(): () => Promise<void> {
  build();
  return requireNoDaemons;
}

function build(): void {
  const script = resolve(import.meta.dirname, "../../../build.mjs");
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: "utf8" });
  if (status === 0) return;
  // Types are the type check's business; here it matters that there is something to run.
  if (!existsSync(builtCli())) throw new Error(`the build failed:\n${stderr}`);
  process.stderr.write(`${stderr}the build failed; the tests run what it has made\n`);
}

/** Where there is no /proc, nobody can tell. */
async function requireNoDaemons(): Promise<void> {
  if (!existsSync("/proc/self/environ")) return;
  const givenUpMs = Date.now() + ENDED_WITHIN_MS;
  await eventually(() => daemonsOfTests().length === 0 || Date.now() > givenUpMs, 20);
  const left = daemonsOfTests();
  for (const pid of left) process.kill(Number(pid), "SIGTERM");
  if (left.length > 0) throw new Error(`tests have left these daemons running: ${left.join(", ")}`);
}

/** Tests that run beside these have daemons of their own: what has a parent that is neither ours nor init is theirs. */
function isOfOthers(pid: string): boolean {
  for (let at = pid; ;) {
    const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${at}/status`, "latin1"))?.[1] ?? "0";
    if (Number(parent) <= 1) return at !== pid;
    if (Number(parent) === process.pid) return false;
    at = parent;
  }
}

/** Their homes are below the system's temporary directory; a daemon that a person runs has another one. */
const daemonsOfTests = (): readonly string[] =>
  readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0");
      const environment = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
      const isOfTest = environment.some((one) => one.startsWith(`HOME=${join(tmpdir(), "tw-")}`));
      // What starts a daemon by itself names the other of the two executables.
      const isOurs = words.some((word) => dirname(word) === dirname(builtCli()));
      return isOurs && words.includes("serve") && isOfTest && !isOfOthers(pid);
    } catch {
      // It has ended, or is somebody else's.
      return false;
    }
  });
