/** A page as it is shipped, bundled anew for a test file. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ADAPTERS = resolve(import.meta.dirname, "../../../adapters");

export type PageName = "dashboard" | "freshell";

/** Into `directory`. */
function bundlePageInto(name: PageName, directory: string): void {
  const script = join(ADAPTERS, name, "page/bundle.mjs");
  const { status, stderr } = spawnSync(process.execPath, [script, directory], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the page could not be bundled:\n${stderr}`);
}

export interface PageBundle extends Disposable {
  readonly directory: string;
}

/** Into a directory that goes with it. */
export function bundlePage(name: PageName): PageBundle {
  const directory = mkdtempSync(join(tmpdir(), "tmuxwire-page-"));
  bundlePageInto(name, directory);
  return { directory, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}
