/** The package's version, from the package.json next to the compiled or tested sources. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export function packageVersion(): string {
  for (let at = import.meta.dirname; ; at = dirname(at)) {
    const path = join(at, "package.json");
    if (existsSync(path)) return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
    if (at === dirname(at)) return "unknown";
  }
}
