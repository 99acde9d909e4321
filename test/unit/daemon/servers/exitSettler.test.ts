/** How often tmux is reminded of programs that have ended, and asked again. */
import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { linuxHost } from "../../../../daemon/host/linux/linuxHost.ts";
import { ExitSettler } from "../../../../daemon/servers/exitSettler.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

const { processes } = linuxHost();

test("asked at once, then less and less often, then with the heartbeat, until it is known", () => {
  const clock = new FakeClock();
  let probes = 0;
  let unsettled = 1;
  const settler: ExitSettler = new ExitSettler({
    processes,
    clock,
    serverPid: () => undefined,
    startProgram: () => undefined,
    probe: () => {
      probes += 1;
      settler.found(unsettled);
    },
  });
  settler.probe();
  expect(probes).toBe(1);
  clock.advanceMs(60_000);
  expect(probes).toBe(6);
  settler.heartbeat();
  expect(probes).toBe(7);
  unsettled = 0;
  settler.heartbeat();
  expect(probes).toBe(8);
  settler.heartbeat();
  expect(probes).toBe(8);
  // The next one begins anew.
  unsettled = 1;
  settler.probe();
  clock.advanceMs(60_000);
  expect(probes).toBe(14);
  settler.probe();
  settler.clear();
  settler.clear();
  clock.advanceMs(60_000);
  settler.heartbeat();
  expect(probes).toBe(15);
});

test("a process that is reminded is told nothing else, and one that is gone is no error", async () => {
  const child = spawn("sh", ["-c", "trap 'echo told; exit' CHLD; echo up; while :; do :; done"]);
  const words: string[] = [];
  const settler = new ExitSettler({
    processes,
    clock: new FakeClock(),
    serverPid: () => child.pid,
    startProgram: () => undefined,
    probe: () => undefined,
  });
  await new Promise<void>((resolve) => {
    child.stdout.on("data", (data: Buffer) => {
      words.push(...data.toString().trim().split("\n"));
      if (words.at(-1) === "up") settler.found(1);
      else resolve();
    });
  });
  expect(words).toEqual(["up", "told"]);
  await new Promise((resolve) => child.once("close", resolve));
  settler.found(1);
});

test("where it cannot be sent a signal tmux starts a program, once for each end that it has not learned of", () => {
  const clock = new FakeClock();
  let started = 0;
  const settler: ExitSettler = new ExitSettler({
    processes: { ...processes, signal: () => undefined },
    clock,
    serverPid: () => 4_711,
    startProgram: () => (started += 1),
    probe: () => settler.found(started > 0 ? 0 : 1),
  });
  settler.probe();
  clock.advanceMs(29);
  expect(started).toBe(0);
  clock.advanceMs(60_000);
  settler.heartbeat();
  expect(started).toBe(1);
});
