/** One run per key, over every store: joined, repeated, refused, forgotten, bounded in age, known after a restart. */
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { AGENT_MIGRATIONS } from "../../../../adapters/agents/running/agentStore.ts";
import { KEEP_ANSWERS_MS } from "../../../../adapters/dashboard/dashboardLimits.ts";
import { INTERRUPTED } from "../../../../adapters/dashboard/respond/failures.ts";
import { answersOf } from "../../../../adapters/dashboard/respond/answerKeys.ts";
import { MIGRATIONS } from "../../../../adapters/dashboard/store/schema.ts";
import { DashboardStore } from "../../../../adapters/dashboard/store/store.ts";
import { RESULTS_KEPT_MS } from "../../../../adapters/freshell/freshellLimits.ts";
import { ResultFile } from "../../../../adapters/freshell/relay/resultFile.ts";
import { DELIVERY_KEPT_MS } from "../../../../daemon/delivery/deliveryLimits.ts";
import { DeliveryStore } from "../../../../daemon/delivery/deliveryStore.ts";
import { openDatabase } from "../../../../daemon/ops/sql/database.ts";
import { OnceTable } from "../../../../daemon/ops/sql/onceTable.ts";
import { preparing } from "../../../../daemon/ops/sql/table.ts";
import { Once, type OnceKey, OnceMemory, type OnceStore } from "../../../../daemon/ops/once.ts";
import { silentLog } from "../../../../bench/silentLog.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

let directory: string;
let nowMs = 0;
beforeEach(() => {
  directory = ownDirectory();
  nowMs = 1_000_000;
});

interface Opened {
  readonly store: OnceStore<unknown>;
  readonly close: () => void;
}

interface Row {
  readonly name: string;
  readonly open: () => Opened;
  readonly key: OnceKey;
  readonly other: OnceKey;
  readonly result: unknown;
  /** Of a result that outlives the process. */
  readonly outlives: boolean;
  /** Of a run whose process was killed, where beginnings are noted. */
  readonly unknown?: unknown;
  /** Where age counts while it is open. */
  readonly keptMs?: number;
}

function openAnswers(): Opened {
  const place = { path: join(directory, "d.db"), setting: "X", migrations: MIGRATIONS, nowUnixMs: () => nowMs };
  const database = openDatabase({ ...place, onMovedAside: () => undefined });
  const store = new DashboardStore({ database, clock: new FakeClock(), nowUnixMs: () => nowMs, log: silentLog });
  const project = { id: 1, name: "p", path: "/p", branch: undefined };
  store.save("projects", project);
  store.save("agents", { id: 7, sessionUuid: "u", projectId: 1, startedUnixMs: nowMs, lastSeenUnixMs: nowMs });
  return { store: answersOf(store, () => nowMs), close: () => store.close() };
}

const at = (store: object, close: () => void = () => undefined): Opened => ({
  store: store as OnceStore<unknown>,
  close,
});

const ROWS: readonly Row[] = [
  {
    name: "memory",
    open: () => at(new OnceMemory({ maxEntries: 10, keptMs: 1_000, nowMs: () => nowMs })),
    key: ["device", "r-1"],
    other: ["device", "r-2"],
    result: { made: 1 },
    outlives: false,
    keptMs: 1_000,
  },
  {
    name: "a file of results",
    open: () => {
      const path = join(directory, "results.jsonl");
      const file = new ResultFile({ path, nowUnixMs: () => nowMs, clock: new FakeClock(), log: silentLog });
      return at(file, () => file.close());
    },
    key: ["k-1"],
    other: ["k-2"],
    result: { ok: true, result: { paneId: "p" }, appliedRevision: 3 },
    outlives: true,
    keptMs: RESULTS_KEPT_MS,
  },
  {
    name: "the dashboard's answers",
    open: openAnswers,
    key: [7, "k-1"],
    other: [7, "k-2"],
    result: { status: 200, body: { status: "ok" }, isKept: true },
    outlives: true,
    unknown: INTERRUPTED,
    keptMs: KEEP_ANSWERS_MS,
  },
  {
    name: "starts of agents",
    open: () => {
      const place = { path: join(directory, "a.db"), setting: "X", nowUnixMs: () => nowMs };
      const database = openDatabase({ ...place, migrations: AGENT_MIGRATIONS, onMovedAside: () => undefined });
      const prepare = preparing(database);
      const table = { prepare, name: "starts", key: ["key"], maxRows: 10, nowUnixMs: () => nowMs };
      return at(new OnceTable<object>(table), () => database.close());
    },
    key: ['["start","k-1"]'],
    other: ['["start","k-2"]'],
    result: { pane: "%1", outcome: "submitted" },
    outlives: true,
  },
  {
    name: "deliveries",
    open: () => {
      const store = new DeliveryStore({ path: join(directory, "state", "d.db"), nowUnixMs: () => nowMs });
      return at(store, () => store.close());
    },
    key: ["1.2", "%1", "k-1"],
    other: ["1.3", "%1", "k-1"],
    result: { kind: "result", result: { outcome: "submitted", latencyMs: 80, enterPresses: 1 } },
    outlives: true,
    unknown: {
      kind: "result",
      result: {
        outcome: "indeterminate",
        position: undefined,
        latencyMs: 0,
        firstByteMs: undefined,
        enterMs: undefined,
        enterPresses: 0,
      },
    },
    keptMs: DELIVERY_KEPT_MS,
  },
];

