/** Files that outlive the daemon: an older version's are migrated and a copy is kept, a newer version's are refused. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { readHosts } from "../../../../adapters/remote/hostBook.ts";
import { sessionFile } from "../../../../adapters/freshell/tokens/credentials.ts";
import { silentLog } from "../../../../bench/silentLog.ts";
import { openDatabase, requireKnownVersion } from "../../../../daemon/ops/sql/database.ts";
import { closeDatabase, DatabaseSync, pragma } from "../../../../daemon/ops/sql/sqlite.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

let directory: string;
beforeEach(() => {
  directory = ownDirectory();
});

const MIGRATIONS = ["CREATE TABLE t (x)", "ALTER TABLE t ADD COLUMN y", "CREATE TABLE u (z)"];

const open = (path: string, versions: number) =>
  openDatabase({
    path,
    setting: "--there",
    migrations: MIGRATIONS.slice(0, versions),
    nowUnixMs: () => 5,
    onMovedAside: (movedTo) => {
      throw new Error(movedTo);
    },
  });

describe("a database", () => {
  test("of an older version is migrated, and a copy of it as it was is kept", () => {
    const path = join(directory, "it's.db");
    const old = open(path, 1);
    old.exec("INSERT INTO t VALUES (7)");
    closeDatabase(old);
    expect(readdirSync(directory)).toEqual(["it's.db"]);
    const migrated = open(path, 3);
    expect(migrated.prepare("SELECT x, y FROM t").all()).toEqual([{ x: 7, y: null }]);
    migrated.exec("INSERT INTO t VALUES (8, 9)");
    closeDatabase(migrated);
    expect(readdirSync(directory).toSorted()).toEqual(["it's.db", "it's.db.version-1"]);
    const copy = join(directory, "it's.db.version-1");
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    // Whoever goes back to the older version puts it in place.
    const back = open(copy, 1);
    expect(back.prepare("SELECT * FROM t").all()).toEqual([{ x: 7 }]);
    closeDatabase(back);
    // The same version again: nothing to migrate, nothing to keep.
    closeDatabase(open(path, 3));
    expect(readdirSync(directory)).toHaveLength(2);
  });

  test("that a migration was cut short is migrated again, from a copy that is whole", () => {
    const path = join(directory, "d.db");
    closeDatabase(open(path, 2));
    writeFileSync(`${path}.version-2`, "half a copy");
    closeDatabase(open(path, 3));
    const copy = new DatabaseSync(`${path}.version-2`);
    expect(pragma(copy, "user_version")).toBe(2);
    copy.close();
  });

  test("of a newer version is refused, and stays as it is", () => {
    const path = join(directory, "d.db");
    closeDatabase(open(path, 3));
    const before = readFileSync(path);
    const refusal = {
      code: "INCONSISTENT_STATE",
      message: expect.stringMatching(
        /d\.db was written by a newer tmuxwire \(version 3 of the file; this one knows 2\): /,
      ) as string,
      details: { reason: "newer_version" },
    };
    expect(() => open(path, 2)).toThrow(expect.objectContaining(refusal) as Error);
    expect(() => requireKnownVersion(path, MIGRATIONS.slice(0, 2))).toThrow(expect.objectContaining(refusal) as Error);
    expect(() => requireKnownVersion(path, MIGRATIONS)).not.toThrow();
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(directory)).toEqual(["d.db"]);
  });

  test("says its version in its header while a daemon that was killed has left a log beside it", () => {
    const path = join(directory, "d.db");
    closeDatabase(open(path, 1));
    // Not closed: as a daemon that is killed leaves it.
    const killed = open(path, 3);
    expect(() => requireKnownVersion(path, MIGRATIONS.slice(0, 2))).toThrow("newer tmuxwire");
    killed.close();
  });

  test.each<[string, string | undefined]>([
    ["is not there", undefined],
    ["is short", "SQLite"],
    ["is none", "x".repeat(200)],
  ])("that %s is for whoever opens it", (_, content) => {
    const path = join(directory, "d.db");
    if (content !== undefined) writeFileSync(path, content);
    expect(() => requireKnownVersion(path, [])).not.toThrow();
  });
});

describe("a list in JSON of a newer version is refused, and stays as it is", () => {
  const content = JSON.stringify({ version: 2, hosts: "what this version cannot know", bootstrap: "", sessions: {} });
  test.each<[string, (path: string) => unknown]>([
    ["hosts", readHosts],
    ["Freshell's sessions", (path) => sessionFile({ path, token: "t", log: silentLog }).read()],
  ])("%s", (_, read) => {
    const path = join(directory, "list.json");
    writeFileSync(path, content, { mode: 0o600 });
    expect(() => read(path)).toThrow(
      /list\.json was written by a newer tmuxwire \(version 2 of the file; this one knows 1\)/,
    );
    expect(readFileSync(path, "utf8")).toBe(content);
  });
});
