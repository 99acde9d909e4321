import process from "node:process";
import { expect, test } from "vitest";
import { localHost } from "../../../../daemon/host/localHost.ts";
import type { ProcessStat } from "../../../../daemon/host/procfs.ts";
import { startClock } from "../../../../daemon/host/startClock.ts";

const startedAt = (start: string | undefined) => ({
  statNow: (pid: number) => (pid === process.pid && start !== undefined ? ({ start } as ProcessStat) : undefined),
});

test.each([
  { what: "a machine", start: "500000", uptimeSec: 5_003, is: 5_003 },
  { what: "a container that shows its own time", start: "500000", uptimeSec: 20, is: 5_003 },
  { what: "a host that tells no start", start: undefined, uptimeSec: 20, is: 20 },
])("$what", ({ start, uptimeSec, is }) => {
  let goneSec = 0;
  const nowSec = startClock(startedAt(start), { uptimeSec: () => uptimeSec + goneSec, ownAgeSec: () => 3 });
  expect(nowSec()).toBe(is);
  goneSec = 3_600;
  expect(nowSec()).toBe(is + 3_600);
});

test("this process has started before now", () => {
  const { processes } = localHost();
  expect(Number(processes.statNow(process.pid)?.start) / 100).toBeLessThan(startClock(processes)() + 0.01);
});
