import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import {
  createDirectory,
  createPrivate,
  putFile,
  readPrivate,
  replaceKeeping,
  replacePrivate,
} from "../../../../daemon/ops/privateFiles.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

let root: string;
let path: string;
beforeEach(() => {
  root = ownDirectory();
  path = join(root, "file");
});
const modeOf = (name: string): number => statSync(name).mode & 0o777;

test("a private file replaces what is there, a link as well, and leaves nothing beside it", () => {
  writeFileSync(join(root, "other"), "theirs", { mode: 0o644 });
  symlinkSync(join(root, "other"), path);
  replacePrivate(path, "ours");
  expect([readFileSync(path, "utf8"), readFileSync(join(root, "other"), "utf8")]).toEqual(["ours", "theirs"]);
  expect([lstatSync(path).isFile(), modeOf(path)]).toEqual([true, 0o600]);
  expect(readdirSync(root).toSorted()).toEqual(["file", "other"]);
});

test("a private file is created once, and who comes second is told", () => {
  expect([createPrivate(path, "first"), createPrivate(path, "second")]).toEqual([true, false]);
  expect([readFileSync(path, "utf8"), modeOf(path), readdirSync(root)]).toEqual(["first", 0o600, ["file"]]);
});

test("a directory is created with all its files or not at all", () => {
  expect(createDirectory(path, { key: ["k", 0o600] })).toBe(true);
  expect(createDirectory(path, { key: ["other", 0o600] })).toBe(false);
  expect([readFileSync(join(path, "key"), "utf8"), modeOf(path), readdirSync(root)]).toEqual(["k", 0o700, ["file"]]);
  expect(() => createDirectory(join(root, "d"), { "no/such": ["", 0o600] })).toThrow(/ENOENT/);
  expect(readdirSync(root)).toEqual(["file"]);
});

test("a file of others keeps its mode and its link", () => {
  writeFileSync(join(root, "target"), "old", { mode: 0o640 });
  symlinkSync("target", path);
  replaceKeeping(path, "new", 0o666);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect([readFileSync(path, "utf8"), modeOf(path)]).toEqual(["new", 0o640]);
  expect(readdirSync(root).toSorted()).toEqual(["file", "target"]);
});

test("a link to something that is no regular file is left alone", () => {
  execFileSync("mkfifo", [join(root, "fifo")]);
  symlinkSync("fifo", path);
  expect(() => replaceKeeping(path, "new", 0o666)).toThrow("it is not a regular file");
  expect(statSync(path).isFIFO()).toBe(true);
});

test("a file put while the daemon serves is created or replaced, as asked", async () => {
  await putFile(path, "one", { mode: 0o600, creates: true });
  await expect(putFile(path, "two", { mode: 0o600, creates: true })).rejects.toMatchObject({ code: "EEXIST" });
  expect(readFileSync(path, "utf8")).toBe("one");
  await putFile(path, "three", { mode: 0o644, creates: false });
  expect([readFileSync(path, "utf8"), modeOf(path), readdirSync(root)]).toEqual(["three", 0o644, ["file"]]);
});

test("a private file is read with what the reader must judge", () => {
  expect(readPrivate(path)).toBeUndefined();
  writeFileSync(path, "text", { mode: 0o600 });
  expect(readPrivate(path)).toMatchObject({ text: "text", isFile: true, openMode: undefined });
  expect(readPrivate(path, { maxBytes: 3 })).toMatchObject({ text: undefined, isFile: true });
  expect(readPrivate(root)).toMatchObject({ text: undefined, isFile: false });
  writeFileSync(join(root, "open"), "", { mode: 0o644 });
  expect(readPrivate(join(root, "open"))).toMatchObject({ openMode: "0644" });
  symlinkSync(path, join(root, "link"));
  expect(() => readPrivate(join(root, "link"))).toThrow(/ELOOP/);
  expect(readPrivate(join(root, "link"), { followsLinks: true })).toMatchObject({ text: "text" });
});
