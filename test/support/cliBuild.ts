/** The compiled executable, as a user runs it: built once per test file when a source is newer than the last build. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");
const EXECUTABLE = join(ROOT, "dist/adapters/bin/tmuxwire.js");
const BUILD_MARK = join(ROOT, "dist/.tsbuildinfo");

/** Its path. */
export function builtCli(): string {
  const builtMs = existsSync(BUILD_MARK) && existsSync(EXECUTABLE) ? statSync(BUILD_MARK).mtimeMs : 0;
  if (newestSourceMs() >= builtMs) {
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
      cwd: ROOT,
      encoding: "utf8",
    });
    // Types are the type check's business; here it matters that there is something to run.
    if (status !== 0 && !existsSync(EXECUTABLE)) throw new Error(`the build failed:\n${stdout}`);
  }
  return EXECUTABLE;
}

function newestSourceMs(): number {
  const times = ["protocol", "daemon", "adapters"].flatMap((layer) =>
    readdirSync(join(ROOT, layer), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:ts|json)$/.test(name))
      .map((name) => statSync(join(ROOT, layer, name)).mtimeMs),
  );
  return Math.max(...times);
}
