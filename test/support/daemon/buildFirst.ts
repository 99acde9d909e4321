/** Before any test file: `dist` is what the sources make, so that files which run side by side find it and leave it alone. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { builtCli } from "./cliBuild.ts";

export default function buildFirst(): void {
  const build = resolve(import.meta.dirname, "../../../build.mjs");
  const { status, stderr } = spawnSync(process.execPath, [build], { encoding: "utf8" });
  if (status === 0) return;
  // Types are the type check's business; here it matters that there is something to run.
  if (!existsSync(builtCli())) throw new Error(`the build failed:\n${stderr}`);
  process.stderr.write(`${stderr}the build failed; the tests run what it has made\n`);
}
