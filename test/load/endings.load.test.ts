/** 200 programs that end at once, by exit codes and signals, in panes that are kept. */
import { expect, test } from "vitest";
import { endings } from "../support/daemon/endings.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { report, spread } from "../support/daemon/loadReport.ts";

test("200 endings", async () => {
  await using fixture = await ownedFixture();
  const { reportedMs, ...result } = await endings(fixture.server, 200);
  report("endings", { ...result, told: spread(reportedMs) });
  expect(result).toEqual({ endings: 200, wrongStatus: 0, outputLost: 0, screenLost: 0 });
});
