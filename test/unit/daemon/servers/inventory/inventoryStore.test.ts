/** What tmux says of single panes between two listings. */
import { expect, test } from "vitest";
import { featuresOf } from "../../../../../daemon/connection/tmuxFeatures.ts";
import { linuxHost } from "../../../../../daemon/host/linux/linuxHost.ts";
import { InventoryStore } from "../../../../../daemon/servers/inventory/inventoryStore.ts";
import type { PaneRow } from "../../../../../protocol/command/formats.ts";
import type { PaneId, SessionId, WindowId } from "../../../../../protocol/ids.ts";

const [session, window] = ["$1" as SessionId, "@1" as WindowId];
const row = (pane: string, more: Partial<PaneRow> = {}): PaneRow => ({
  window,
  pane: pane as PaneId,
  active: pane === "%1",
  cols: 80,
  rows: 24,
  pid: 100,
  dead: false,
  deadStatus: undefined,
  deadSignal: undefined,
  shape: undefined,
  windowName: "w",
  title: "",
  ...more,
});

function known(): InventoryStore {
  const inventory = new InventoryStore(linuxHost().processes);
  inventory.applyTopology(
    [{ session, createdSec: 1, usedSec: 1, attached: 0, name: "s" }],
    [{ session, window, active: true, index: 0, stray: false }],
  );
  inventory.applyPanes([row("%1"), row("%2")]);
  return inventory;
}

test("a pane that is nowhere is gone at once, and once", () => {
  const inventory = known();
  const gone = "%2" as PaneId;
  expect(inventory.removePanes([gone, "%9" as PaneId])).toEqual([{ kind: "pane-closed", pane: gone }]);
  expect(inventory.findPane(gone)).toBeUndefined();
  expect(inventory.panesOf(window)).toEqual(["%1"]);
  expect(inventory.removePanes([gone])).toEqual([]);
  // The listing that follows has nothing to add.
  expect(inventory.applyPanes([row("%1")])).toEqual([]);
  expect(inventory.strays()).toEqual([]);
});

test("a stray that is nowhere is no stray any more", () => {
  const inventory = known();
  inventory.applyPanes([row("%1")]);
  expect(inventory.strays()).toEqual(["%2"]);
  expect(inventory.removePanes(["%2" as PaneId])).toEqual([{ kind: "pane-closed", pane: "%2" }]);
  expect(inventory.strays()).toEqual([]);
});

test("how a program ended is told once, and forgotten when another one runs", () => {
  const inventory = known();
  const pane = "%1" as PaneId;
  const status = { exitCode: 3, signal: undefined };
  expect(inventory.declareExit(pane, status)).toEqual([{ kind: "pane-exited", pane, status }]);
  expect(inventory.declareExit(pane, status)).toEqual([]);
  expect(inventory.declareExit("%9" as PaneId, status)).toEqual([]);
  expect(inventory.applyPanes([row("%1", { dead: true, deadStatus: 3 }), row("%2")])).toEqual([]);
  expect(inventory.findPane(pane)?.exit).toEqual(status);
  inventory.applyPanes([row("%1", { pid: 101 }), row("%2")]);
  expect(inventory.findPane(pane)?.exit).toBeUndefined();
  expect(inventory.declareExit(pane, status)).toHaveLength(1);
});

test("a program that is started and ends between two listings has an end of its own", () => {
  const inventory = known();
  inventory.applyPanes([row("%1", { dead: true, deadStatus: 3 }), row("%2")]);
  const again = row("%1", { pid: 101, dead: true, deadStatus: 0 });
  const status = { exitCode: 0, signal: undefined };
  expect(inventory.applyPanes([again, row("%2")])).toEqual([{ kind: "pane-exited", pane: "%1", status }]);
  expect(inventory.findPane("%1" as PaneId)).toMatchObject({ pid: 101, exit: status });
});

test("a dead pane of which tmux has forgotten the process keeps its pid", () => {
  const inventory = known();
  inventory.applyPanes([row("%1", { dead: true, deadStatus: 0, pid: 0 }), row("%2")]);
  expect(inventory.findPane("%1" as PaneId)).toMatchObject({ pid: 100, exit: { exitCode: 0 } });
});

test("tmux 3.2 says nothing of a program that a signal ended: its process is gone, and that is all", () => {
  const inventory = known();
  const died = (pid: number): PaneRow => row("%1", { dead: true, pid });
  // Every other version will say more in a moment.
  expect(inventory.exitOf(died(2 ** 22 + 1))).toBeUndefined();
  inventory.features = featuresOf("3.2a");
  expect(inventory.exitOf(died(process.pid))).toBeUndefined();
  expect(inventory.applyPanes([died(2 ** 22 + 1), row("%2")])).toEqual([
    { kind: "pane-exited", pane: "%1", status: { exitCode: undefined, signal: undefined } },
  ]);
});
