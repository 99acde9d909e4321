import { expect, test } from "vitest";
import { Changes } from "../../../../daemon/time/changes.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

test("a wait ends at the next change, and leaves no timer", async () => {
  const [changes, clock] = [new Changes(), new FakeClock()];
  const waiting = changes.next(changes.count, clock, clock.nowMs() + 1_000);
  expect(clock.pendingTimers).toBe(1);
  changes.changed();
  expect(clock.pendingTimers).toBe(0);
  expect(await waiting).toBe(true);
});

test("a wait ends at once after a change that the waiter does not know of", async () => {
  const changes = new Changes();
  const known = changes.count;
  changes.changed();
  expect(await changes.next(known)).toBe(true);
});

test("a wait ends when it is time, and a later change ends only the next one", async () => {
  const [changes, clock] = [new Changes(), new FakeClock()];
  const waiting = changes.next(changes.count, clock, clock.nowMs() + 1_000);
  clock.advanceMs(1_000);
  expect(await waiting).toBe(false);
  const next = changes.next(changes.count);
  changes.changed();
  expect(await next).toBe(true);
});
