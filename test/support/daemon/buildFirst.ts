/**
 * Before any test file: `dist` is what the sources make, so that files which run side by side find it and leave it alone.
 * After the last one: no daemon that a test started still runs.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { eventually } from "../clock/eventually.ts";
import { builtCli } from "./cliBuild.ts";

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
  try {
    await eventually(() => daemonsOfTests().length === 0);
  } catch (error) {
    throw new Error(`tests have left these daemons running: ${daemonsOfTests().join(", ")}`, { cause: error });
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
      return words.includes(builtCli()) && words.includes("serve") && isOfTest;
    } catch {
      // It has ended, or is somebody else's.
      return false;
    }
  });
