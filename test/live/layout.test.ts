/** Windows and panes of a real tmux, by us and by a person at a terminal. */
import { expect, test } from "vitest";
import { layoutWalk } from "../support/layoutScenario.ts";

test.each(["owned", "guest"] as const)(
  "30 operations by us and 30 by a person, %s: the tree is what tmux lists, by events alone as well",
  async (kind) => {
    const { refused, events, spawned, log } = await layoutWalk(kind, 7, 30);
    expect(refused).toBeLessThan(15);
    expect(events).toBeGreaterThan(30);
    expect(spawned).toBe(0);
    expect(log).toEqual([]);
  },
);
