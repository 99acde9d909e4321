/** One delivery per key: joined, repeated, undecided after a crash, forgotten when nothing was typed, bounded. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SubmitResult } from "../../../../daemon/delivery/delivery.ts";
import { DELIVERY_KEPT_MS } from "../../../../daemon/delivery/deliveryLimits.ts";
import { DeliveryStore } from "../../../../daemon/delivery/deliveryStore.ts";
import { type Attempt, Idempotency } from "../../../../daemon/delivery/idempotency.ts";
import { DatabaseSync } from "../../../../daemon/ops/sqlite.ts";
import { AppError } from "../../../../protocol/errors.ts";

let directory: string;
let nowUnixMs = 1_000_000;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tmuxwire-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const store = (maxRows?: number) =>
  new DeliveryStore({ path: join(directory, "state", "deliveries.db"), nowUnixMs: () => nowUnixMs, maxRows });

const KEY = { scope: "123.456", pane: "%1", key: "k-1" };
const RESULT: SubmitResult = {
  outcome: "submitted",
  position: { epoch: "e", outputSeq: 7 },
  latencyMs: 80,
  firstByteMs: 1,
  enterMs: 70,
  enterPresses: 1,
  confirmedBy: "screen",
};
const failing = new AppError("WRONG_STATE", "asking", { details: { state: "asking" } });

function setup(opened = store()) {
  const errors: unknown[] = [];
  let deliveries = 0;
  const idempotency = new Idempotency(opened, (error) => errors.push(error));
  const types =
    (outcome: SubmitResult | AppError, wrote = true) =>
    async (attempt: Attempt) => {
      deliveries += 1;
      if (wrote) attempt.beforeFirstWrite();
      attempt.wrote.value = wrote;
      await Promise.resolve();
      if (outcome instanceof AppError) throw outcome;
      return outcome;
    };
  return { opened, errors, types, count: () => deliveries, run: idempotency.run.bind(idempotency) };
}

test("the second asks nothing of the pane, before and after a restart", async () => {
  const first = setup();
  expect(await first.run(KEY, { text: "a" }, first.types(RESULT))).toEqual(RESULT);
  const repeated = { ...RESULT, repeated: true };
  expect(await first.run(KEY, { text: "a" }, first.types(RESULT))).toEqual(repeated);
  first.opened.close();
  const second = setup();
  expect(await second.run(KEY, { text: "a" }, second.types(RESULT))).toEqual(repeated);
  expect([first.count(), second.count()]).toEqual([1, 0]);
  second.opened.close();
});

test("one that comes meanwhile joins", async () => {
  const { run, types, count, opened } = setup();
  const results = await Promise.all([run(KEY, 1, types(RESULT)), run(KEY, 1, types(RESULT))]);
  expect(results).toEqual([RESULT, { ...RESULT, repeated: true }]);
  expect(count()).toBe(1);
  opened.close();
});

test("begun and never completed is undecided", async () => {
  const first = setup();
  const never = first.run(KEY, 1, (attempt) => {
    attempt.beforeFirstWrite();
    return new Promise(() => undefined);
  });
  expect(never).toBeInstanceOf(Promise);
  first.opened.close();
  const second = setup();
  expect(await second.run(KEY, 1, second.types(RESULT))).toMatchObject({ outcome: "indeterminate", repeated: true });
  expect(second.count()).toBe(0);
  second.opened.close();
});

describe("an error", () => {
  test("after something was typed is remembered", async () => {
    const { run, types, count, opened } = setup();
    await expect(run(KEY, 1, types(failing))).rejects.toBe(failing);
    await expect(run(KEY, 1, types(RESULT))).rejects.toMatchObject({
      code: "WRONG_STATE",
      message: "asking",
      details: { state: "asking", repeated: true },
    });
    expect(count()).toBe(1);
    opened.close();
  });

  test("before is not: the same request may succeed later", async () => {
    const { run, types, opened } = setup();
    await expect(run(KEY, 1, types(failing, false))).rejects.toBe(failing);
    expect(await run(KEY, 1, types(RESULT))).toEqual(RESULT);
    opened.close();
  });

  test("nor is a write that was refused in its own turn", async () => {
    const { run, types, opened } = setup();
    const refused = async (attempt: Attempt): Promise<SubmitResult> => {
      attempt.beforeFirstWrite();
      throw failing;
    };
    await expect(run(KEY, 1, refused)).rejects.toBe(failing);
    expect(await run(KEY, 1, types(RESULT))).toEqual(RESULT);
    opened.close();
  });
});

describe("a key", () => {
  test("belongs to one request, in one pane of one server", async () => {
    const { run, types, count, opened } = setup();
    await run(KEY, { text: "a" }, types(RESULT));
    await expect(run(KEY, { text: "b" }, types(RESULT))).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    for (const other of [{ scope: "123.457" }, { pane: "%2" }, { key: "k-2" }]) {
      expect(await run({ ...KEY, ...other }, { text: "b" }, types(RESULT))).toEqual(RESULT);
    }
    expect(count()).toBe(4);
    opened.close();
  });

  test.each(["", "a b", "é", "x".repeat(256)])("%j is refused", async (key) => {
    const { run, types, opened } = setup();
    await expect(run({ ...KEY, key }, 1, types(RESULT))).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    opened.close();
  });

  test("answers for a day", async () => {
    const { run, types, count, opened } = setup();
    await run(KEY, 1, types(RESULT));
    nowUnixMs += DELIVERY_KEPT_MS + 1;
    expect(await run(KEY, 2, types(RESULT))).toEqual(RESULT);
    expect(count()).toBe(2);
    opened.close();
  });
});

test("the oldest go when there are too many", async () => {
  const { run, types, opened } = setup(store(50));
  for (let n = 0; n < 250; n += 1) {
    nowUnixMs += 1;
    await run({ ...KEY, key: `k-${n}` }, 1, types(RESULT));
  }
  expect(opened.find({ ...KEY, key: "k-0" })).toBeUndefined();
  expect(opened.find({ ...KEY, key: "k-249" })).toBeDefined();
  opened.close();
});

test("what is older than a day is no longer in the file", async () => {
  const before = setup();
  await before.run(KEY, 1, before.types(RESULT));
  before.opened.close();
  nowUnixMs += DELIVERY_KEPT_MS + 1;
  const { run, types, opened } = setup();
  await run({ ...KEY, key: "newest" }, 1, types(RESULT));
  opened.close();
  const database = new DatabaseSync(join(directory, "state", "deliveries.db"));
  expect(database.prepare("SELECT key FROM deliveries").all()).toEqual([{ key: "newest" }]);
  database.close();
});

test("20,000 deliveries are kept", async () => {
  const before = setup();
  await before.run({ ...KEY, key: "oldest" }, 1, before.types(RESULT));
  before.opened.close();
  const database = new DatabaseSync(join(directory, "state", "deliveries.db"));
  const row = database.prepare("INSERT INTO deliveries VALUES ('scope', '%1', ?, 'hash', ?, NULL)");
  database.exec("BEGIN");
  for (let n = 0; n <= 20_000; n += 1) row.run(`k-${n}`, nowUnixMs + 1);
  database.exec("COMMIT");
  database.close();
  const { run, types, opened } = setup();
  expect(opened.find({ ...KEY, key: "oldest" })).toBeDefined();
  await run({ ...KEY, key: "newest" }, 1, types(RESULT));
  expect(opened.find({ ...KEY, key: "oldest" })).toBeUndefined();
  expect(opened.find({ ...KEY, scope: "scope", key: "k-20000" })).toBeDefined();
  opened.close();
});

test("a store that cannot be used lets nothing be typed", async () => {
  writeFileSync(join(directory, "state"), "a file where the directory should be");
  const { run, types, count, opened } = setup();
  await expect(run(KEY, 1, types(RESULT))).rejects.toMatchObject({
    code: "RESOURCE_LIMIT",
    details: { reason: "record_failed" },
  });
  expect(count()).toBe(0);
  opened.close();
});

test("a record that cannot be completed leaves it undecided, and is told to the log", async () => {
  const { run, errors, opened } = setup();
  const result = await run(KEY, 1, async (attempt) => {
    attempt.beforeFirstWrite();
    attempt.wrote.value = true;
    opened.close();
    return RESULT;
  });
  expect(result).toEqual(RESULT);
  expect(errors).toMatchObject([{ code: "SHUTTING_DOWN" }]);
  const again = store();
  expect(again.find(KEY)).toMatchObject({ outcome: undefined });
  again.close();
});
