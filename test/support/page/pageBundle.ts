/** The dashboard's page as it is shipped, bundled anew for a test file. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const BUNDLE = resolve(import.meta.dirname, "../../../adapters/dashboard/page/bundle.mjs");

/** Into `directory`. */
function bundlePageInto(directory: string): void {
  const { status, stderr } = spawnSync(process.execPath, [BUNDLE, directory], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the page could not be bundled:\n${stderr}`);
}

export interface PageBundle extends Disposable {
  readonly directory: string;
}

/** Into a directory that goes with it. */
export function bundlePage(): PageBundle {
  const directory = mkdtempSync(join(tmpdir(), "tmuxwire-page-"));
  bundlePageInto(directory);
  return { directory, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}
