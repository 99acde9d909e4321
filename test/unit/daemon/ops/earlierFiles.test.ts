/** Files that earlier versions wrote (test/golden/state, one folder for each version), read by the stores of this one. */
import { chmodSync, cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { MessageStore } from "../../../../adapters/agents/messages/messageStore.ts";
import { readChannels } from "../../../../adapters/agents/notify/channelBook.ts";
import { AGENT_MIGRATIONS, AgentStore } from "../../../../adapters/agents/running/agentStore.ts";
import { MIGRATIONS as DASHBOARD_MIGRATIONS } from "../../../../adapters/dashboard/store/schema.ts";
import { DashboardStore } from "../../../../adapters/dashboard/store/store.ts";
import { readHosts } from "../../../../adapters/remote/hostBook.ts";
import { silentLog } from "../../../../bench/silentLog.ts";
import { DELIVERY_MIGRATIONS, DeliveryStore } from "../../../../daemon/delivery/deliveryStore.ts";
import { openDatabase } from "../../../../daemon/ops/sql/database.ts";
import { DatabaseSync, pragma } from "../../../../daemon/ops/sql/sqlite.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

const STATE = new URL("../../../golden/state/", import.meta.url).pathname;
/** A moment after they were written. */
const NOW_UNIX_MS = 1_795_805_210_000;
const nowUnixMs = (): number => NOW_UNIX_MS;

let directory: string;
beforeEach(() => {
  directory = ownDirectory();
});

describe.each(readdirSync(STATE))("what %s wrote", (version) => {
  beforeEach(() => {
    cpSync(join(STATE, version), directory, { recursive: true });
    // As they were made; a repository does not keep that.
    for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o600);
  });

  test("agents, messages that wait, and notifications are known", () => {
    const store = new AgentStore({ path: join(directory, "agents.db"), nowUnixMs, log: silentLog });
    try {
      expect(store.all()).toMatchObject([
        { kind: "claude", name: "claude", place: { serverName: "user", pane: "%0" } },
      ]);
      const messages = new MessageStore(store.database, nowUnixMs);
      expect(messages.list().map(({ text, outcome }) => [text, outcome])).toEqual([
        ["fix the failing test", "delivered"],
        ["this takes a while", "delivered"],
        ["waits over an update", "waiting"],
      ]);
      expect(store.database.prepare("SELECT count(*) AS notices FROM notices").get()).toEqual({ notices: 1 });
    } finally {
      store.close();
    }
  });

  test("a prompt that was delivered under a key is not typed again", () => {
    const store = new DeliveryStore({ path: join(directory, "deliveries.db"), nowUnixMs });
    try {
      expect(store.find(["4305.1795805196", "%0", "key-1"])).toMatchObject({
        result: { kind: "result", result: { outcome: "submitted", enterPresses: 1 } },
      });
    } finally {
      store.close();
    }
  });

  test("the dashboard has its agents and their tasks", () => {
    const database = openDatabase({
      path: join(directory, "dashboard.db"),
      setting: "--database",
      migrations: DASHBOARD_MIGRATIONS,
      nowUnixMs,
      onMovedAside: (movedTo) => {
        throw new Error(movedTo);
      },
    });
    const store = new DashboardStore({ database, clock: new FakeClock(), nowUnixMs, log: silentLog });
    try {
      const agent = store.tables.agents.first("WHERE session_uuid = ?", "11111111-2222-4333-8444-555555555555");
      expect(agent).toMatchObject({ tmuxPaneId: "%0" });
      expect(store.tables.tasks.first("WHERE agent_id = ?", agent!.id)).toMatchObject({ state: "processing" });
    } finally {
      store.close();
    }
  });

  test("hosts and notification channels are known", () => {
    expect(readHosts(join(directory, "hosts.json"))).toEqual([{ name: "build", destination: "me@127.0.0.1:1" }]);
    expect(readChannels(join(directory, "notifications.json"))).toMatchObject([{ name: "phone", kind: "ntfy" }]);
  });
});

// Who adds a migration adds the files that the version before it wrote.
test.each<[string, readonly string[]]>([
  ["agents.db", AGENT_MIGRATIONS],
  ["deliveries.db", DELIVERY_MIGRATIONS],
  ["dashboard.db", DASHBOARD_MIGRATIONS],
])("the newest files of %s are of the present version, or of the one before", (name, migrations) => {
  const versions = readdirSync(STATE).map((version) => {
    const path = join(directory, version);
    cpSync(join(STATE, version, name), path);
    using database = new DatabaseSync(path);
    return Number(pragma(database, "user_version"));
  });
  expect(Math.max(...versions)).toBeGreaterThanOrEqual(migrations.length - 1);
});

test("every file of JSON that a version wrote says its version", () => {
  for (const version of readdirSync(STATE)) {
    for (const name of readdirSync(join(STATE, version)).filter((each) => each.endsWith(".json"))) {
      expect(JSON.parse(readFileSync(join(STATE, version, name), "utf8"))).toMatchObject({
        version: expect.any(Number) as number,
      });
    }
  }
});
