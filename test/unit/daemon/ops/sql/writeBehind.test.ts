/** Writes behind: in order, one transaction a turn, kept while the database takes none, bounded in bytes. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLog } from "../../../../../bench/silentLog.ts";
import { type Database, DatabaseSync } from "../../../../../daemon/ops/sql/sqlite.ts";
import { WriteBehind } from "../../../../../daemon/ops/sql/writeBehind.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

let database: Database;
let clock: FakeClock;
let writes: WriteBehind;
beforeEach(() => {
  database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE kept (word TEXT)");
  clock = new FakeClock();
  writes = new WriteBehind({
    database,
    owner: "dashboard",
    isShared: false,
    maxPendingBytes: 100,
    whenFull: "refuse",
    clock,
    log: silentLog,
  });
});
afterEach(() => {
  writes.close();
  database.close();
});

const add = (word: string, bytes = 10): void =>
  writes.add(() => void database.prepare("INSERT INTO kept VALUES (?)").run(word), bytes);
const kept = (): readonly unknown[] =>
  database
    .prepare("SELECT word FROM kept")
    .all()
    .map((row) => (row as { word: string }).word);

test("writes of a turn are made at its end, in their order", async () => {
  add("one");
  add("two");
  expect(kept()).toEqual([]);
  await Promise.resolve();
  expect(kept()).toEqual(["one", "two"]);
});

test("writes past the bound are made at once, and refused only while the database takes none", () => {
  for (let each = 0; each < 11; each += 1) add(`${each}`);
  expect(kept()).toHaveLength(10);
  writes.flush();
  expect(kept()).toHaveLength(11);
  database.exec("PRAGMA query_only = ON");
  for (let each = 0; each < 10; each += 1) add("later");
  expect(() => add("refused")).toThrow(/^The dashboard's database cannot be written; nothing was done\./);
  expect(() => writes.requireWritable()).toThrow(expect.objectContaining({ code: "RESOURCE_LIMIT" }) as Error);
  database.exec("PRAGMA query_only = OFF");
  clock.advanceMs(1_000);
  expect(kept()).toHaveLength(21);
  writes.requireWritable();
  add("not refused", 100);
});

test("a write that fails with others is made with them later, each once", () => {
  let isBroken = true;
  add("before");
  writes.add(() => {
    if (isBroken) throw new Error("no");
  }, 10);
  writes.flush();
  expect(kept()).toEqual([]);
  isBroken = false;
  add("after");
  clock.advanceMs(50);
  expect(kept()).toEqual(["before", "after"]);
});
