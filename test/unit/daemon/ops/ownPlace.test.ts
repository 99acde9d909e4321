/** Where a database may be: a place that others cannot change. */
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { closeDatabase } from "../../../../daemon/ops/sql/sqlite.ts";
import { openDatabase } from "../../../../daemon/ops/sql/database.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

let root: string;
beforeEach(() => {
  root = ownDirectory();
});

const open = (path: string) =>
  openDatabase({
    path,
    setting: "--there",
    migrations: ["CREATE TABLE t (x)"],
    nowUnixMs: () => 5,
    onMovedAside: (movedTo) => {
      throw new Error(movedTo);
    },
  });

test("a database is made for us alone, and leaves nothing beside it, whatever statements it had", () => {
  const path = join(root, "state", "d.db");
  const database = open(path);
  database.prepare("INSERT INTO t VALUES (?)").run(1);
  const kept = database.prepare("SELECT x FROM t");
  expect(kept.all()).toHaveLength(1);
  closeDatabase(database);
  expect(readdirSync(join(root, "state"))).toEqual(["d.db"]);
  expect([statSync(join(root, "state")).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
});

test.each<[string, (state: string, path: string) => void, RegExp]>([
  ["a folder that others may write", (state) => chmodSync(state, 0o777), /state is writable by others; run `chmod 700/],
  [
    "a folder that is a link",
    (state) => {
      rmSync(state, { recursive: true });
      mkdirSync(`${state}2`);
      symlinkSync(`${state}2`, state);
    },
    /state is a symbolic link; use the directory it points to/,
  ],
  [
    "a file that is a link",
    (state, path) => symlinkSync(join(state, "x"), path),
    /d\.db is a symbolic link; give .* --there/,
  ],
  [
    "a log that is a link",
    (state, path) => symlinkSync(join(state, "x"), `${path}-wal`),
    /d\.db-wal is a symbolic link/,
  ],
  [
    "a file that others may write",
    (_state, path) => {
      writeFileSync(path, "");
      chmodSync(path, 0o666);
    },
    /d\.db is writable by others and may have been changed/,
  ],
])("%s is refused, and nothing is made", (_what, spoil, message) => {
  const state = join(root, "state");
  mkdirSync(state, { mode: 0o700 });
  const path = join(state, "d.db");
  spoil(state, path);
  const before = readdirSync(root, { recursive: true });
  expect(() => open(path)).toThrow(
    expect.objectContaining({ code: "CONFIGURATION_INVALID", message: expect.stringMatching(message) as string }),
  );
  expect(readdirSync(root, { recursive: true })).toEqual(before);
});
