/** Waits that type into shells which draw the line anew, in quantity: no shell and no redraw ends one by the echo. */
import { expect, test } from "vitest";
import { editingShells, redrawnIn } from "../support/tmux/echoRedraws.ts";

const ROUNDS = Number(process.env["REDRAW_ROUNDS"] ?? 50);

test.each(editingShells())("$name", async (shell) => {
  const all = await redrawnIn(shell, ROUNDS);
  console.table(all);
  expect(all.filter((row) => row.false > 0 || row.missed > 0)).toEqual([]);
});
