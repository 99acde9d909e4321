import { expect, test } from "vitest";
import type { ControlConnection } from "../../../../../daemon/connection/controlConnection.ts";
import { InventoryRefresher } from "../../../../../daemon/servers/inventory/inventoryRefresher.ts";
import type { WindowId } from "../../../../../protocol/ids.ts";

test("what a probe finds changed is listed before anything is complete", async () => {
  const told: string[] = [];
  const connection = {
    foreignRows: async () => {
      told.push("listed");
      return [];
    },
  } as unknown as ControlConnection;
  const refresher: InventoryRefresher = new InventoryRefresher({
    connection: () => connection,
    onTopology: () => [],
    onPanes: () => told.push("applied"),
    strays: () => [],
    onPlaces: () => [],
    onProbe: async () => {
      told.push("found");
      refresher.windowChanged("@1" as WindowId);
    },
    onComplete: () => told.push("complete"),
    onError: (error) => told.push(String(error)),
  });
  refresher.probe();
  // All of it is promises.
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toEqual(["found", "listed", "applied", "complete"]);
});
