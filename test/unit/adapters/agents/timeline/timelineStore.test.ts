/** The timeline on disk: bounded by age, entries of an agent and bytes of all; what is removed early is counted. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { AGENT_MIGRATIONS } from "../../../../../adapters/agents/running/agentStore.ts";
import { type TimelineEntry, TimelineStore } from "../../../../../adapters/agents/timeline/timelineStore.ts";
import { openDatabase } from "../../../../../daemon/ops/sql/database.ts";
import { createLog } from "../../../../../daemon/ops/log.ts";
import type { Database } from "../../../../../daemon/ops/sql/sqlite.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

const DAY_MS = 86_400_000;

let database: Database;
let now: number;
let clock: FakeClock;
let logged: string[];
beforeEach(() => {
  now = 1_795_149_767_000;
  clock = new FakeClock();
  logged = [];
  database = openDatabase({
    path: ":memory:",
    setting: "",
    migrations: AGENT_MIGRATIONS,
    nowUnixMs: () => now,
    onMovedAside: () => undefined,
  });
});
afterEach(() => {
  if (database.isOpen) database.close();
});

const store = (
  bounds: { maxPendingBytes?: number; maxEntriesPerAgent?: number; maxBytes?: number } = {},
): TimelineStore =>
  new TimelineStore({
    database,
    clock,
    nowUnixMs: () => now,
    log: createLog({ level: "debug", write: (line) => logged.push(line), nowUnixMs: () => now }),
    ...bounds,
  });

const entry = (agent: string, text: string, more: Partial<TimelineEntry> = {}): Omit<TimelineEntry, "number"> => ({
  agent,
  name: `${agent}-name`,
  server: "main",
  socket: undefined,
  kind: "prompt",
  unixMs: now,
  by: "api",
  text,
  options: undefined,
  outcome: undefined,
  mark: undefined,
  ...more,
});

const events = (): readonly string[] =>
  logged.map((line) => {
    const { level, event } = JSON.parse(line) as { level: string; event: string };
    return `${level} ${event}`;
  });

const texts = async (of: TimelineStore, filter: Partial<Parameters<TimelineStore["find"]>[0]> = {}) =>
  (await of.find({ limit: 100, ...filter })).entries.map(({ text }) => text);

test("entries are the newest first, one page after the other, each once", async () => {
  const entries = store();
  for (let each = 0; each < 7; each += 1) entries.add(entry("a", `${each}`));
  const seen: (string | undefined)[] = [];
  let before: number | undefined;
  do {
    const page = await entries.find({ limit: 3, before });
    seen.push(...page.entries.map(({ text }) => text));
    before = page.next;
  } while (before !== undefined);
  expect(seen).toEqual(["6", "5", "4", "3", "2", "1", "0"]);
});

test("a search finds text in any case, in names, texts and options, beyond what it reads at once", async () => {
  const entries = store();
  entries.add(entry("a", "Lösche ÄLTERE Dateien"));
  entries.add(entry("b", "?", { kind: "question", options: ["Yes", "Never DELETE it"] }));
  for (let each = 0; each < 1_200; each += 1) entries.add(entry("c", `filler ${each}`));
  expect(await texts(entries, { query: "ältere" })).toEqual(["Lösche ÄLTERE Dateien"]);
  expect(await texts(entries, { query: "delete" })).toEqual(["?"]);
  expect(await texts(entries, { query: "B-NAME" })).toEqual(["?"]);
  expect(await texts(entries, { query: "100%_" })).toEqual([]);
  expect(await texts(entries, { kind: "question", query: "yes" })).toEqual(["?"]);
  expect(await texts(entries, { agent: { id: "a", name: "nobody" } })).toHaveLength(1);
  expect(await texts(entries, { agent: { id: "nobody", name: "b-name" } })).toEqual(["?"]);
  expect(await texts(entries, { server: { name: "other", socket: undefined } })).toEqual([]);
  // Whatever the server was called then.
  entries.add(entry("d", "on the socket", { server: "user", socket: "/tmp/default" }));
  expect(await texts(entries, { server: { name: "default", socket: "/tmp/default" } })).toEqual(["on the socket"]);
  expect(await texts(entries, { server: { name: "user", socket: "/tmp/other" } })).toEqual([]);
  const page = await entries.find({ limit: 100, query: "filler" });
  expect([page.entries.length, page.next === undefined]).toEqual([100, false]);
});

test("an entry with a mark is kept once", async () => {
  const entries = store();
  entries.add(entry("a", "first", { mark: "prompt:1" }));
  entries.add(entry("a", "again", { mark: "prompt:1" }));
  entries.add(entry("b", "another's", { mark: "prompt:1" }));
  expect(await texts(entries)).toEqual(["another's", "first"]);
});

test("after 30 days an entry is gone, shown to nobody from that moment on", async () => {
  const entries = store();
  entries.add(entry("a", "old"));
  expect(await texts(entries)).toEqual(["old"]);
  now += 30 * DAY_MS;
  expect(await texts(entries)).toEqual(["old"]);
  now += 1;
  expect(await texts(entries)).toEqual([]);
  entries.add(entry("a", "new"));
  entries.flush();
  expect(database.prepare("SELECT count(*) AS rows FROM timeline").get()).toEqual({ rows: 1 });
  // Age is no loss: the contract says how long they are kept.
  expect((await entries.find({ limit: 1 })).dropped).toBe(undefined);
});

test("an agent's oldest entries go first, which is declared for it, and not for others", async () => {
  const entries = store({ maxEntriesPerAgent: 3 });
  entries.add(entry("b", "another's"));
  for (let each = 0; each < 5; each += 1) entries.add(entry("a", `${each}`, { unixMs: now + each }));
  expect(await texts(entries)).toEqual(["4", "3", "2", "another's"]);
  const dropped = { entries: 2, untilUnixMs: now + 1 };
  expect((await entries.find({ limit: 1 })).dropped).toEqual(dropped);
  expect((await entries.find({ limit: 1, agent: { id: "a", name: "" } })).dropped).toEqual(dropped);
  expect((await entries.find({ limit: 1, agent: { id: "b", name: "" } })).dropped).toBe(undefined);
  now += 30 * DAY_MS + 2;
  expect((await entries.find({ limit: 1 })).dropped).toBe(undefined);
});

test("all together take so many bytes, also after a restart and after changes", async () => {
  const bounds = { maxBytes: 10_000 };
  const entries = store(bounds);
  for (let each = 0; each < 20; each += 1) entries.add(entry(`agent-${each}`, "x".repeat(800)));
  // 200 bytes more each.
  expect(await texts(entries)).toHaveLength(10);
  expect((await entries.find({ limit: 1 })).dropped?.entries).toBe(10);
  const next = store(bounds);
  const number = next.add(entry("last", "x".repeat(800)));
  expect(await texts(next)).toHaveLength(10);
  next.change(number, { text: "y" });
  next.add(entry("one more", "y"));
  expect(await texts(next)).toHaveLength(11);
});

test("while the database takes nothing entries wait, up to a bound in bytes, and what is lost is told", async () => {
  // An entry of one character takes 201.
  const entries = store({ maxPendingBytes: 2_100 });
  entries.add(entry("a", "kept"));
  entries.flush();
  database.exec("PRAGMA query_only = ON");
  for (let each = 0; each < 15; each += 1) {
    entries.add(entry("a", String.fromCodePoint(97 + each)));
    if (each % 4 === 0) entries.flush();
  }
  expect(events()).toEqual(["warn timeline.database.behind"]);
  expect(await texts(entries)).toEqual(["kept"]);
  database.exec("PRAGMA query_only = OFF");
  // It is tried again by itself, and its bytes are counted once.
  clock.advanceMs(1_000);
  expect(events().slice(1)).toEqual(["info timeline.database.back", "error timeline.database.lost"]);
  expect(JSON.parse(logged[2]!)).toMatchObject({ writes: 5 });
  expect(await texts(entries)).toEqual(["o", "n", "m", "l", "k", "j", "i", "h", "g", "f", "kept"]);
  const bytes = database.prepare("SELECT sum(bytes) AS bytes FROM timeline").get() as { bytes: number };
  expect(bytes).toEqual({ bytes: 10 * 201 + 204 });
});

test("what waits when it is closed is written, or told as lost", () => {
  const entries = store();
  entries.add(entry("a", "last"));
  entries.close();
  expect(database.prepare("SELECT text FROM timeline").all()).toEqual([{ text: "last" }]);
  const next = store();
  database.exec("PRAGMA query_only = ON");
  next.add(entry("a", "later"));
  next.close();
  next.close();
  expect(events()).toEqual(["warn timeline.database.behind", "error timeline.database.lost"]);
});

test("the patience of others who write to the database stays what it is", () => {
  const entries = store();
  const patience = (): unknown => database.prepare("PRAGMA busy_timeout").get();
  const before = patience();
  entries.add(entry("a", "x"));
  entries.flush();
  expect(before).toEqual({ timeout: 2_000 });
  expect(patience()).toEqual(before);
  expect(database.prepare("PRAGMA wal_autocheckpoint").get()).toEqual({ wal_autocheckpoint: 1_000 });
});

test("nothing is written in the turn in which it happens, and everything right after it", async () => {
  const entries = store();
  entries.add(entry("a", "later"));
  const rows = () => (database.prepare("SELECT count(*) AS rows FROM timeline").get() as { rows: number }).rows;
  expect(rows()).toBe(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect(rows()).toBe(1);
});
