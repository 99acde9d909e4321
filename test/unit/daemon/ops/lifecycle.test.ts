import { describe, expect, test } from "vitest";
import type { StopReason } from "../../../../daemon/ops/lifecycle.ts";
import { SAME_SIGNAL_MS, STOP_WITHIN_MS, untilStopRequested } from "../../../../daemon/ops/lifecycle.ts";
import { createLog } from "../../../../daemon/ops/log.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

function setUp(stop: () => Promise<void>) {
  const clock = new FakeClock();
  const events: string[] = [];
  const handlers = new Set<(signal: StopReason) => void>();
  const write = (line: string): void => void events.push((JSON.parse(line) as { event: string }).event);
  const told = untilStopRequested({
    clock,
    log: createLog({ level: "info", write, nowUnixMs: () => 0 }),
    stop,
    onStop: (handler) => {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
  });
  const signal = (name: StopReason): void => handlers.forEach((handler) => handler(name));
  return { clock, events, handlers, told, signal };
}

describe("told to stop", () => {
  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s stops in order, exit code 0", async (name) => {
    const { told, signal, events, clock, handlers } = setUp(() => Promise.resolve());
    signal(name);
    expect(await told).toBe(0);
    expect(events).toEqual(["daemon.stopping", "daemon.stopped"]);
    expect([clock.pendingTimers, handlers.size]).toEqual([0, 0]);
  });

  test("a restart has more time, and a signal that comes meanwhile ends the process", async () => {
    const { told, signal, clock } = setUp(() => new Promise(() => undefined));
    signal("restart");
    clock.advanceMs(STOP_WITHIN_MS + 1_000);
    signal("restart");
    signal("SIGTERM");
    expect(await told).toBe(143);
    expect(clock.pendingTimers).toBe(1);
  });

  test("a stop that takes too long is left, within the two seconds that were promised", async () => {
    const { told, signal, events, clock } = setUp(() => new Promise(() => undefined));
    signal("SIGTERM");
    clock.advanceMs(STOP_WITHIN_MS);
    expect(await told).toBe(0);
    expect(events).toEqual(["daemon.stopping", "daemon.stop.late"]);
    expect(STOP_WITHIN_MS).toBeLessThan(2_000);
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const)("a second signal, %s, is obeyed at once with exit code %i", async (name, code) => {
    const { told, signal, clock } = setUp(() => new Promise(() => undefined));
    signal("SIGTERM");
    clock.advanceMs(SAME_SIGNAL_MS);
    signal(name);
    expect(await told).toBe(code);
  });

  test("another signal is a second one however soon it comes", async () => {
    const { told, signal } = setUp(() => new Promise(() => undefined));
    signal("SIGTERM");
    signal("SIGINT");
    expect(await told).toBe(130);
  });

  test("one that comes twice, from the terminal and from npm, is one", async () => {
    let stopped = (): void => undefined;
    const { told, signal, clock, events } = setUp(() => new Promise((resolve) => (stopped = resolve)));
    signal("SIGINT");
    clock.advanceMs(SAME_SIGNAL_MS - 1);
    signal("SIGINT");
    stopped();
    expect(await told).toBe(0);
    expect(events).toEqual(["daemon.stopping", "daemon.stopped"]);
  });

  test("a stop that fails says so", async () => {
    const { told, signal, events } = setUp(() => Promise.reject(new Error("no")));
    signal("SIGINT");
    expect(await told).toBe(1);
    expect(events).toEqual(["daemon.stopping", "daemon.stop.failed"]);
  });
});
