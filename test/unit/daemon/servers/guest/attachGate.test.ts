/** How many come at a time and in which order, when nobody comes, and what happens to those who change their mind. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { WindowId } from "../../../../../protocol/ids.ts";
import { AttachGate } from "../../../../../daemon/servers/guest/attachGate.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

/** Lets every promise that can go on do so. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const CALM_MS = 25;
const WITHIN_MS = 3_000;

function gateWith(most: number): { gate: AttachGate; clock: FakeClock } {
  const clock = new FakeClock();
  clock.advanceMs(10_000);
  return { gate: new AttachGate({ clock, most, calmMs: CALM_MS, withinMs: WITHIN_MS }), clock };
}

test("two at a time, first come first served; to leave twice makes room once", async () => {
  const { gate } = gateWith(2);
  const begun: number[] = [];
  const leave: (() => void)[] = [];
  for (const index of [0, 1, 2, 3, 4]) {
    const come = async (): Promise<void> => {
      leave[index] = await gate.enter();
      begun.push(index);
    };
    void come();
  }
  await settled();
  expect(begun).toEqual([0, 1]);
  leave[1]!();
  leave[1]!();
  await settled();
  expect(begun).toEqual([0, 1, 2]);
  for (const index of [0, 2, 3, 4]) {
    leave[index]!();
    await settled();
  }
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});

test("nobody comes while sessions and clients come and go, and for ever is not waited", async () => {
  const { gate, clock } = gateWith(8);
  const come = (): { in: boolean } => {
    const state = { in: false };
    void gate.enter().then(() => (state.in = true));
    return state;
  };
  gate.noticed({ kind: "sessions-changed" });
  const first = come();
  for (let count = 0; count < 5; count += 1) {
    clock.advanceMs(CALM_MS - 1);
    await settled();
    gate.noticed({ kind: "client-detached" });
  }
  expect(first.in).toBe(false);
  clock.advanceMs(CALM_MS - 1);
  await settled();
  expect(first.in).toBe(false);
  clock.advanceMs(1);
  await settled();
  expect(first.in).toBe(true);
  const second = come();
  await settled();
  expect(second.in).toBe(true);
  gate.disturbed();
  const never = come();
  for (let ms = 0; ms < WITHIN_MS; ms += 10) {
    gate.disturbed();
    clock.advanceMs(10);
  }
  await settled();
  expect(never.in).toBe(true);
});

test("what windows do disturbs nobody", async () => {
  const { gate } = gateWith(1);
  gate.noticed({ kind: "window-renamed", window: "@1" as WindowId, linked: true });
  gate.noticed({ kind: "layout-change", window: "@1" as WindowId });
  let isIn = false;
  void gate.enter().then(() => (isIn = true));
  await settled();
  expect(isIn).toBe(true);
});

test("nobody goes while another comes, and whoever has gone is heard of before the next one comes", async () => {
  const { gate, clock } = gateWith(2);
  const gone: string[] = [];
  gate.leave(() => gone.push("alone"));
  expect(gone).toEqual(["alone"]);
  clock.advanceMs(CALM_MS);
  const arrived = await gate.enter();
  gate.leave(() => gone.push("late"));
  let isIn = false;
  void gate.enter().then(() => (isIn = true));
  await settled();
  // There is room, but somebody wants to go first.
  expect([gone, isIn]).toEqual([["alone"], false]);
  arrived();
  await settled();
  expect([gone, isIn]).toEqual([["alone", "late"], false]);
  clock.advanceMs(CALM_MS);
  await settled();
  expect(isIn).toBe(true);
});

test("whoever leaves the queue, and whenever: never more than allowed, and all the others have their turn", async () => {
  const step = fc.record({ kind: fc.constantFrom("come", "abort", "arrive", "disturb", "wait"), at: fc.nat(9) });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 40 }), async (most, steps) => {
      const { gate, clock } = gateWith(most);
      const arrivals: (() => void)[] = [];
      const aborts: AbortController[] = [];
      const outcomes: string[] = [];
      let coming = 0;
      const come = (): void => {
        const index = aborts.push(new AbortController()) - 1;
        const begin = (arrived: () => void): void => {
          outcomes[index] = "in";
          coming += 1;
          expect(coming).toBeLessThanOrEqual(most);
          arrivals.push(() => {
            coming -= 1;
            arrived();
          });
        };
        gate.enter(aborts[index]!.signal).then(begin, () => (outcomes[index] = "left"));
      };
      for (const { kind, at } of steps) {
        if (kind === "come") come();
        else if (kind === "abort") aborts[at]?.abort(new Error("left"));
        else if (kind === "arrive") arrivals.shift()?.();
        else if (kind === "disturb") gate.disturbed();
        else clock.advanceMs(at * 5);
        await settled();
      }
      for (let rounds = 0; rounds <= aborts.length; rounds += 1) {
        clock.advanceMs(CALM_MS);
        await settled();
        while (arrivals.length > 0) arrivals.shift()!();
        await settled();
      }
      expect(outcomes.filter((outcome) => outcome === "in" || outcome === "left")).toHaveLength(aborts.length);
      expect(coming).toBe(0);
    }),
    { numRuns: 50 },
  );
});
