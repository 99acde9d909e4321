/** A test per row of what may be typed in a pane: output flows on, and what is missing is declared. */
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type FieldRow, nameOf } from "./fieldRows.ts";
import { type FieldScene, fieldScene, TmuxCrashed } from "./fieldScene.ts";
import { report } from "../daemon/loadReport.ts";

/**
 * On an owned server and on a guest.
 * @param flowsWithinMs after the next heartbeat; for a machine that does nothing else
 */
export function fieldTests(rows: readonly FieldRow[], heartbeatMs: number, flowsWithinMs?: number): void {
  describe.each(["owned", "guest"] as const)("%s", (kind) => {
    let scene: FieldScene | undefined;
    let isWhole = false;
    // One scene for all rows; a row that fails leaves a new one to the next.
    beforeEach(async () => {
      if (isWhole) return;
      await scene?.[Symbol.asyncDispose]();
      scene = await fieldScene(kind, heartbeatMs);
    });
    afterAll(() => scene?.[Symbol.asyncDispose]());

    const here = rows.filter(({ only }) => only === undefined || only === kind);
    test.each(here.map((row) => [nameOf(row), row] as const))("%s", async (name, row) => {
      isWhole = false;
      const found = await typed(scene!, name, row);
      if (found === undefined) return;
      expect(scene!.ledger.faults.splice(0)).toEqual([]);
      if (flowsWithinMs !== undefined) expect(found.flowsMs).toBeLessThan(flowsWithinMs);
      if (row.costs === true && kind === "owned") expect(found.holes).toBeGreaterThan(0);
      if (row.costs !== true && kind === "owned") expect(found.holes).toBe(0);
      isWhole = true;
    });
  });
}

/** What came of it; undefined, with a printed reason, when tmux has crashed under a row that may. */
async function typed(scene: FieldScene, name: string, row: FieldRow) {
  try {
    return await typeRow(scene, name, row);
  } catch (error) {
    if (row.mayCrash !== true || !(error instanceof TmuxCrashed)) throw error;
    const words = `tmux crashed under ${name} (docs/tmuxFacts.md 51), so nothing was looked at`;
    process.stderr.write(`fieldCommands: ${words}\n`);
    return undefined;
  }
}

async function typeRow(scene: FieldScene, name: string, row: FieldRow) {
  const { kind, ledger, heartbeatMs } = scene;
  const command = typeof row.command === "string" ? row.command : row.command(scene);
  const holes = ledger.holes;
  const said = await scene.type(command);
  await delay(heartbeatMs);
  const flowsMs = await scene.flows();
  // What only a later heartbeat finds is found now.
  await delay(2 * heartbeatMs);
  await scene.flows();
  if (row.after !== undefined) await scene.type(row.after);
  const found = { flowsMs: Math.round(flowsMs), holes: ledger.holes - holes, missing: ledger.missing };
  report("fieldCommand", { kind, command: name, said: said.slice(0, 60), ...found });
  return found;
}
