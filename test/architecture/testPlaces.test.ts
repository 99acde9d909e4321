/** A unit test stands where its source does: `daemon/panes/input/keys.ts`, `test/unit/daemon/panes/input/keys.test.ts`. */
import { readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const UNIT = join(ROOT, "test/unit");

const filesIn = (folder: string): readonly string[] => readdirSync(folder, { recursive: true, encoding: "utf8" });
const nameOf = (path: string): string => basename(path).replace(/(?:\.test)?\.tsx?$/, "");

test("a unit test that is named after a source is in the folder of its name", () => {
  const folders = new Map(
    ["protocol", "daemon", "adapters"].flatMap((layer) =>
      filesIn(join(ROOT, layer))
        .filter((path) => /\.tsx?$/.test(path))
        .map((path) => [nameOf(path), join(layer, dirname(path))] as const),
    ),
  );
  const tests = filesIn(UNIT).filter((path) => path.endsWith(".test.ts"));
  const placed = tests.filter((path) => folders.has(nameOf(path)));
  expect(placed.length).toBeGreaterThan(120);
  expect(placed.filter((path) => dirname(path) !== folders.get(nameOf(path)))).toEqual([]);
});

test("every other unit test is in a folder of the product", () => {
  const missing = filesIn(UNIT)
    .filter((path) => path.endsWith(".test.ts"))
    .filter((path) => filesIn(join(ROOT, dirname(path))).length === 0);
  expect(missing).toEqual([]);
});
