import { expect, test } from "vitest";
import { untilReady } from "../../../adapters/team/untilReady.ts";
import type { PaneReadiness, Readiness, ReadinessSource, ReadinessState } from "../../../daemon/readiness/readiness.ts";
import { FakeClock } from "../../support/fakeClock.ts";

class FakePane implements PaneReadiness {
  #listener: ((readiness: Readiness) => void) | undefined;
  current: Readiness = { state: "unknown", source: "none", sinceUnixMs: 0, position: undefined, profile: "pi" };

  get isHeard(): boolean {
    return this.#listener !== undefined;
  }

  subscribe(listener: (readiness: Readiness) => void): () => void {
    this.#listener = listener;
    return () => (this.#listener = undefined);
  }

  becomes(state: ReadinessState, source: ReadinessSource): void {
    this.current = { ...this.current, state, source };
    this.#listener?.(this.current);
  }

  report(): void {}
  look = (): Promise<Readiness> => Promise.resolve(this.current);
  [Symbol.dispose](): void {}
}

function waiting(hooked: boolean) {
  const clock = new FakeClock();
  const pane = new FakePane();
  const outcomes: string[] = [];
  const done = untilReady(pane, { clock, timeoutMs: 10_000, hooked, graceMs: 1_000 }).then((out) => outcomes.push(out));
  return { clock, pane, done, outcomes };
}

test("the hook's word is enough, at once", async () => {
  const { clock, pane, done, outcomes } = waiting(true);
  pane.becomes("idle", "osc7501");
  await done;
  expect([outcomes, clock.pendingTimers, pane.isHeard]).toEqual([["ready"], 0, false]);
});

test("a screen that looks ready counts once the hook has had its time", async () => {
  const { clock, pane, done, outcomes } = waiting(true);
  pane.becomes("idle", "screen");
  clock.advanceMs(999);
  await Promise.resolve();
  expect(outcomes).toEqual([]);
  pane.becomes("busy", "screen");
  clock.advanceMs(5_000);
  await Promise.resolve();
  expect(outcomes).toEqual([]);
  pane.becomes("idle", "screen");
  clock.advanceMs(1_000);
  await done;
  expect([outcomes, clock.pendingTimers]).toEqual([["ready"], 0]);
});

test("without a hook the screen is all there is", async () => {
  const { pane, done, outcomes } = waiting(false);
  pane.becomes("idle", "screen");
  await done;
  expect(outcomes).toEqual(["ready"]);
});

test("a worker that ended, and one that never says anything", async () => {
  const dead = waiting(true);
  dead.pane.becomes("dead", "exit");
  await dead.done;
  expect(dead.outcomes).toEqual(["dead"]);
  const late = waiting(true);
  late.clock.advanceMs(10_000);
  await late.done;
  expect([late.outcomes, late.clock.pendingTimers, late.pane.isHeard]).toEqual([["late"], 0, false]);
});
