/** When an owner's silence ends a request: each by its own deadline, with one timer for all of them. */
import { expect, test } from "vitest";
import { OwnerLink } from "../../../../../adapters/freshell/relay/ownerLink.ts";
import type { Clock } from "../../../../../daemon/time/clock.ts";
import type { RpcOutcome } from "../../../../../protocol/api/freshell/rpc.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

const TIMES = { presenceTtlMs: 1_000_000, rpcAckTimeoutMs: 3_000, ownerTimeoutMs: 15_000 };

function scene() {
  const fake = new FakeClock();
  let timers = 0;
  const clock: Clock = {
    nowMs: () => fake.nowMs(),
    callAt: (deadlineMs, run) => {
      timers += 1;
      return fake.callAt(deadlineMs, run);
    },
  };
  const none = (): void => undefined;
  const link = new OwnerLink({ deviceId: "d", clock, times: TIMES, send: none, close: none, onLate: none });
  const told: string[] = [];
  const ask = (requestId: string): void => {
    const asked = { type: "layout.rpc.request", callerDeviceId: "c", targetDeviceId: "d", command: "read" } as const;
    const asking = link.ask({ ...asked, requestId, args: {}, phase: "read" });
    const settled = (outcome: RpcOutcome): void => {
      told.push(`${requestId} ${outcome.ok ? "ok" : outcome.error.code} ${clock.nowMs()}`);
    };
    void asking.then(settled);
  };
  const pass = async (ms: number): Promise<void> => {
    fake.advanceMs(ms);
    await Promise.resolve();
    await Promise.resolve();
  };
  return { link, ask, pass, told, timers: () => timers };
}

test("each request by its own deadline, whichever was asked first", async () => {
  const { link, ask, pass, told } = scene();
  ask("acked");
  link.acked("acked");
  await pass(1_000);
  ask("silent");
  await pass(500);
  ask("later");
  link.acked("later");
  await pass(2_499);
  expect(told).toEqual([]);
  await pass(1);
  expect(told).toEqual(["silent RPC_TIMEOUT 4000"]);
  await pass(10_999);
  expect(told).toHaveLength(1);
  await pass(1);
  await pass(1_500);
  expect(told.slice(1)).toEqual(["acked OWNER_TIMEOUT 15000", "later OWNER_TIMEOUT 16500"]);
});

test("a request that gets its result costs no timer of its own", async () => {
  const { link, ask, pass, told, timers } = scene();
  for (let at = 0; at < 1_000; at += 1) {
    ask(`r${at}`);
    link.acked(`r${at}`);
    link.takeResult(`r${at}`, { ok: true, result: {} });
    await pass(1);
  }
  expect(told).toHaveLength(1_000);
  // The one of presence, and one in each time that an ack may take.
  expect(timers()).toBeLessThan(4);
  await pass(20_000);
  expect(told).toHaveLength(1_000);
});

test("two hundred devices are looked at a few times in their time to live, and none too early or much too late", () => {
  const fake = new FakeClock();
  const looks = new Set<number>();
  const clock: Clock = {
    nowMs: () => fake.nowMs(),
    callAt: (deadlineMs, run) => {
      looks.add(deadlineMs);
      return fake.callAt(deadlineMs, run);
    },
  };
  const none = (): void => undefined;
  const closed: number[] = [];
  const times = { ...TIMES, presenceTtlMs: 15_000 };
  for (let at = 0; at < 200; at += 1) {
    fake.advanceMs(25);
    const link = new OwnerLink({
      deviceId: `d${at}`,
      clock,
      times,
      send: none,
      close: () => closed.push(fake.nowMs()),
      onLate: none,
    });
    link.received();
  }
  fake.advanceMs(20_000);
  expect(closed).toHaveLength(200);
  expect(looks.size).toBeLessThanOrEqual(8);
  closed.forEach((ms, at) => {
    expect(ms - (at + 1) * 25).toBeGreaterThanOrEqual(15_000);
    expect(ms - (at + 1) * 25).toBeLessThan(15_750);
  });
});
