/** 1,000 captures of a pane that forges tmux's words. */
import { expect, test } from "vitest";
import { forgery, numberReadingTransport } from "../support/tmux/forgeryScenario.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { report, sinceMs } from "../support/daemon/loadReport.ts";

test("1,000 captures under forgery", async () => {
  const { open, lastNumber } = numberReadingTransport();
  await using fixture = await ownedFixture({ transport: open });
  const startMs = performance.now();
  const result = await forgery(fixture.server, fixture.socket, lastNumber, 100);
  report("forgery", { ...result, ms: sinceMs(startMs) });
  expect(result).toMatchObject({ captures: 1_000, inexactCaptures: 0, forgedBytes: 0, events: [], epochs: 1 });
});