describe.each(ROWS)("over $name", ({ open, key, other, result, outlives, unknown, keptMs }) => {
  function setup() {
    const { store, close } = open();
    let runs = 0;
    const once = new Once({ store });
    const work = async (begin: () => void): Promise<unknown> => {
      runs += 1;
      begin();
      await Promise.resolve();
      return result;
    };
    return { once, close, work, runs: () => runs };
  }

  test("a repeat joins the run under way, and later gets its result", async () => {
    const { once, close, work, runs } = setup();
    expect(once.earlier(key, "a")).toBeUndefined();
    expect(await Promise.all([once.run(key, "a", work), once.run(key, "a", work)])).toEqual([result, result]);
    expect(await once.earlier(key, "a")).toEqual(result);
    expect(await once.run(key, "a", work)).toEqual(result);
    expect(runs()).toBe(1);
    expect(await once.run(other, "b", work)).toEqual(result);
    expect(runs()).toBe(2);
    close();
  });

  test("a key belongs to one request, while it is under way and afterwards", async () => {
    const { once, close, work, runs } = setup();
    const refusal = { code: "ALREADY_EXISTS", details: { reason: "idempotency_key" } };
    const first = once.run(key, "a", work);
    await expect(once.run(key, "b", work)).rejects.toMatchObject(refusal);
    await first;
    await expect(once.run(key, "b", work)).rejects.toMatchObject(refusal);
    expect(() => once.earlier(key, "b")).toThrow(/another request/);
    expect(runs()).toBe(1);
    close();
  });

  test("a run that failed before it began, and a result that is not to be kept, are forgotten", async () => {
    const { once, close, work, runs } = setup();
    await expect(once.run(key, "a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await once.run(key, "b", work, () => false)).toEqual(result);
    expect(await once.run(key, "c", work)).toEqual(result);
    expect(runs()).toBe(2);
    close();
  });

  test("a result is known after a restart where the store outlives one, and what had begun is unknown", async () => {
    const before = setup();
    await before.once.run(key, "a", before.work);
    void before.once.run(other, "a", (begin) => {
      begin();
      return new Promise(() => undefined);
    });
    before.close();
    const { once, close, work, runs } = setup();
    expect(await once.run(key, "a", work)).toEqual(result);
    expect(await once.run(other, "a", work)).toEqual(unknown ?? result);
    expect(runs()).toBe((outlives ? 0 : 1) + (unknown === undefined ? 1 : 0));
    close();
  });

  test.runIf(unknown !== undefined)("a run that fails after it began stays begun", async () => {
    const { once, close, work, runs } = setup();
    const failed = once.run(key, "a", (begin) => {
      begin();
      return Promise.reject(new Error("no"));
    });
    await expect(failed).rejects.toThrow("no");
    expect([await once.run(key, "a", work), runs()]).toEqual([unknown, 0]);
    close();
  });

  test.runIf(keptMs !== undefined)("a result is kept for so long", async () => {
    const { once, close, work, runs } = setup();
    await once.run(key, "a", work);
    nowMs += (keptMs ?? 0) - 1;
    await once.run(key, "a", work);
    expect(runs()).toBe(1);
    nowMs += 2;
    await once.run(key, "b", work);
    expect(runs()).toBe(2);
    close();
  });
});

test("an answer that an earlier version of the dashboard has kept is known", () => {
  const place = { path: join(directory, "d.db"), setting: "X", nowUnixMs: () => nowMs };
  const before = openDatabase({ ...place, migrations: MIGRATIONS.slice(0, 2), onMovedAside: () => undefined });
  before.exec(`INSERT INTO projects VALUES (1, 'p', '/p', NULL);
    INSERT INTO agents (id, session_uuid, project_id, started_unix_ms, last_seen_unix_ms) VALUES (7, 'u', 1, 0, 0);
    INSERT INTO answers VALUES (7, 'k-1', 'a', 409, '{"error_type":"wrong_state"}', ${nowMs}), (7, 'k-2', 'a', NULL, NULL, ${nowMs})`);
  before.close();
  const { store, close } = openAnswers();
  const result = { status: 409, body: { error_type: "wrong_state" }, isKept: true };
  expect(store.find([7, "k-1"])).toEqual({ request: "a", result });
  expect(store.find([7, "k-2"])).toEqual({ request: "a", result: INTERRUPTED });
  close();
});

test("without a store a run is joined and nothing is kept", async () => {
  const once = new Once<number>({});
  let runs = 0;
  const work = async (): Promise<number> => ++runs;
  expect(await Promise.all([once.run(["k"], "a", work), once.run(["k"], "a", work)])).toEqual([1, 1]);
  expect(await once.run(["k"], "b", work)).toBe(2);
});

test("the oldest go when there are too many", () => {
  const memory = new OnceMemory<number>({ maxEntries: 2, keptMs: 1_000, nowMs: () => nowMs });
  for (const n of [1, 2, 1, 3]) memory.complete([n], "a", n);
  expect([...memory.entries()].map(({ result }) => result)).toEqual([1, 3]);
  expect(memory.find([2])).toBeUndefined();
});

test("a record that cannot be completed fails no run, and is reported", async () => {
  const errors: unknown[] = [];
  const broken = new Error("full");
  const store: OnceStore<number> = {
    find: () => undefined,
    complete: () => {
      throw broken;
    },
    forget: () => undefined,
  };
  const once = new Once({ store, onError: (error) => errors.push(error) });
  expect(await once.run(["k"], "a", async () => 1)).toBe(1);
  expect(errors).toEqual([broken]);
});
