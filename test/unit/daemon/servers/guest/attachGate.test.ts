/** How many come at a time and in which order, when nobody comes, and what happens to those who change their mind. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { WindowId } from "../../../../../protocol/ids.ts";
import { AttachGate } from "../../../../../daemon/servers/guest/attachGate.ts";
import type { Introduction } from "../../../../../daemon/servers/introduction.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";
import {
  GUEST_CALM_MS as CALM_MS,
  GUEST_CALM_PAUSES as PAUSES,
  GUEST_CALM_REMEMBERED_MS as REMEMBERED_MS,
  MAX_GUEST_ATTACHING,
} from "../../../../../protocol/limits.ts";

/** Lets every promise that can go on do so. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function gateTo(introduction: Introduction): {
  gate: AttachGate;
  clock: FakeClock;
  waits: (number | undefined)[];
} {
  const clock = new FakeClock();
  const waits: (number | undefined)[] = [];
  const gate = new AttachGate({
    clock,
    nowUnixMs: () => clock.nowMs(),
    onWaiting: () => waits.push(gate.waiting?.sinceUnixMs),
  });
  gate.probed({ version: "3.3a", introduction });
  return { gate, clock, waits };
}

/** What `enter` has come to. */
interface Entering {
  arrived: (() => void) | undefined;
}

function entering(gate: AttachGate): Entering {
  const state: Entering = { arrived: undefined };
  void gate.enter().then((arrived) => (state.arrived = arrived));
  return state;
}

test.each(["any", "direct"] as const)(
  "an introduction that harms nobody (%s): a few at a time, first come first served, whatever the server does",
  async (introduction) => {
    const { gate } = gateTo(introduction);
    gate.disturbed();
    const all = Array.from({ length: MAX_GUEST_ATTACHING + 2 }, () => entering(gate));
    await settled();
    expect(all.filter(({ arrived }) => arrived !== undefined)).toHaveLength(MAX_GUEST_ATTACHING);
    expect(gate.waiting?.sinceUnixMs).toBeUndefined();
    const gone: string[] = [];
    gate.leave(() => gone.push("beside those who attach"));
    expect(gone).toHaveLength(1);
    all[1]!.arrived!();
    all[1]!.arrived!();
    await settled();
    expect(all.map(({ arrived }) => arrived !== undefined)).toEqual(all.map((_one, at) => at <= MAX_GUEST_ATTACHING));
  },
);

test("one at a time attaches to a server that must be calm, and at first nobody knows that it is", async () => {
  const { gate, clock, waits } = gateTo("calm");
  const [first, second] = [entering(gate), entering(gate)];
  clock.advanceMs(CALM_MS - 1);
  await settled();
  expect(first.arrived).toBeUndefined();
  expect(gate.waiting?.sinceUnixMs).toBe(0);
  clock.advanceMs(1);
  await settled();
  expect(first.arrived).toBeDefined();
  clock.advanceMs(REMEMBERED_MS);
  await settled();
  expect(second.arrived).toBeUndefined();
  first.arrived!();
  await settled();
  expect(second.arrived).toBeDefined();
  expect(waits).toEqual([0, undefined]);
});

test("nobody attaches while sessions and clients come and go, however long that takes", async () => {
  const { gate, clock } = gateTo("calm");
  const never = entering(gate);
  for (let ms = 0; ms < 3_600_000; ms += CALM_MS - 1) {
    gate.noticed({ kind: ms % 2 === 0 ? "sessions-changed" : "client-detached" });
    clock.advanceMs(CALM_MS - 1);
  }
  await settled();
  expect(never.arrived).toBeUndefined();
  expect(gate.waiting?.sinceUnixMs).toBe(0);
});

test("how long it must be calm follows from the pauses within bursts of the last minute", async () => {
  const { gate, clock } = gateTo("calm");
  clock.advanceMs(10_000);
  for (const pauseMs of [10, 400, 20]) {
    gate.disturbed();
    clock.advanceMs(pauseMs);
  }
  gate.disturbed();
  const late = entering(gate);
  clock.advanceMs(400 * PAUSES - 1);
  await settled();
  expect(late.arrived).toBeUndefined();
  clock.advanceMs(1);
  await settled();
  expect(late.arrived).toBeDefined();
  late.arrived!();
  clock.advanceMs(REMEMBERED_MS);
  gate.disturbed();
  const soon = entering(gate);
  clock.advanceMs(CALM_MS);
  await settled();
  expect(soon.arrived).toBeDefined();
});

test("a pause that ends a burst is none of its pauses", async () => {
  const { gate, clock } = gateTo("calm");
  clock.advanceMs(30_000);
  gate.disturbed();
  clock.advanceMs(30_000);
  gate.disturbed();
  const soon = entering(gate);
  clock.advanceMs(CALM_MS);
  await settled();
  expect(soon.arrived).toBeDefined();
});

test("what windows do disturbs nobody", async () => {
  const { gate, clock } = gateTo("calm");
  clock.advanceMs(CALM_MS);
  gate.noticed({ kind: "window-renamed", window: "@1" as WindowId, linked: true });
  gate.noticed({ kind: "layout-change", window: "@1" as WindowId });
  const now = entering(gate);
  await settled();
  expect(now.arrived).toBeDefined();
});

test("nobody goes while another comes, and whoever has gone is heard of before the next one comes", async () => {
  const { gate, clock } = gateTo("calm");
  const gone: string[] = [];
  gate.leave(() => gone.push("alone"));
  expect(gone).toEqual(["alone"]);
  clock.advanceMs(CALM_MS);
  const first = entering(gate);
  await settled();
  gate.leave(() => gone.push("late"));
  const next = entering(gate);
  await settled();
  expect([gone, next.arrived]).toEqual([["alone"], undefined]);
  first.arrived!();
  await settled();
  expect([gone, next.arrived]).toEqual([["alone", "late"], undefined]);
  // The two departures count as a burst, with a pause of `CALM_MS`.
  clock.advanceMs(CALM_MS * PAUSES);
  await settled();
  expect(next.arrived).toBeDefined();
});

test("a closed gate lets nobody in and leaves no timer", async () => {
  const { gate, clock } = gateTo("calm");
  const never = entering(gate);
  gate.close();
  expect(clock.pendingTimers).toBe(0);
  clock.advanceMs(REMEMBERED_MS);
  await settled();
  expect(never.arrived).toBeUndefined();
});

test("whoever leaves the queue, and whenever: never more than allowed, and all the others have their turn", async () => {
  const step = fc.record({ kind: fc.constantFrom("come", "abort", "arrive", "disturb", "wait"), at: fc.nat(9) });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("direct", "calm"),
      fc.array(step, { maxLength: 40 }),
      async (introduction, steps) => {
        const { gate, clock } = gateTo(introduction);
        const most = introduction === "calm" ? 1 : MAX_GUEST_ATTACHING;
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
          else clock.advanceMs(at * 50);
          await settled();
        }
        for (let rounds = 0; rounds <= aborts.length; rounds += 1) {
          clock.advanceMs(REMEMBERED_MS);
          await settled();
          while (arrivals.length > 0) arrivals.shift()!();
          await settled();
        }
        expect(outcomes.filter((outcome) => outcome === "in" || outcome === "left")).toHaveLength(aborts.length);
        expect(coming).toBe(0);
      },
    ),
    { numRuns: 50 },
  );
});
