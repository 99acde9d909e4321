/** A new directory for the test that runs, gone with everything in it once the test and its hooks are over. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** @param name what its name begins with */
export function ownDirectory(name = "tmuxwire-"): string {
  const path = mkdtempSync(join(tmpdir(), name));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
