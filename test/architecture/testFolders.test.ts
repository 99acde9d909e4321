/** Which tests need what is built, or a browser: those of test/programs and test/load, so that `npm test` needs neither. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const TEST = resolve(import.meta.dirname, "..");
const BUILT = ["support/daemon/cliBuild.ts", "support/page/browser.ts"].map((file) => join(TEST, file));

/** The files of test/ that this one imports, and those that they import. */
function reached(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(/\bfrom "(\.[^"]+)"/g)) {
    const target = resolve(dirname(file), specifier);
    if (target.startsWith(`${TEST}/`)) reached(target, found);
  }
  return found;
}

const filesOf = (folder: string): readonly string[] =>
  readdirSync(join(TEST, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(TEST, folder, name));

const needsBuild = (file: string): boolean => BUILT.some((built) => reached(file).has(built));

test("what runs the built programs or a browser is in test/programs, and nothing else is", () => {
  expect(BUILT.filter((file) => !existsSync(file))).toEqual([]);
  const folders = ["unit", "architecture", "property", "golden", "contract", "live"];
  expect(folders.flatMap(filesOf).filter(needsBuild)).toEqual([]);
  expect(filesOf("programs").filter((file) => !needsBuild(file))).toEqual([]);
});
