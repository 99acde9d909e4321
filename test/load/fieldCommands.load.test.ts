/**
 * Everything that a person may type in a pane (docs/tmuxFacts.md 51), one by one; and random sequences of it, one after
 * another and without waiting for what the last one broke. Meanwhile numbered lines are printed: each line is seen once or
 * is missing inside a declared hole, and output always flows again.
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { FIELD_ROWS } from "../support/tmux/fieldRows.ts";
import { fieldScene } from "../support/tmux/fieldScene.ts";
import { fieldTests } from "../support/tmux/fieldTests.ts";
import { report, spread } from "../support/daemon/loadReport.ts";

const ROUNDS = 20;
const COMMANDS_PER_ROUND = 5;
const HEARTBEAT_MS = 300;

/** A second (the acceptance), and another one that passes before tmux's clock tells. */
const FLOWS_WITHIN_MS = 2_000;

fieldTests(FIELD_ROWS, HEARTBEAT_MS, FLOWS_WITHIN_MS);

test.each(["owned", "guest"] as const)("%s: random sequences", async (kind) => {
  await using scene = await fieldScene(kind, HEARTBEAT_MS);
  const { ledger, heartbeatMs } = scene;
  const rows = FIELD_ROWS.filter(({ only, command }) => {
    const isQuick = typeof command !== "string" || !command.startsWith("timeout");
    return isQuick && (only === undefined || only === kind);
  });
  const flowsMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const undo: string[] = [];
    for (let at = 0; at < COMMANDS_PER_ROUND; at += 1) {
      const row = rows[Math.floor(Math.random() * rows.length)]!;
      // While the connection is made anew nothing can be typed, and a hub has no name.
      await scene.flows();
      await scene.type(typeof row.command === "string" ? row.command : row.command(scene));
      if (row.after !== undefined) undo.push(row.after);
      await delay(Math.random() * heartbeatMs);
    }
    await delay(heartbeatMs);
    flowsMs.push(await scene.flows());
    for (const command of undo) await scene.type(command);
  }
  const { lines, missing, holes, faults } = ledger;
  const commands = ROUNDS * COMMANDS_PER_ROUND;
  report("fieldCommands", { kind, commands, lines, missing, holes, faults, flows: spread(flowsMs) });
  expect(faults).toEqual([]);
  expect(lines).toBeGreaterThan(commands);
});
