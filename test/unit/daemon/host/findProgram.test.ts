import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { findProgram } from "../../../../daemon/host/findProgram.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

let root: string;
beforeEach(() => {
  root = ownDirectory();
  for (const name of ["a", "b", "b/pi"]) mkdirSync(join(root, name));
  for (const name of ["a/pi", "a/notes"]) writeFileSync(join(root, name), "");
  chmodSync(join(root, "a/pi"), 0o755);
  chmodSync(join(root, "a/notes"), 0o644);
});

test("a name is looked for on PATH, a path from the directory; what cannot be executed is none", async () => {
  const [a, b] = [join(root, "a"), join(root, "b")];
  expect(await findProgram("pi", `/nonexistent:${b}:${a}`, "/")).toBe(join(a, "pi"));
  expect(await findProgram("pi", b, "/")).toBeUndefined();
  expect(await findProgram("pi", "", a)).toBe(join(a, "pi"));
  expect(await findProgram("notes", a, "/")).toBeUndefined();
  expect(await findProgram("./pi", "/usr/bin", a)).toBe(join(a, "pi"));
  expect(await findProgram("a/pi", "/usr/bin", root)).toBe(join(a, "pi"));
  expect(await findProgram(join(a, "pi"), "", "/")).toBe(join(a, "pi"));
  expect(await findProgram(join(a, "none"), a, "/")).toBeUndefined();
});
