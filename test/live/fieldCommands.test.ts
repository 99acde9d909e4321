/** What a person or a script types in a pane: output flows on, and what is missing is declared (docs/tmuxFacts.md 51). */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FIELD_ROWS } from "../support/fieldRows.ts";
import { report } from "../support/report.ts";
import { type FieldScene, fieldScene } from "../support/fieldScene.ts";
import { setTimeout as delay } from "node:timers/promises";

describe.each(["owned", "guest"] as const)("%s", (kind) => {
  let scene: FieldScene;
  beforeAll(async () => {
    scene = await fieldScene(kind);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  const rows = FIELD_ROWS.filter(({ only }) => only === undefined || only === kind);
  test.each(rows.map((row) => [typeof row.command === "string" ? row.command : row.command.toString(), row] as const))("%s", async (_name, row) => {
    const command = typeof row.command === "string" ? row.command : row.command(scene);
    const holes = scene.ledger.holes;
    const said = await scene.type(command);
    await delay(scene.heartbeatMs);
    const flowsMs = await scene.flows();
    await delay(scene.heartbeatMs);
    await scene.flows();
    if (row.after !== undefined) await scene.type(row.after);
    report("fieldCommand", { kind, command, said: said.slice(0, 60), flowsMs: Math.round(flowsMs), holes: scene.ledger.holes - holes });
    expect(scene.ledger.faults.splice(0)).toEqual([]);
    expect(flowsMs).toBeLessThan(3_000);
  });
});
