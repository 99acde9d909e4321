/** The long form of test/live/nativeSnapshot.test.ts: 1,000 random sessions. */
import { expect, test } from "vitest";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { echoPane } from "../support/daemon/nativeEchoPane.ts";
import { SESSION_COLS, SESSION_ROWS, snapshotSession } from "../support/daemon/nativeSnapshotSession.ts";

const SESSIONS = 1_000;

test(`${SESSIONS} random sessions rebuilt from a snapshot are tmux's own screen`, async () => {
  await using fixture = await ownedFixture();
  const echo = await echoPane(fixture.server, "random", SESSION_COLS, SESSION_ROWS);
  let done = 0;
  for (let seed = 1_001; seed <= 1_000 + SESSIONS; seed += 1) {
    await snapshotSession(fixture.server, echo, seed);
    done += 1;
  }
  expect(done).toBe(SESSIONS);
});
