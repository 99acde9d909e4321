/** What a person or a script types in a pane: output flows on, and what is missing is declared (docs/tmuxFacts.md 51). */
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { FIELD_ROWS, nameOf } from "../support/fieldRows.ts";
import { type FieldScene, fieldScene } from "../support/fieldScene.ts";
import { report } from "../support/report.ts";

/** After the next heartbeat output flows within a second (the acceptance), and a second passes before tmux's clock tells. */
const FLOWS_WITHIN_MS = 2_000;

describe.each(["owned", "guest"] as const)("%s", (kind) => {
  let scene: FieldScene | undefined;
  let isWhole = false;
  // One scene for all rows; a row that fails leaves a new one to the next.
  beforeEach(async () => {
    if (isWhole) return;
    await scene?.[Symbol.asyncDispose]();
    scene = await fieldScene(kind);
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  const rows = FIELD_ROWS.filter(({ only }) => only === undefined || only === kind);
  test.each(rows.map((row) => [nameOf(row), row] as const))("%s", async (name, row) => {
    const { ledger, heartbeatMs } = scene!;
    isWhole = false;
    const command = typeof row.command === "string" ? row.command : row.command(scene!);
    const holes = ledger.holes;
    const said = await scene!.type(command);
    await delay(heartbeatMs);
    const flowsMs = await scene!.flows();
    // What only a later heartbeat finds is found now.
    await delay(2 * heartbeatMs);
    await scene!.flows();
    if (row.after !== undefined) await scene!.type(row.after);
    const found = { flowsMs: Math.round(flowsMs), holes: ledger.holes - holes, missing: ledger.missing };
    report("fieldCommand", { kind, command: name, said: said.slice(0, 60), ...found });
    expect(ledger.faults.splice(0)).toEqual([]);
    expect(flowsMs).toBeLessThan(FLOWS_WITHIN_MS);
    if (row.costs === true && kind === "owned") expect(found.holes).toBeGreaterThan(0);
    if (row.costs !== true && kind === "owned") expect(found.holes).toBe(0);
    isWhole = true;
  });
});
