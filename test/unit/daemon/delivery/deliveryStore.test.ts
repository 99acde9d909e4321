/** The bounds of the record of deliveries, and a place that cannot be used. What is once per key: `once.test.ts`. */
import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { DELIVERY_KEPT_MS } from "../../../../daemon/delivery/deliveryLimits.ts";
import { DeliveryStore } from "../../../../daemon/delivery/deliveryStore.ts";
import { DatabaseSync } from "../../../../daemon/ops/sql/sqlite.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

let directory: string;
let path: string;
let nowUnixMs = 1_000_000;
beforeEach(() => {
  directory = ownDirectory();
  path = join(directory, "state", "deliveries.db");
});

const store = (maxRows?: number) => new DeliveryStore({ path, nowUnixMs: () => nowUnixMs, maxRows });
const key = (name: string): readonly [string, string, string] => ["123.456", "%1", name];

function thrownBy(run: () => void): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

test("the oldest go when there are too many", () => {
  const opened = store(50);
  for (let n = 0; n < 250; n += 1) {
    nowUnixMs += 1;
    opened.begin(key(`k-${n}`), "hash");
  }
  expect(opened.find(key("k-0"))).toBeUndefined();
  expect(opened.find(key("k-249"))).toBeDefined();
  opened.close();
});

test("what is older than a day is no longer in the file", () => {
  const before = store();
  before.begin(key("old"), "hash");
  before.close();
  nowUnixMs += DELIVERY_KEPT_MS + 1;
  const opened = store();
  opened.begin(key("newest"), "hash");
  opened.close();
  const database = new DatabaseSync(path);
  expect(database.prepare("SELECT key FROM deliveries").all()).toEqual([{ key: "newest" }]);
  database.close();
});

test("20,000 deliveries are kept", () => {
  const before = store();
  before.begin(key("oldest"), "hash");
  before.close();
  const database = new DatabaseSync(path);
  const row = database.prepare("INSERT INTO deliveries VALUES ('scope', '%1', ?, 'hash', ?, NULL)");
  database.exec("BEGIN");
  for (let n = 0; n <= 20_000; n += 1) row.run(`k-${n}`, nowUnixMs + 1);
  database.exec("COMMIT");
  database.close();
  const opened = store();
  expect(opened.find(key("oldest"))).toBeDefined();
  opened.begin(key("newest"), "hash");
  expect(opened.find(key("oldest"))).toBeUndefined();
  expect(opened.find(["scope", "%1", "k-20000"])).toBeDefined();
  opened.close();
});

test("a place that cannot be used refuses, and says why", () => {
  writeFileSync(join(directory, "state"), "a file where the directory should be");
  expect(thrownBy(() => store().begin(key("k"), "hash"))).toMatchObject({
    code: "RESOURCE_LIMIT",
    details: { reason: "record_failed" },
  });
});

test("the file is opened once, and nothing is left beside it when it is closed", () => {
  const opened = store();
  for (const name of ["a", "b"]) opened.begin(key(name), "hash");
  opened.close();
  expect(readdirSync(dirname(path))).toEqual(["deliveries.db"]);
});

test("one that is closed opens no file", () => {
  const opened = store();
  opened.close();
  expect(thrownBy(() => opened.begin(key("k"), "hash"))).toMatchObject({ code: "SHUTTING_DOWN" });
});
