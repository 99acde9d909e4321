import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AgentBook } from "../../../../../adapters/dashboard/agents/agentBook.ts";
import { MIGRATIONS } from "../../../../../adapters/dashboard/store/schema.ts";
import { DashboardStore } from "../../../../../adapters/dashboard/store/store.ts";
import { silentLog } from "../../../../../bench/silentLog.ts";
import { openDatabase } from "../../../../../daemon/ops/sql/database.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

const nowUnixMs = (): number => 1;

const HOME = homedir();

test.each([
  ["the innermost that is registered", ["/srv", "/srv/shop"], "/srv/shop/web/", true, "/srv/shop"],
  ["itself, where none is", ["/srv/other"], "/srv/shop/../shop", true, "/srv/shop"],
  ["none, where none may be made", ["/srv/other"], "/srv/shop", false, undefined],
  ["not the root, in which somebody has started one", ["/"], "/srv/shop", true, "/srv/shop"],
  ["not the home directory either", [HOME, "/"], join(HOME, "shop"), true, join(HOME, "shop")],
  ["the home directory for what runs in it", [HOME], HOME, true, HOME],
  ["the home directory, where none may be made", [HOME], join(HOME, "shop"), false, HOME],
  ["none for a relative path", ["/"], "shop", true, undefined],
])("%s", (_what, registered, directory, registers, expected) => {
  const database = openDatabase({
    path: ":memory:",
    setting: "--database",
    migrations: MIGRATIONS,
    nowUnixMs,
    onMovedAside: () => undefined,
  });
  const store = new DashboardStore({ database, clock: new FakeClock(), nowUnixMs, log: silentLog });
  const book = new AgentBook(store, nowUnixMs);
  for (const path of registered) book.putProject({ path, name: "", branch: undefined });
  expect(book.projectOf(directory, registers)?.path).toBe(expected);
  store.close();
});
